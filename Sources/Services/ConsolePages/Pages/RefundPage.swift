import APIKit
import AppStorePayloads
import Base
import Staff

/// One request for a refund: what was asked and decided, what Apple did, and what may be decided.
struct RefundPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let id: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        id = call.part("id")
    }

    private var here: Place { Place("refund-requests", id) }

    /// The page.
    /// - Parameter problem: why something was not decided.
    func content(isOpened: Bool = false, _ problem: APIProblem? = nil) async throws -> PageContent {
        let request = try await call.ask("getRefundRequest", path: ["id": id], ["open": isOpened ? "true" : nil])
        let number = request.string("number") ?? id
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        if let done = call.value("done"), let word = speaker.words.text("decided.\(done)", in: speaker.language) {
            blocks.append(.note(word, .good))
        }
        if let at = call.value("answered").flatMap({ Timestamp(iso8601: $0) }) {
            blocks.append(.note(speaker.word("answered_before", ["time": speaker.time(at)]), .warning))
        }
        if speaker.instant == nil, let due = request.time("dueAt"), let state = request.string("state") {
            blocks.append(.note(speaker.word("refund_due.\(state)", ["time": speaker.time(due)]), .warning))
        }
        blocks.append(.facts(facts(request)))
        let hasText = request.string("reason") != nil || request.string("note") != nil
        blocks += Opening.form(call, at: here, isOpened, if: hasText ? [request] : [])
        blocks += decisions(request).map { Block.form($0) }
        var content = PageContent(
            "\(speaker.word("request")) \(number)", blocks,
            commands: [
                CommandLine.text(
                    ["refunds", "list"],
                    [("order", request.string("order")), ("at", speaker.instant?.description)])
            ])
        if let problem { content.status = problem.code.status }
        return content
    }

    private func facts(_ request: JSONObject) -> PageFacts {
        let order = request.string("order")
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("status", request.standing("state", of: "refund_state"))
        add("order", Shown.words(order).leading(to: order.map { Place("orders", $0) }))
        add("product_id", request.id("productId"))
        add("transaction", request.id("transactionId"))
        add("refund_kind", request.standing("type", of: "refund_type"))
        add("price", request.amount("price"))
        add("requested", request.amount("requested"))
        add("approved", request.amount("approved"))
        add("max_refundable", request.amount("maxRefundable"))
        add("reason", request.words("reason"))
        add("requester", request.words("requester"))
        add("created", request.at("createdAt"))
        add("due_until", request.at("dueAt"))
        add("waited", RefundPages.waited(request, speaker))
        add("decider", request.words("decider"))
        add("decided_at", request.at("decidedAt"))
        add("note", request.words("note"))
        add("refunded_by_apple", request.amount("refundedByApple"))
        add("refunded_at", request.at("refundedByAppleAt"))
        add("difference", request.amount("difference"))
        add("reversed_at", request.at("reversedAt"))
        add("reference", request.words("reference"))
        add("refunded_elsewhere", request.amount("refundedElsewhere"))
        add("refunded_elsewhere_at", request.at("refundedElsewhereAt"))
        add("processed_at", request.at("processedAt"))
        add("app", request.words("bundleId"))
        add("environment", request.standing("environment", of: "environment"))
        add("text_erased", request.at("textErasedAt"))
        return PageFacts(facts)
    }

    // MARK: Decisions

    /// What the member may do about a request that stands so.
    private func decisions(_ request: JSONObject) -> [PageForm] {
        let state = request.string("state")
        let currency = request.string("currency") ?? ""
        var forms: [PageForm] = []
        if state == "pending", call.may(.approveRefundRequest(isOwn: false)) {
            let most = request.integer("maxRefundable").map { speaker.money($0, currency) } ?? "–"
            let amount = PageForm.Field(
                "amount", speaker.word("amount"), .money, call.sent("amount"),
                hint: speaker.word("amount_other", ["most": most]))
            forms.append(form("approve", [amount, note(isRequired: false)], about: speaker.word("approve_about")))
        }
        if state == "pending", call.may(.rejectRefundRequest) {
            forms.append(form("reject", [note(isRequired: true)], isDangerous: true))
        }
        if state == "approved", call.may(.recordRefund) { forms.append(record(request, currency)) }
        if state == "pending" || state == "approved", call.may(.cancelRefundRequest) {
            forms.append(form("cancel", [note(isRequired: true)], isDangerous: true))
        }
        return forms
    }

    private func record(_ request: JSONObject, _ currency: String) -> PageForm {
        let approved = request.integer("approved").map { MoneyText.field($0) }
        return form(
            "record",
            [
                PageForm.Field(
                    "reference", speaker.word("reference"), .line(most: 100), call.sent("reference"), isRequired: true),
                PageForm.Field(
                    "amount", "\(speaker.word("amount")) (\(currency))", .money, call.sent("amount") ?? approved,
                    isRequired: true),
                PageForm.Field("at", speaker.word("when"), .time, call.sent("at"), isRequired: true),
            ], about: speaker.word("record_about"))
    }

    private func note(isRequired: Bool) -> PageForm.Field {
        PageForm.Field("note", speaker.word("note"), .area, call.sent("note"), isRequired: isRequired)
    }

    private func form(
        _ what: String, _ fields: [PageForm.Field], about: String? = nil, isDangerous: Bool = false
    ) -> PageForm {
        .act(
            speaker.word(of: "decide", what), Place("refund-requests", id, "decide"), fields,
            speaker.word(of: "decide", what), about: about, hidden: ["what": what, "once": SentForms.number()],
            isDangerous: isDangerous)
    }

    /// Decides, and shows the request as it is then.
    func decide() async throws -> PageOutcome {
        do {
            let what = call.sent("what") ?? ""
            let decided = try await send(what)
            var place = here.with("done", what)
            if let at = decided.string("answeredBeforeAt") { place = place.with("answered", at) }
            return .redirect(place)
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(isOpened: false, problem))
        }
    }

    private func send(_ what: String) async throws -> JSONObject {
        let path = ["id": id]
        let note = call.sent("note").map { JSONValue.string($0) }
        switch what {
        case "approve":
            let amount = try Amount.sent("amount", call).map { JSONValue.integer($0) }
            return try await call.send("approveRefundRequest", path: path, ["amount": amount, "note": note])
        case "reject": return try await call.send("rejectRefundRequest", path: path, ["note": note])
        case "cancel": return try await call.send("cancelRefundRequest", path: path, ["note": note])
        case "record":
            let at = call.sent("at").flatMap { ZonedTime.instant($0, in: speaker.zone) }
            let amount = try Amount.sent("amount", call).map { JSONValue.integer($0) }
            return try await call.send(
                "recordRefund", path: path,
                [
                    "reference": call.sent("reference").map { JSONValue.string($0) }, "amount": amount,
                    "at": at.map { JSONValue.string($0.description) },
                ])
        default: throw APIProblem(.invalidRequest, "approve, reject, cancel or record")
        }
    }
}
