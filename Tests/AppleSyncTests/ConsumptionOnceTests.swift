import AccountStore
import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import AppleSync

/// What must hold whatever goes wrong in between: one answer a transaction, and none without consent.
@Suite("An answer about consumption")
struct ConsumptionOnceTests {
    private static let answer = ConsumptionAnswer(deliveryStatus: .delivered, sampleContentProvided: false)

    private func claim(_ site: Site, _ owner: String, _ lease: Duration = .seconds(60)) async throws
        -> ConsumptionRequest
    {
        try await site.makeDue()
        _ = try await site.requests.note(everything: true, hasPolicy: true, keysFor: [Site.scope])
        return try #require(
            try await site.requests.claim(for: Lease(owner: owner, duration: lease), among: [Site.scope]))
    }

    private func begin(_ site: Site, _ request: ConsumptionRequest) async throws {
        let beginning = try await site.requests.begin(request, Self.answer, rule: "1")
        guard case .begun = beginning else { throw NeverHappened("it is begun: \(beginning)") }
    }

    @Test("whose worker was killed before it began is given by the next")
    func killedBefore() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let held = try await claim(site, "killed", .milliseconds(1))
            try await eventually("the lease is over") {
                try await site.value("select due_at < now() from storehook.consumption_queue")
            }
            try await site.answerAll(try site.consumption())
            #expect(site.apple.told.count == 1)
            #expect(try await site.states(of: refund) == ["answered"])
            // What was killed and is not dead sends nothing and settles nothing.
            #expect(try await site.requests.begin(held, Self.answer, rule: "1") == .lost)
            #expect(try await site.requests.settle(held, .refused) == nil)
            #expect(try await site.states(of: refund) == ["answered"])
        }
    }

    @Test("whose worker was killed while it told Apple is unknown, and is not given twice, also where Apple asks again")
    func killedWithin() async throws {
        try await withSite { site in
            let refund = site.refund(1, requests: [3, 1])
            try await site.hear([refund])
            try await site.consent(refund.account)
            let held = try await claim(site, "killed", .milliseconds(200))
            try await begin(site, held)
            #expect(try await site.states(of: refund).first == "sending")
            try await eventually("the lease is over") {
                try await site.value("select bool_and(due_at < now()) from storehook.consumption_queue")
            }
            let duty = try site.consumption()
            for _ in 1...2 { try await site.answerAll(duty) }
            #expect(site.apple.told.isEmpty)
            #expect(
                try await site.states(of: refund) == ["unknown worker_gone", "not_answered answered_before"])
            #expect(try await site.requests.settle(held, .answered) == nil)
        }
    }

    @Test("is unknown too where nobody has looked at what a killed worker left until the deadline")
    func killedForLong() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let held = try await claim(site, "killed", .milliseconds(200))
            try await begin(site, held)
            try await site.passDeadlines()
            try await eventually("the lease is over") {
                try await site.value("select due_at < now() from storehook.consumption_queue")
            }
            try await site.answerAll(try site.consumption(nil, hasKey: false))
            #expect(try await site.states(of: refund) == ["unknown worker_gone"])
        }
    }

    @Test(
        "after whose sending no answer came is not given again, and one that certainly did not leave is",
        arguments: [TransportFault.timeout, .disconnected, .notConnected, .tls])
    func unheard(fault: TransportFault) async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            site.apple.interfere { number in
                if number == 1 { throw fault }
                return nil
            }
            let duty = try site.consumption()
            for _ in 1...2 { try await site.answerAll(duty) }
            let isHeard = fault.isPerhapsHeard
            #expect(site.apple.told.count == (isHeard ? 1 : 2))
            #expect(try await site.states(of: refund) == [isHeard ? "unknown unreachable" : "answered"])
        }
    }

    @Test("that is begun is brought to its end, also while its worker is stopped")
    func stopped() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let duty = try site.consumption()
            let (asked, continuation) = AsyncStream<Void>.makeStream()
            site.apple.interfere { _ in
                continuation.yield()
                return nil
            }
            let step = Task { try await duty.step() }
            for await _ in asked { break }
            step.cancel()
            _ = await step.result
            #expect(try await site.states(of: refund) == ["answered"])
        }
    }

    @Test("is not given where the consent was withdrawn after the claim, and says so to who withdraws too late")
    func withdrawn() async throws {
        try await withSite { site in
            let (early, tooLate) = (site.refund(1, requests: [2]), site.refund(2, requests: [1]))
            try await site.hear([early, tooLate])
            for refund in [early, tooLate] { try await site.consent(refund.account) }
            let held = try await claim(site, "slow")
            #expect(held.consent == true)
            try await site.consent(early.account, false)
            let end = try await ConsumptionSending(site.requests, try site.client())
                .send(Self.answer, about: held, rule: "1")
            guard case .withheld(.consentWithdrawn) = end else { throw NeverHappened("it is withheld: \(end)") }
            #expect(site.apple.told.isEmpty)
            let next = try await claim(site, "slow")
            try await begin(site, next)
            let withdrawal = try await site.consents.record(
                AccountIdentity(named: tooLate.account), granted: false, text: nil, by: "test")
            #expect(withdrawal.underWay == [tooLate.transaction])
            #expect(
                try await site.consents.history(of: AccountIdentity(named: tooLate.account)).map(\.granted) == [
                    false, true,
                ])
        }
    }

    @Test("comes after a withdrawal that is being recorded, also where its request was not there when that began")
    func afterWithdrawal() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            let token = try await site.consents.record(
                AccountIdentity(named: refund.account), granted: true, text: "as shown", by: "test"
            )
            .token
            let withdrawal = try await HeldTransaction(
                in: site.database,
                """
                with held as (
                    insert into storehook.consumption_tokens values (\(token))
                        on conflict (app_account_token) do update set app_account_token = excluded.app_account_token
                )
                insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                values (\(refund.account), \(token), false, 'test')
                """)
            try await site.hear([refund])
            let held = try await claim(site, "fast")
            #expect(held.consent == true)
            let beginning = Task { try await site.requests.begin(held, Self.answer, rule: "1") }
            let watch = PostgresPool(configuration: site.database.configuration, size: 1, logger: quiet)
            try await eventually("it waits for the withdrawal") {
                try await watch.query(
                    """
                    select count(*) from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock'
                       and query like '%insert into storehook.consumption_tokens%'
                    """
                ).one().decode(0, as: Int64.self) == 1
            }
            await watch.close()
            try await withdrawal.release()
            #expect(try await beginning.value == .withheld(.consentWithdrawn))
        }
    }

    @Test(
        "is not given for a customer who was erased, whoever asks for it, and the consent under which one was given names nobody"
    )
    func erased() async throws {
        try await withSite { site in
            let (held, open, told) = (site.refund(1, requests: [2]), site.refund(2, requests: [1]), site.refund(3))
            try await site.hear([told])
            try await site.consent(told.account)
            try await site.answerAll(try site.consumption())
            #expect(site.apple.told.map(\.transaction) == [told.transaction])
            try await site.hear([held, open])
            for refund in [held, open] { try await site.consent(refund.account) }
            let request = try await claim(site, "slow")
            #expect(request.consent == true)
            let pipeline = EvidencePipeline(site.pool)
            for refund in [held, open, told] {
                let erased = try #require(try await pipeline.erase(AccountIdentity(named: refund.account), by: "staff"))
                #expect(erased.consentsForgotten == 1 && erased.answersUnderWay.isEmpty)
                #expect(erased.consentsKept == (refund.account == told.account ? 1 : 0))
            }
            let end = try await ConsumptionSending(site.requests, try site.client())
                .send(Self.answer, about: request, rule: "1")
            guard case .withheld(.consentWithdrawn) = end else { throw NeverHappened("it is withheld: \(end)") }
            try await site.requests.putOff(request, for: .zero, reason: "consent_withdrawn")
            try await site.answerAll(try site.consumption())
            // Nor by hand: no answer is sent for a customer who is forgotten.
            let again = try await claim(site, "by hand")
            #expect(
                try await site.requests.begin(again, Self.answer, rule: nil, sentBy: "somebody")
                    == .withheld(.consentWithdrawn))
            #expect(site.apple.told.map(\.transaction) == [told.transaction])
            #expect(
                try await site.value(
                    """
                    select count(*) from storehook.consumption_consents c
                     where c.account is not null or c.app_account_token is not null or c.recorded_by <> '-'
                        or c.text <> '-'
                    """) == 0 as Int64)
            #expect(try await site.value("select count(*) from storehook.consumption_consents") == 1 as Int64)
            // Who comes back may agree anew.
            try await site.consent(open.account)
            try await site.makeDue()
            #expect(try await site.consents.history(of: AccountIdentity(named: open.account)).map(\.granted) == [true])
        }
    }

    @Test("that is on its way to Apple while the customer is erased is named")
    func erasedTooLate() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            try await begin(site, try await claim(site, "fast"))
            let erased = try #require(
                try await EvidencePipeline(site.pool).erase(
                    AccountIdentity(named: refund.account), by: "staff"))
            #expect(erased.answersUnderWay == [refund.transaction] && erased.consentsKept == 1)
        }
    }

    @Test("is not begun after the deadline, whenever it was claimed")
    func overdue() async throws {
        try await withSite { site in
            let refund = site.refund(1)
            try await site.hear([refund])
            try await site.consent(refund.account)
            let held = try await claim(site, "slow")
            try await site.passDeadlines()
            #expect(try await site.requests.begin(held, Self.answer, rule: "1") == .withheld(.deadlineOver))
        }
    }

    /// The order of consents and answers is exact: both hold the account's row while they write, and each says when by the
    /// database's clock.
    @Test("never goes out without the consent that counts at that moment, in whatever order things happen")
    func interleaved() async throws {
        try await withSite { site in
            let seeds = SeededGenerator()
            let refunds = (1...24).map { site.refund($0, requests: [Double($0) / 3]) }
            try await site.hear(refunds)
            let pools = (1...4).map { _ in
                PostgresPool(configuration: site.database.configuration, size: 1, logger: quiet)
            }
            try await withThrowingTaskGroup { group in
                for (number, pool) in pools.enumerated() {
                    let duty = try site.consumption(named: "worker \(number)", over: pool)
                    group.addTask {
                        for _ in 1...60 {
                            // Whatever waits may be looked at any time.
                            try await site.makeDue()
                            _ = try await duty.step()
                        }
                    }
                }
                for part in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: seeds.seed &+ UInt64(part))
                        for _ in 1...40 {
                            guard let refund = refunds.randomElement(using: &random) else { continue }
                            try await site.consent(refund.account, Bool.random(using: &random))
                        }
                    }
                }
                try await group.waitForAll()
            }
            for pool in pools { await pool.close() }
            let told = site.apple.told.map(\.transaction)
            #expect(Set(told).count == told.count, "seed \(seeds.seed)")
            #expect(!told.isEmpty, "seed \(seeds.seed)")
            let begun: [String] = try await site.pool.query(
                "select transaction_id from storehook.consumption_answers where began_at is not null"
            ).map { try $0.decode(0) }
            #expect(told.sorted() == begun.sorted(), "seed \(seeds.seed)")
            let without: Int64 = try await site.value(
                """
                select count(*)
                  from storehook.consumption_answers a
                  join storehook.transactions t using (transaction_id, bundle_id, environment)
                 where a.began_at is not null
                   and a.consent_id is distinct from (
                       select case when c.granted then c.id end
                         from storehook.consumption_consents c
                        where c.app_account_token = t.app_account_token and c.recorded_at < a.began_at
                        order by c.id desc
                        limit 1)
                """)
            #expect(without == 0, "seed \(seeds.seed)")
        }
    }
}
