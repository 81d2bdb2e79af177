import Foundation
import Testing

@testable import StorehookClient

private typealias Sample = StatusSamples

@Suite("The decision about access")
struct AccessDecisionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var held: [StoreTransaction] = []
        var known: KnownStatus? = StatusSamples.known()
        var isAsked = true
        var after: TimeInterval = 0
        var allowed: Bool
        var tier: String?
        var basis = SubscriptionManager.Access.Basis.none
        var until: Date?
    }

    private static func row(
        _ name: String, _ held: [StoreTransaction], _ answer: KnownStatus.Answer?, asked: Bool = true,
        after: TimeInterval = 0, _ basis: SubscriptionManager.Access.Basis, tier: String? = nil, until: Date? = nil,
        change: (inout KnownStatus) -> Void = { _ in }
    ) -> Row {
        var known = Sample.known(answer)
        change(&known)
        return Row(
            testDescription: name, held: held, known: known, isAsked: asked, after: after, allowed: basis != .none,
            tier: tier, basis: basis, until: until)
    }

    private static let day = StatusSamples.day
    private static let held = StatusSamples.transaction()
    private static let end = StatusSamples.now + 10 * StatusSamples.day

    private static func with(_ change: (inout StoreTransaction) -> Void) -> StoreTransaction {
        var transaction = held
        change(&transaction)
        return transaction
    }

    private static let term = Sample.transaction(101, of: "101", "lifetime", until: nil)
    private static let termPurchase = Sample.purchase("101", of: "101", "lifetime")
    private static let bought: KnownStatus.Answer = {
        var answer = Sample.answer("active", [Sample.purchase()])
        answer.transactionID = "101"
        return answer
    }()

    static let rows: [Row] = [
        Row(testDescription: "nothing at all", known: nil, allowed: false),
        row("nothing is known of the account", [], nil, .none),
        // 2: the store.
        Row(
            testDescription: "the store alone, before any answer", held: [held], known: nil, allowed: true, tier: nil,
            basis: .store, until: end),
        row(
            "the store, the server lacks it", [held], Sample.answer("free", access: false), .store, tier: "pro",
            until: end),
        row("expired by the guarded clock", [held], nil, after: 10 * day, .none),
        row("a moment before that", [held], nil, after: 10 * day - 1, .store, tier: "pro", until: end),
        row(
            "bought once", [Sample.transaction(5, of: "5", "lifetime", until: nil)], nil, after: 9999 * day, .store,
            tier: "pro"),
        row("taken back by the store", [with { $0.revokedAt = Sample.now }], nil, .none),
        row("replaced by a dearer plan", [with { $0.isUpgraded = true }], nil, .none),
        row("signed for another account", [with { $0.appAccountToken = UUID() }], nil, .none),
        row("signed for no account", [with { $0.appAccountToken = nil }], nil, .store, tier: "pro", until: end),
        row("refused for this account", [held], nil, .none) { $0.refused = ["100"] },
        row("another one is refused", [held], nil, .store, tier: "pro", until: end) { $0.refused = ["7"] },
        row(
            "the higher tier of two", [Sample.transaction(7, of: "7", "basic.monthly", until: nil), held], nil, .store,
            tier: "pro", until: end),
        row(
            "the later of two of a tier", [held, Sample.transaction(5, of: "5", "lifetime", until: nil)], nil, .store,
            tier: "pro"),
        // 1: what the server takes back.
        row(
            "refunded", [held],
            Sample.answer(
                "expired", access: false, until: nil,
                [Sample.purchase("101", of: "100", "pro.monthly", "revoked", access: false)]),
            .none),
        row(
            "a later one of the purchase refunded", [held],
            Sample.answer(
                "expired", access: false, [Sample.purchase("102", of: "100", "pro.monthly", "revoked", access: false)]),
            .none),
        row(
            "an earlier one of the purchase refunded", [held],
            Sample.answer(
                "expired", access: false, [Sample.purchase("99", of: "100", "pro.monthly", "revoked", access: false)]),
            .store, tier: "pro", until: end),
        row(
            "refunded, no transaction known", [held],
            Sample.answer(
                "expired", access: false, [Sample.purchase(nil, of: "100", "pro.monthly", "revoked", access: false)]),
            .none),
        row(
            "one refunded, the account has another by the server", [held],
            Sample.answer(
                until: Sample.now + day,
                [
                    Sample.purchase("101", of: "100", "pro.monthly", "revoked", access: false),
                    Sample.purchase("8", of: "8", until: Sample.now + day),
                ]), .server, tier: "pro", until: Sample.now + day),
        row(
            "the account is blocked, the purchase is active", [held],
            Sample.answer("revoked", access: false, [Sample.purchase("101", access: false)]), .none),
        row(
            "the account is blocked, the server lacks the purchase", [held], Sample.answer("revoked", access: false),
            .none),
        row(
            "the account is blocked, offline, within the grace", [held], Sample.answer("revoked", access: false),
            asked: false, .none),
        // Judged as ended.
        row(
            "ended by the server", [held],
            Sample.answer(
                "expired", access: false, [Sample.purchase("101", of: "100", "pro.monthly", "expired", access: false)]),
            .none),
        row(
            "renewed since the server judged", [Sample.transaction(102)],
            Sample.answer(
                "expired", access: false, [Sample.purchase("101", of: "100", "pro.monthly", "expired", access: false)]),
            .store, tier: "pro", until: end),
        row("accepted, and the account has it no more", [held], Sample.answer("free", access: false), .none) {
            $0.accepted = ["101"]
        },
        row(
            "the server agrees, and knows of a later end", [held],
            Sample.answer(until: Sample.now + 20 * day, [Sample.purchase()]), .store, tier: "pro",
            until: Sample.now + 20 * day),
        row("staff gave a higher tier", [held], Sample.answer(tier: "max", until: nil), .server, tier: "max"),
        row(
            "staff gave a lower tier", [held], Sample.answer(tier: "basic", until: nil), .store, tier: "pro", until: end
        ),
        row(
            "a renewal whose number is lower", [Sample.transaction(99, until: Sample.now + 30 * day)],
            Sample.answer(
                "expired", access: false,
                [Sample.purchase("101", of: "100", "pro.monthly", "expired", access: false, until: Sample.now - 1)]),
            .store, tier: "pro", until: Sample.now + 30 * day),
        row(
            "bought since the account was blocked", [with { $0.purchasedAt = Sample.now + 1 }],
            Sample.answer("revoked", access: false), after: 2, .store, tier: "pro", until: end),
        row(
            "a term, whose end the server states", [term], Sample.answer("active", [termPurchase]), .store, tier: "pro",
            until: end),
        row(
            "a term, offline, within the grace", [term], Sample.answer("active", [termPurchase]), asked: false,
            after: 13 * day - 1,
            .store, tier: "pro", until: end),
        row(
            "a term, offline, after the grace", [term], Sample.answer("active", [termPurchase]), asked: false,
            after: 13 * day,
            .none),
        row("taken back by the store, the server does not know it", [], bought, .none) { $0.takenBack = ["101"] },
        row("another one is taken back by the store", [], bought, .server, tier: "pro", until: end) {
            $0.takenBack = ["7"]
        },
        // 3: the server's last answer.
        row("by the server", [], Sample.answer(), .server, tier: "pro", until: end),
        row("by the server, without an end", [], Sample.answer(until: nil), after: 9999 * day, .server, tier: "pro"),
        row(
            "by the server, a moment before its end", [], Sample.answer(), after: 10 * day - 1, .server, tier: "pro",
            until: end),
        row(
            "by the server, at its end, not asked since", [], Sample.answer(), after: 10 * day, .cache, tier: "pro",
            until: end),
        row("by the server, after the grace", [], Sample.answer(), after: 13 * day, .none),
        row("offline, before the end", [], Sample.answer(), asked: false, .cache, tier: "pro", until: end),
        row(
            "offline, within the grace", [], Sample.answer(), asked: false, after: 13 * day - 1, .cache, tier: "pro",
            until: end),
        row("offline, after the grace", [], Sample.answer(), asked: false, after: 13 * day, .none),
        row("offline, free", [], Sample.answer("free", access: false), asked: false, .none),
        row(
            "a tier that has ended, with a lower one that goes on", [],
            Sample.answer(
                until: nil, [Sample.purchase(tier: "pro"), Sample.purchase("8", of: "8", until: nil, tier: "basic")]),
            after: 5 * day, .server, tier: "basic"
        ) { $0.answer?.tierUntil = Sample.now + day },
        row("a status of a later release", [], Sample.answer("paused"), .server, tier: "pro", until: end),
    ]

    @Test("is as the table says", arguments: rows)
    func table(row: Row) {
        let access = AccessDecision(
            entitlements: row.held, known: row.known, isAsked: row.isAsked, now: Sample.now + row.after,
            grace: 3 * Sample.day
        ).access
        #expect(access == .init(allowed: row.allowed, tier: row.tier, until: row.until, basis: row.basis))
    }

    @Test("A negative grace takes nothing away")
    func negativeGrace() {
        let decision = AccessDecision(
            entitlements: [], known: Sample.known(Sample.answer()), isAsked: false, now: Sample.now,
            grace: -100 * Sample.day)
        #expect(decision.access.allowed)
    }
}
