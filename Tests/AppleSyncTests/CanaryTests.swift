import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@testable import AppleSync

@Suite("A test notification of Apple's")
struct CanaryTests {
    @Test("is asked for, posted, stored and applied, and each step has its time; the next is due after the interval")
    func comesThrough() async throws {
        try await withSite { site in
            let jws = try site.scriptTest()
            let duty = try site.canary()
            try await site.step(duty)
            #expect(site.testsAsked == 1)
            // Apple has posted it, and it is still on its way through here.
            try await site.step(duty)
            #expect(
                try await site.value(
                    "select post_result = 'SUCCESS' and outcome is null from storehook.canaries"))
            #expect(try await site.value("select missing_since is not null from storehook.canary_status"))
            try await site.post([jws])
            try await site.workOff()
            try await site.step(duty)
            #expect(
                try await site.value(
                    """
                    select outcome = 'applied' and asked_at < stored_at and stored_at <= applied_at
                           and applied_at <= settled_at and posted_at is not null
                      from storehook.canaries
                    """))
            let status = try await site.canaries.statuses().one()
            #expect(status.missing == nil && status.outcome == "applied" && status.took != nil)
            guard case .idle = try await duty.step() else { throw NeverHappened("none is due") }
            try await site.pool.query("update storehook.canaries set planned_at = planned_at - interval '61 minutes'")
            try await site.step(duty)
            #expect(site.testsAsked == 2)
        }
    }

    @Test("that Apple cannot deliver is overdue, counts as missing, and the next that comes through ends that")
    func overdue() async throws {
        try await withSite { site in
            let jws = try site.scriptTest(result: "TIMED_OUT")
            let duty = try site.canary(patience: .zero)
            try await site.step(duty)
            try await site.step(duty)
            let status = try await site.canaries.statuses().one()
            #expect(status.outcome == "overdue" && status.postResult == "TIMED_OUT" && status.missing != nil)
            try await site.post([jws])
            try await site.workOff()
            try await site.pool.query("update storehook.canaries set planned_at = planned_at - interval '61 minutes'")
            try await site.step(duty)
            try await site.step(duty)
            let later = try await site.canaries.statuses().one()
            #expect(later.outcome == "applied" && later.missing == nil)
        }
    }

    @Test("that was lost and fetched from Apple's history has not come through")
    func recovered() async throws {
        try await withSite { site in
            let jws = try site.scriptTest()
            let duty = try site.canary()
            try await site.step(duty)
            site.apple.list([.init(signedDate: ImpatientClock().now().millisecondsSince1970 - 60_000, jws: jws)])
            try await site.reconcile()
            try await site.workOff()
            try await site.step(duty)
            let status = try await site.canaries.statuses().one()
            #expect(status.outcome == "recovered" && status.missing != nil)
        }
    }

    @Test("that becomes a dead letter has not come through")
    func dead() async throws {
        try await withSite { site in
            try site.scriptTest()
            let duty = try site.canary()
            try await site.step(duty)
            let stranger = try SimulatedAuthority.generate()
            try await site.post(tests(1, by: stranger).map(\.listed.jws))
            try await site.workOff()
            try await site.step(duty)
            #expect(try await site.value("select outcome from storehook.canaries") == "dead_letter")
        }
    }

    @Test("waits behind what is due before it, while workers run only if they have applied anything since")
    func waits() async throws {
        try await withSite { site in
            let all = tests(3, by: site.authority)
            try await site.post([all[0].listed.jws])
            try await site.workOff()
            func post() async throws -> WaitingPost? {
                try await site.outbox.waiting(all[2].uuid, since: nil).post
            }
            #expect(try await post() == nil)
            try await site.post([all[1].listed.jws, all[2].listed.jws])
            let found = try await post()
            #expect(
                found?.ahead == 1 && found?.isAnyApplied == false && found?.lastReason == nil,
                "\(String(describing: found))")
            // What is put off is not in its way.
            try await site.pool.query(
                """
                update storehook.outbox_queue set due_at = now() + interval '1 hour'
                 where id = (select min(id) from storehook.outbox_queue)
                """)
            #expect(try await post()?.ahead == 0)
            for (source, shows) in [("client", false), ("history", true), ("webhook", true)] {
                try await site.pool.query(
                    "update storehook.notifications set applied_at = clock_timestamp(), source = \(source)")
                #expect(try await post()?.isAnyApplied == shows, "\(source)")
            }
        }
    }

    @Test("is nowhere only where all that was stored since Apple was asked is looked through")
    func longQueue() async throws {
        try await withSite { site in
            let test = try tests(1, by: site.authority).one()
            let now = PostgresTimestamp(ImpatientClock().now())
            let (before, after) = (now.adding(.seconds(-60)), now.adding(.seconds(60)))
            #expect(try await site.canaries.waiting(test.uuid, since: before) == .nowhere)
            try await site.post([test.listed.jws])
            guard case .stored = try await site.canaries.waiting(test.uuid, since: before) else {
                throw NeverHappened("it is stored")
            }
            try await site.pool.query(
                """
                insert into storehook.outbox_queue (id, received_at, due_at)
                select 1000000 + n, now(), now() from generate_series(1, 200) n
                """)
            #expect(try await site.canaries.waiting(test.uuid, since: before) == .hidden)
            #expect(try await site.canaries.waiting(test.uuid, since: nil) == .hidden)
            #expect(try await site.canaries.waiting(test.uuid, since: after) == .nowhere)
        }
    }

    @Test("that Apple refuses to post says why, and does not count as missing")
    func refused() async throws {
        try await withSite { site in
            site.apple.interfere { _ in ScriptedApple.code(4_040_007) }
            let duty = try site.canary()
            try await site.step(duty)
            let status = try await site.canaries.statuses().one()
            #expect(status.outcome == "server_notification_url_not_found" && status.missing == nil)
        }
    }

    @Test("waits where Apple is away, and nothing else does")
    func away() async throws {
        try await withSite { site in
            site.apple.interfere { _ in ScriptedApple.code(5_000_000) }
            let duty = try site.canary()
            guard case .inTrouble = try await duty.step() else { throw NeverHappened("Apple is away") }
            #expect(try await site.value("select count(*) from storehook.canary_queue where attempts = 0") == Int64(1))
            #expect(try await site.canaries.statuses().one().missing == nil)
            site.apple.interfere(nil)
            let jws = try site.scriptTest()
            try await site.post([jws])
            try await site.workOff()
            try await site.step(duty)
            try await site.step(duty)
            #expect(try await site.value("select outcome from storehook.canaries") == "applied")
        }
    }

    @Test("is one for each app and environment, however many workers plan and look at once")
    func shared() async throws {
        try await withSite { site in
            try site.scriptTest()
            let duties = try (1...4).map { try site.canary(named: "worker \($0)") }
            try await withThrowingTaskGroup { group in
                for duty in duties { group.addTask { _ = try await duty.step() } }
                try await group.waitForAll()
            }
            #expect(try await site.value("select count(*) from storehook.canaries") == Int64(1))
            #expect(site.testsAsked == 1)
        }
    }

    @Test("whose worker was killed after asking is asked for by the next, which settles what the first no longer can")
    func killed() async throws {
        try await withSite { site in
            try site.scriptTest()
            let duty = try site.canary()
            try await site.canaries.plan([(Site.scope, .seconds(3600))])
            let held = try #require(
                try await site.canaries.claim(
                    for: Lease(owner: "killed", duration: .milliseconds(1)), among: [Site.scope]))
            #expect(try await site.canaries.begin(held))
            try await Task.sleep(for: .milliseconds(5))
            try await site.step(duty)
            #expect(site.testsAsked == 1)
            #expect(try await !site.canaries.asked(held, token: "another"))
            #expect(try await site.canaries.settle(held, outcome: "overdue") == nil)
            #expect(try await site.value("select test_token from storehook.canaries") == "T")
        }
    }
}

