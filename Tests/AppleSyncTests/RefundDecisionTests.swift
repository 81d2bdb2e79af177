import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
import Base
import EvidenceStore
import OrderStore
import Postgres
import Simulation
import Staff
import Subscriptions
import TestSupport
import Testing

@testable import AppleSync

@Suite("A request of the staff's for a refund")
struct RefundDecisionTests {
    private static let anna = StaffActor(name: "cli:anna", role: .admin)

    /// Asks for a refund of what a customer wants the money back for.
    @discardableResult
    private func ask(
        _ site: Site, _ refund: Refund, _ kind: RefundRequest.Kind = .full, amount: Int64? = nil
    ) async throws -> RefundNumber {
        let orders = OrderStore(site.pool)
        while try await orders.deal(AccountStore(site.pool)) > 0 {}
        let order: String = try await site.value(
            """
            select storehook.order_number(o.day, o.number) from storehook.booked_orders o
              join storehook.booked_transactions t on t.order_id = o.id where t.transaction_id = \(refund.transaction)
            """)
        return try await RefundRequests(site.pool).create(
            kind, amount: amount, order: order, transaction: refund.transaction, why: "why", by: Self.anna
        ).number
    }

    private func approve(_ site: Site, _ number: RefundNumber) async throws -> RefundRequests.Decided {
        try await RefundRequests(site.pool).approve(number, by: Self.anna)
    }

    private func preferences(_ site: Site) async throws -> [String] {
        try await site.pool.query(
            """
            select a.transaction_id || ' ' || (a.answer->>'refund_preference') || ' '
                   || coalesce(a.answer->>'consumption_percentage', '-') || ' ' || a.rule
              from storehook.consumption_answers a where a.outcome = 'answered' order by a.id
            """
        ).map { try $0.decode(0) }
    }

