import APIKit
import AppStorePayloads
import Base
import Staff

/// One customer: who it is and what was paid, what it is at an instant and why, its purchases, orders and events, what staff did, and what the
/// member may do.
struct CustomerPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    /// The account's appAccountToken, as the path has it.
    private let token: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        token = call.part("account")
    }

    /// How the admin API is asked for the account.
    private var reference: String { "token:\(token)" }

    /// The page.
    /// - Parameter problem: why something was not done.
    func content(isOpened: Bool = false, _ problem: APIProblem? = nil) async throws -> PageContent {
        let customer = try await call.ask(
            "getCustomer", path: ["account": reference], ["open": isOpened ? "true" : nil])
        let standing = customer.object("standing")
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        if let done = call.value("done"), let word = speaker.words.text("done.\(done)", in: speaker.language) {
            blocks.append(.note(word, .good))
        }
        blocks += head(customer)
        let hasText = customer.first(of: "account", "name", "mail") != nil || standing?.objects("acts").isEmpty == false
        blocks += Opening.form(call, at: Place("customers", token), isOpened, if: hasText ? [customer] : [])
        if let standing {
            blocks += AccountSteps(customer, token, speaker).blocks
            blocks.append(.facts(facts(standing)))
            blocks.append(.table(entitlements(customer)))
            blocks.append(.table(features(customer)))
            blocks.append(.table(purchases(standing)))
        } else {
            blocks.append(.note(speaker.word("unknown_there"), .calm))
        }
        blocks.append(.table(orders(customer)))
        blocks.append(.table(try await refunds()))
        blocks.append(.table(try await questions()))
        blocks.append(.table(events(customer)))
        if let standing { blocks.append(.table(acts(standing))) }
        blocks += try await record()
        if isActedOn, let standing {
            blocks += try await ActForms(call, token).forms(standing).map { Block.form($0) }
        }
        var content = PageContent(
            title(customer), blocks,
            commands: [
                CommandLine.text(
                    ["account", reference],
                    [("environment", speaker.environment), ("at", speaker.instant?.description)])
            ])
        if let problem { content.status = problem.code.status }
        return content
    }

    /// Acts belong to Production, and to now.
    private var isActedOn: Bool {
        speaker.environment == Environment.production.rawValue && speaker.instant == nil
    }

    private func title(_ customer: JSONObject) -> String {
        "\(speaker.word("customer")) \(customer.string("account") ?? String(token.prefix(8)))"
    }

    /// Who it is, and what was paid in all.
    private func head(_ customer: JSONObject) -> [Block] {
        var facts: [(label: String, value: Shown)] = []
        func add(_ label: String, _ value: Shown) { facts.append((label, value)) }
        add(speaker.word("account"), customer.words("account"))
        add(speaker.word("name"), customer.words("name"))
        add(speaker.word("mail"), customer.words("mail"))
        add(speaker.word("token"), customer.id("appAccountToken"))
        add(speaker.word("since"), customer.at("since"))
        add(speaker.word("apps"), .all((customer.strings("apps") ?? []).map { .text($0) }))
        add(
            speaker.word("environment"),
            .all((customer.strings("environments") ?? []).map { .state("environment", $0) }))
        add(speaker.word("erased_at"), customer.at("erasedAt"))
        if let consent = customer.object("consent") {
            add(speaker.word("consent_apple"), .all([consent.whether("granted"), consent.at("recordedAt")]))
        }
        let lifetime = customer.object("lifetime")
        let totals = lifetime?.objects("totals") ?? []
        func amounts(_ name: StaticString) -> Shown {
            .all(totals.map { .amount($0.integer(name), $0.string("currency")) })
        }
        let orders = Shown.count(lifetime?.integer("orders"))
        var cards: [(label: String, value: Shown)] = [
            (speaker.word("paid"), amounts("paid")), (speaker.word("refunded"), amounts("refunded")),
            (speaker.word("net_paid"), amounts("net")),
            (speaker.word("orders_total"), orders.leading(to: Place("orders", query: ["account": reference]))),
            (speaker.word("unpriced"), .count(lifetime?.integer("unpriced"))),
        ]
        if lifetime?.bool("isMore") == true {
            cards.append((speaker.word("notes"), .text(speaker.word("lifetime_bound"))))
        }
        let notes = PageLink(speaker.word(of: "list", "notes"), Place("notes", query: ["account": reference]))
        return (SubPages.isOfAllApps(call) ? [Block.links([notes])] : []) + [
            .facts(PageFacts(facts)), .facts(PageFacts(speaker.word("lifetime"), style: .cards, cards)),
        ]
    }

    private func entitlements(_ customer: JSONObject) -> PageTable {
        PageTable(
            speaker.word("entitlements"),
            [.text(speaker.word("tier")), .text(speaker.word("source")), .text(speaker.word("expires"))],
            customer.objects("entitlements").map { held in
                [held.words("tier"), held.standing("source", of: "account_source"), held.at("expiresAt")]
            }, empty: speaker.word("no_entitlements"))
    }

    private func features(_ customer: JSONObject) -> PageTable {
        PageTable(
            speaker.word("features"),
            [
                .text(speaker.word("feature")), .text(speaker.word("access")), .number(speaker.word("used")),
                .number(speaker.word("limit")), .text(speaker.word("limit_per")),
            ],
            customer.objects("features").map { feature in
                [
                    feature.words("feature"), feature.whether("isOpen"), feature.count("used"),
                    feature.count("limit"), feature.standing("per", of: "usage_period"),
                ]
            }, empty: speaker.word("no_features"))
    }

    /// The latest requests for refunds.
    private func refunds() async throws -> PageTable {
        let page = try await call.ask("listRefundRequests", ["account": reference, "limit": "10"])
        var table = RefundPages.table(page.objects("requests"), speaker.word("refund_requests"), speaker)
        table.next = page.string("next").map {
            Place("refund-requests", query: ["account": reference, "after": $0])
        }
        return table
    }

    /// What Apple asked about the account's transactions.
    private func questions() async throws -> PageTable {
        let page = try await call.ask(
            "listConsumptionRequests", ["account": reference, "days": "365", "limit": "10"])
        var table = ConsumptionPages.table(page, speaker)
        table.next = page.string("next").map {
            Place("consumption-requests", query: ["account": reference, "days": "365", "after": $0])
        }
        return table
    }

    private func facts(_ account: JSONObject) -> PageFacts {
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("status", account.standing("status", of: "account_status"))
        add("tier", account.words("tier"))
        add("access", account.whether("hasAccess"))
        add("source", account.standing("source", of: "account_source"))
        add("product_id", account.id("productId"))
        add("original_transaction", account.id("originalTransactionId"))
        add("act", account.count("act"))
        add("expires", account.at("expiresAt"))
        add("access_until", account.at("accessUntil"))
        add("tier_until", account.at("tierUntil"))
        add("period_ends", account.at("periodEndsAt"))
        add("renews", account.whether("willRenew"))
        add("since", account.at("since"))
        add("until", account.at("until"))
        add("version", account.count("version"))
        add("catalog", account.count("catalog"))
        if let trial = account.object("trial") {
            add("trial_tier", trial.words("tier"))
            add("trial_from", trial.at("startedAt"))
            add("trial_to", trial.at("endsAt"))
        }
        return PageFacts(facts)
    }

    private func purchases(_ account: JSONObject) -> PageTable {
        PageTable(
            speaker.word("purchases"),
            [
                .text(speaker.word("product_id")), .text(speaker.word("status")), .text(speaker.word("gives")),
                .text(speaker.word("access_until")), .text(speaker.word("original_transaction")),
                .text(speaker.word("app")), .text(speaker.word("owner")), .text(speaker.word("bindings")),
            ], account.objects("purchases").map { row(of: $0) }, empty: speaker.word("no_purchases"))
    }

    private func row(of purchase: JSONObject) -> [Shown] {
        let gives: Shown =
            if let tier = purchase.string("givesTier") {
                .text(tier)
            } else {
                .standing("gives_nothing", purchase.string("givesNothingBecause"))
            }
        let owner: Shown =
            if purchase.bool("isOwned") == true {
                .text(speaker.word("this_account"))
            } else {
                Shown.words(purchase.string("owner").map { String($0.prefix(8)) })
                    .leading(to: purchase.string("owner").map { Place("customers", $0) })
            }
        let bindings = purchase.objects("bindings").map { binding -> Shown in
            let at = binding.time("at").map { speaker.time($0) } ?? ""
            return .text("\(at) \(speaker.word(of: "binding", binding.string("kind") ?? ""))")
        }
        let id = purchase.string("originalTransactionId")
        let story = StoryPages.place(of: id, app: purchase.string("bundleId"))
        return [
            purchase.id("productId"), purchase.standing("status", of: "purchase_status"), gives,
            purchase.at("accessUntil"), Shown.id(id).leading(to: story),
            purchase.words("bundleId"), owner, .all(bindings),
        ]
    }

    private func orders(_ customer: JSONObject) -> PageTable {
        var table = OrderPages.table(
            customer.objects("orders"), speaker.word(of: "section", Section.orders.rawValue), speaker)
        table.next = customer.string("nextOrders").map { Place("orders", query: ["account": reference, "after": $0]) }
        return table
    }

    /// The latest events, and where each was delivered.
    private func events(_ customer: JSONObject) -> PageTable {
        PageTable(
            speaker.word("events"),
            [
                .text(speaker.word("when")), .text(speaker.word("what")), .text(speaker.word("event")),
                .number(speaker.word("sequence")), .text(speaker.word("app")),
                .text(speaker.word("original_transaction")), .text(speaker.word(of: "list", "deliveries")),
            ], customer.objects("events").map { row(ofEvent: $0) }, empty: speaker.word("no_events"))
    }

    private func row(ofEvent event: JSONObject) -> [Shown] {
        let id = event.string("id")
        return [
            event.at("at"), event.words("kind"),
            Shown.id(id).leading(to: id.map { Place("deliveries", query: ["event": $0]) }), event.count("sequence"),
            event.words("bundleId"), event.id("originalTransactionId"),
            .all(StoryPages.deliveries(of: event, speaker)),
        ]
    }

    private func acts(_ account: JSONObject) -> PageTable {
        PageTable(
            speaker.word("acts"),
            [
                .text(speaker.word("when")), .text(speaker.word("what")), .text(speaker.word("tier")),
                .number(speaker.word("days")), .text(speaker.word("by")), .text(speaker.word("reason")),
            ],
            account.objects("acts").reversed().map { act in
                [
                    act.at("at"), act.standing("kind", of: "audit_act"), act.words("tier"), act.count("days"),
                    act.words("by").leading(to: act.string("by").map { AuditPages.by($0) }), act.words("why"),
                ]
            }, empty: speaker.word("no_acts"))
    }

    /// What the audit has about the account.
    private func record() async throws -> [Block] {
        let page = try await call.ask("listAudit", ["account": reference, "limit": "10"], isEverywhere: true)
        var table = AuditPages.table(page.objects("rows"), speaker.word("record"), speaker)
        table.next = page.string("next").map { Place("audit", query: ["account": reference, "after": $0]) }
        return [.table(table)]
    }
}