extension Site {
    fileprivate var canaries: Canaries { Canaries(pool) }

    fileprivate var testsAsked: Int { apple.paths.count { $0 == "/inApps/v1/notifications/test" } }

    fileprivate func canary(
        named name: String = "test", patience: Duration = CanaryDuty.patience
    ) throws -> DutyRunner<CanaryDuty> {
        DutyRunner(
            CanaryDuty(
                canaries, intervals: [(Self.scope, .seconds(3600))], patience: patience, logger: quiet,
                metrics: AppleSyncMetrics()),
            try clients(), owner: name, interval: .zero)
    }

    /// Whatever is put off is due now.
    fileprivate func step(_ duty: DutyRunner<CanaryDuty>) async throws {
        try await pool.query("update storehook.canary_queue set due_at = now() where lease_token is null")
        guard case .worked = try await duty.step() else { throw NeverHappened("a canary is due") }
    }

    /// What Apple will post when asked for a test notification, and what it then says of it.
    @discardableResult
    fileprivate func scriptTest(result: String = "SUCCESS") throws -> String {
        let jws = try tests(1, by: authority).one().listed.jws
        let attempt = ImpatientClock().now().millisecondsSince1970
        apple.answer("/inApps/v1/notifications/test", with: #"{"testNotificationToken":"T"}"#)
        apple.answer(
            "/inApps/v1/notifications/test/T",
            with:
                #"{"signedPayload":"\#(jws)","sendAttempts":[{"attemptDate":\#(attempt),"sendAttemptResult":"\#(result)"}]}"#
        )
        return jws
    }
}