    @Test("answers what Apple asks about its transaction, before the policy, and says that Apple decides the amount")
    func answers() async throws {
        try await withSite { site in
            let rejected = site.refund(1)
            let full = site.refund(2)
            let prorated = site.refund(3)
            let partial = site.refund(4)
            let coins = site.refund(5, product: .coins)
            let byPolicy = site.refund(6)
            let all = [rejected, full, prorated, partial, coins, byPolicy]
            try await site.hear(all)
            for refund in all { try await site.consent(refund.account) }
            let price: Int64 = try await site.value(
                "select price from storehook.booked_transactions where transaction_id = \(coins.transaction)")
            let no = try await ask(site, rejected)
            _ = try await RefundRequests(site.pool).reject(no, note: "used", by: Self.anna)
            for (refund, kind, amount) in [
                (full, .full, nil), (prorated, .prorated, nil), (partial, .partial, 1_000),
                (coins, .partial, price / 4),
            ] as [(Refund, RefundRequest.Kind, Int64?)] {
                let decided = try await approve(site, ask(site, refund, kind, amount: amount))
                #expect(decided.answeredAt == nil)
            }
            try await site.answerAll(try site.consumption())
            #expect(site.apple.told.count == 6)
            let used = (100_000 * (price - price / 4) * 2 + price) / (2 * price)
            #expect(
                try await preferences(site).sorted()
                    == [
                        "\(rejected.transaction) DECLINE - RF-001 rejected",
                        "\(full.transaction) GRANT_FULL - RF-002 approved, full",
                        "\(prorated.transaction) GRANT_PRORATED - RF-003 approved, prorated: Apple decides the amount",
                        "\(partial.transaction) GRANT_PRORATED - RF-004 approved, partial: Apple decides the amount",
                        "\(coins.transaction) GRANT_PRORATED \(used) RF-005 approved, partial: Apple decides the amount",
                        "\(byPolicy.transaction) GRANT_PRORATED - 1",
                    ].sorted())
        }
    }

    @Test("is answered without any policy, and never without the customer's consent")
    func consent() async throws {
        try await withSite { site in
            let (silent, withdrawn, granted, undecided) = (
                site.refund(1), site.refund(2), site.refund(3), site.refund(4)
            )
            try await site.hear([silent, withdrawn, granted, undecided])
            for refund in [withdrawn, granted, undecided] { try await site.consent(refund.account) }
            try await site.consent(withdrawn.account, false)
            for refund in [silent, withdrawn, granted] { _ = try await approve(site, ask(site, refund)) }
            try await ask(site, undecided)
            for _ in 1...2 { try await site.answerAll(try site.consumption(nil)) }
            #expect(site.apple.told.map(\.transaction) == [granted.transaction])
            #expect(
                site.apple.told.first?.body
                    == #"{"customerConsented":true,"deliveryStatus":"DELIVERED","refundPreference":"GRANT_FULL","sampleContentProvided":false}"#
            )
            #expect(try await site.states(of: silent) == ["open no_consent"])
            #expect(try await site.states(of: withdrawn) == ["open consent_withdrawn"])
            #expect(try await site.states(of: undecided) == ["open no_policy"])
        }
    }

    @Test("has the answer wait while it is pending, until two hours before the deadline, and then the policy speaks")
    func pending() async throws {
        try await withSite { site in
            let (waiting, late, decided) = (site.refund(1), site.refund(2, requests: [10.01]), site.refund(3))
            let all = [waiting, late, decided]
            try await site.hear(all)
            for refund in all { try await site.consent(refund.account) }
            var numbers: [RefundNumber] = []
            for refund in all { numbers.append(try await ask(site, refund)) }
            let duty = try site.consumption()
            try await site.answerAll(duty)
            #expect(site.apple.told.map(\.transaction) == [late.transaction])
            #expect(try await site.states(of: waiting) == ["open refund_pending"])
            #expect(try await preferences(site) == ["\(late.transaction) GRANT_PRORATED - 1"])
            // The decision makes it due at once.
            _ = try await RefundRequests(site.pool).reject(numbers[2], note: "used", by: Self.anna)
            try await site.answerAll(duty, now: false)
            #expect(site.apple.told.map(\.transaction) == [late.transaction, decided.transaction])
            #expect(try await site.states(of: waiting) == ["open refund_pending"])
            // Due again before the last two hours begin.
            try await site.pool.query(
                """
                update storehook.consumption_answers set deadline = now() + interval '2 hours 1 second'
                 where transaction_id = \(waiting.transaction)
                """)
            try await site.answerAll(duty)
            #expect(
                try await site.value(
                    """
                    select q.due_at <= a.deadline - interval '2 hours' + interval '1 second'
                      from storehook.consumption_queue q join storehook.consumption_answers a using (id)
                     where a.transaction_id = \(waiting.transaction)
                    """))
            // One that is taken back says nothing.
            _ = try await RefundRequests(site.pool).cancel(numbers[0], note: "mistake", by: Self.anna)
            try await site.answerAll(duty, now: false)
            #expect(try await site.states(of: waiting) == ["answered"])
            #expect(try await preferences(site).contains("\(waiting.transaction) GRANT_PRORATED - 1"))
        }
    }

    @Test("changes nothing of an answer that was sent before it was decided, and says so")
    func afterwards() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let duty = try site.consumption()
            try await site.answerAll(duty)
            let decided = try await approve(site, ask(site, refund))
            let sentAt: PostgresTimestamp = try await site.value("select began_at from storehook.consumption_answers")
            #expect(decided.answeredAt == sentAt)
            try await site.answerAll(duty)
            #expect(site.apple.told.count == 1)
        }
    }

    @Test("counts for what Apple asks within 90 days of the decision")
    func days() async throws {
        try await withSite { site in
            let (inTime, over) = (site.refund(1), site.refund(2))
            try await site.hear([inTime, over])
            for refund in [inTime, over] {
                try await site.consent(refund.account)
                let number = try await ask(site, refund)
                _ = try await RefundRequests(site.pool).reject(number, note: "used", by: Self.anna)
            }
            for (refund, shift) in [(inTime, "1 second"), (over, "-1 second")] {
                try await site.pool.query(
                    """
                    update storehook.staff_refund_requests r
                       set decided_at = n.signed_at - interval '90 days' + \(shift)::interval
                      from storehook.notifications n
                     where n.type = 'CONSUMPTION_REQUEST' and n.transaction_id = r.transaction_id
                       and r.transaction_id = \(refund.transaction)
                    """)
            }
            try await site.answerAll(try site.consumption())
            #expect(
                try await preferences(site).sorted()
                    == [
                        "\(inTime.transaction) DECLINE - RF-001 rejected",
                        "\(over.transaction) GRANT_PRORATED - 1",
                    ].sorted())
        }
    }

    @Test("that is decided while the answer is prepared is what is sent")
    func meanwhile() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let duty = try site.consumption()
            _ = try await site.requests.note(everything: true, hasPolicy: true, keysFor: [Site.scope])
            let claimed = try #require(
                try await site.requests.claim(
                    for: Lease(owner: "test", duration: .seconds(90)), among: [Site.scope]))
            let number = try await ask(site, refund)
            let answer = ConsumptionAnswer(deliveryStatus: .delivered, sampleContentProvided: false)
            #expect(try await site.requests.begin(claimed, answer, rule: "1") == .withheld(.refundDecided))
            _ = try await RefundRequests(site.pool).reject(number, note: "used", by: Self.anna)
            #expect(try await site.requests.begin(claimed, answer, rule: "1") == .withheld(.refundDecided))
            try await site.requests.putOff(claimed, for: .zero, reason: ConsumptionReason.refundDecided.rawValue)
            try await site.answerAll(duty)
            #expect(try await preferences(site) == ["\(refund.transaction) DECLINE - RF-001 rejected"])
        }
    }
}
