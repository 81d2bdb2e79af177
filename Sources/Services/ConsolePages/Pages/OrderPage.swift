import APIKit
import AppStorePayloads
import Base
import Staff
import Subscriptions

/// One order: what it is, its transactions and refunds, and a form that asks for a refund.
struct OrderPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let number: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        number = call.part("number")
    }

    /// The page.
    /// - Parameter problem: why a request for a refund was not made.
    func content(isOpened: Bool = false, _ problem: APIProblem? = nil) async throws -> PageContent {
        let order = try await call.ask("getOrder", path: ["number": number], ["open": isOpened ? "true" : nil])
        let shown = order.string("number") ?? number
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        var content = PageContent(
            "\(speaker.word("order")) \(shown)", [],
            commands: [CommandLine.text(["orders", "show", shown], [("at", speaker.instant?.description)])])
        if let problem { content.status = problem.code.status }
        guard order.string("status") != "shared" else {
            content.blocks = blocks + [.note(speaker.word("order_shared"), .calm)]
            return content
        }
        blocks.append(.facts(facts(order)))
        blocks += Opening.form(
            call, at: Place("orders", number), isOpened, if: order.string("account") == nil ? [] : [order])
        blocks.append(.table(lines(order)))
        let requests = try await call.ask(
            "listRefundRequests", ["order": shown, "environment": order.string("environment")])
        blocks.append(
            .table(RefundPages.table(requests.objects("requests"), speaker.word("refund_requests"), speaker)))
        if call.may(.createRefundRequest) { blocks.append(.form(refund(order))) }
        content.blocks = blocks
        return content
    }

    private func facts(_ order: JSONObject) -> PageFacts {
        let totals = order.objects("totals")
        func sums(_ name: StaticString) -> Shown {
            .all(totals.map { .amount($0.integer(name), $0.string("currency")) })
        }
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("status", order.standing("status", of: "order_status"))
        add("product", .words(order.first(of: "productName", "productId")))
        add("product_id", order.id("productId"))
        add("plan", order.standing("planType", of: "plan_type"))
        add("amount", order.amount("amount"))
        add("paid", sums("paid"))
        add("refunded", sums("refunded"))
        add("account", OrderPages.account(of: order))
        add("started", order.at("startedAt"))
        add("ends", order.at("endsAt"))
        add("refunded_at", order.at("refundedAt"))
        add("created", order.at("createdAt"))
        add("updated", order.at("updatedAt"))
        add("country", order.words("storefront"))
        add("app", order.words("bundleId"))
        add("environment", order.standing("environment", of: "environment"))
        add("original_transaction", order.id("originalTransactionId"))
        add("transaction", order.id("transactionId"))
        add("unpriced", order.count("unpriced"))
        add("unknown_refunds", order.count("unknownRefunds"))
        return PageFacts(facts)
    }

    private func lines(_ order: JSONObject) -> PageTable {
        PageTable(
            speaker.word("transactions"),
            [
                .text(speaker.word("when")), .text(speaker.word("what")), .number(speaker.word("amount")),
                .text(speaker.word("product")), .text(speaker.word("ends")), .text(speaker.word("transaction")),
                .text(speaker.word("notes")), .text(speaker.word("heard")),
            ], order.objects("lines").map { row(of: $0) }, empty: speaker.word("no_transactions"))
    }

    private func row(of line: JSONObject) -> [Shown] {
        var marks: [Shown] = []
        for (name, word) in [("isTrial", "is_trial"), ("isVoid", "is_void"), ("isComputed", "is_computed")]
        where line[name]?.bool == true {
            marks.append(.text(speaker.word(word)))
        }
        if let quantity = line.integer("quantity"), quantity > 1 { marks.append(.text("× \(quantity)")) }
        return [
            line.at("at"), line.standing("type", of: "line_type"), line.amount("amount"),
            .words(line.first(of: "productName", "productId")), line.at("endsAt"), line.id("transactionId"),
            .all(marks), line.at("heardAt"),
        ]
    }

    // MARK: A request for a refund

    /// What is no payment.
    private static let givenBack: Set = ["refund", "refund_reversed", "revoke"]

    private func refund(_ order: JSONObject) -> PageForm {
        let paid = order.objects("lines").filter { line in
            guard let type = line.string("type"), let amount = line.integer("amount") else { return false }
            return !Self.givenBack.contains(type) && amount > 0
        }
        var transactions = [PageForm.Field.Choice("", speaker.word("latest_paid"))]
        for line in paid.suffix(100).reversed() {
            guard let id = line.string("transactionId"), let at = line.time("at") else { continue }
            let amount = speaker.money(line.integer("amount") ?? 0, line.string("currency") ?? "")
            var parts = [speaker.time(at), amount, id]
            if let most = most(of: line) { parts.append("\(speaker.word("max_refundable")): \(most)") }
            transactions.append(PageForm.Field.Choice(id, parts.joined(separator: " · ")))
        }
        let latest = paid.last.flatMap { most(of: $0) }
        let hint = latest.map { speaker.word("amount_most", ["most": $0]) } ?? speaker.word("amount_partial")
        var fields = [
            PageForm.Field(
                "transactionId", speaker.word("transaction"), .choice(transactions), call.sent("transactionId")),
            PageForm.Field.states(
                "type", speaker.word("refund_kind"), "refund_type", RefundRequest.Kind.allCases.map(\.rawValue),
                call.sent("type"), speaker, isRequired: true),
            PageForm.Field(
                "amount", speaker.word("amount"), .money, call.sent("amount"), hint: hint),
        ]
        fields += Reason.fields(call)
        return .act(
            speaker.word("refund_ask"), Place("orders", order.string("number") ?? number, "refund-requests"), fields,
            speaker.word("refund_ask"), about: speaker.word("refund_about"), hidden: ["once": SentForms.number()])
    }

    /// What can still be refunded of a payment; nil where that is not known.
    private func most(of line: JSONObject) -> String? {
        line.integer("maxRefundable").map { speaker.money($0, line.string("currency") ?? "") }
    }

    /// Asks for a refund, and leads to the request.
    func askForRefund() async throws -> PageOutcome {
        do {
            let amount = try Amount.sent("amount", call)
            let reason = try Reason.sent(call)
            let made = try await call.send(
                "createRefundRequest", path: ["number": number],
                [
                    "type": .string(call.sent("type") ?? ""), "reason": .string(reason),
                    "transactionId": call.sent("transactionId").map { JSONValue.string($0) },
                    "amount": amount.map { JSONValue.integer($0) },
                ])
            return .redirect(Place("refund-requests", made.string("number") ?? ""))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(isOpened: false, problem))
        }
    }
}
