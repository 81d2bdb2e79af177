import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Simulation
import TestSupport
import Testing

@testable import AppleSync

@Suite("Reconciliation, of several apps and beside other workers")
struct ReconciliationScopeTests {
    @Test("asks a Production that knows no app which was never released seldom, and then nobody misses its proof")
    func unreleased() async throws {
        try await withSite { site in
            let sandbox = AppEnvironment(bundleID: Site.app.bundleId, environment: "Sandbox")
            site.apple.refuseProduction()
            let duty = try site.duty(in: [.production, .sandbox])
            try await site.history.plan([Site.scope, sandbox], behind: .zero)
            guard case .postponed(let why)? = try await duty.next(of: [Site.scope]) else {
                throw NeverHappened("it is put off")
            }
            #expect(why.reason == "unauthorized")
            // Whether the key is good at all is not known yet.
            #expect(try await site.history.proofs().map(\.isUnreleased) == [false, false])
            while try await duty.next(of: [Site.scope, sandbox]) != nil {}
            let asked = site.apple.paths.count
            let windows: Int64 = try await site.value(
                "select count(*) from storehook.history_windows where environment = 'Sandbox'")
            #expect(Int64(asked) == windows + 1)
            #expect(try await site.history.proofs().map(\.isUnreleased) == [true, false])
            // Hours later there are windows that no worker has asked for.
            try await site.pool.query(
                """
                update storehook.history_queue set last_reason = null
                 where id = (select max(id) from storehook.history_windows where environment = 'Production')
                """)
            #expect(try await site.history.proofs().map(\.isUnreleased) == [true, false])
            #expect(
                try await site.value("select count(*) from storehook.history_queue where attempts > 1") == Int64(0))
            // An operator who asks by hand is told of Sandbox.
            let reconciliation = Reconciliation(
                site.history, try site.clients(in: [.production, .sandbox]), of: [Site.scope, sandbox], owner: "test")
            #expect(try await reconciliation.check(since: nil) { _ in }.map(\.scope) == [sandbox])
            // The day of its release.
            site.apple.refuseProduction(false)
            try await site.pool.query("update storehook.history_queue set due_at = now()")
            while try await duty.next(of: [Site.scope, sandbox]) != nil {}
            let proofs = try await site.history.proofs()
            #expect(proofs.map(\.isUnreleased) == [false, false])
            #expect(proofs.map(\.unprovenWindows) == [0, 0])
        }
    }

    @Test("shares Apple's limit with the others that ask at the same time")
    func limit() async throws {
        try await withSite { site in
            try await site.history.plan([Site.scope], behind: .zero)
            for name in ["one", "two", "two"] {
                _ = try #require(
                    try await site.history.claim(
                        for: Lease(owner: name, duration: HistoryDuty.lease), among: [Site.scope]))
            }
            let budget = RateBudget(share: 0.6)
            let clients = AppleClients([try site.client()], in: [.production], sharing: budget)
            let duty = DutyRunner(
                HistoryDuty(site.history, sharing: budget, logger: quiet, metrics: AppleSyncMetrics()), clients,
                owner: "three")
            _ = try await duty.next(of: [Site.scope])
            #expect(abs(budget.share - 0.2) < 0.001)
            // Who was killed some time ago asks no more, though the window is still held.
            try await site.pool.query(
                "update storehook.history_queue set due_at = due_at - interval '21 seconds' where lease_owner = 'two'")
            #expect(try await site.history.askers(beside: "three", lease: HistoryDuty.lease) == 2)
        }
    }

    @Test("leaves what it has no key for to whoever has, and forgets whom nobody serves any more")
    func strangers() async throws {
        try await withSite { site in
            let other = AppEnvironment(bundleID: "com.example.other", environment: "Production")
            try await site.history.plan([other], behind: .zero)
            let duty = try site.duty()
            #expect(try await duty.next(of: [Site.scope]) == nil)
            try await site.history.plan([Site.scope, other], behind: .zero)
            while try await duty.next(of: [Site.scope]) != nil {}
            #expect(
                try await site.value(
                    """
                    select count(*) from storehook.history_queue q join storehook.history_windows w using (id)
                     where w.bundle_id = 'com.example.other' and (q.attempts > 0 or q.last_reason is not null)
                    """) == Int64(0))
            func proven() async throws -> Set<String> { try await Set(site.history.proofs().map(\.scope.bundleID)) }
            #expect(try await proven() == [Site.app.bundleId, other.bundleID])
            let mine = ServedApps(apps: [.init(Site.app.bundleId, in: .production)], roots: [])
            let both = ServedApps(apps: mine.apps.union([.init(other.bundleID, in: .production)]), roots: [])
            try await site.outbox.record(both)
            try await site.pool.query("update storehook.served_apps set last_served = now() - interval '23 hours'")
            try await site.outbox.record(mine)
            #expect(try await proven() == [Site.app.bundleId, other.bundleID])
            // All workers gone is no reason to forget anybody.
            try await site.pool.query("update storehook.served_apps set last_served = last_served - interval '9 days'")
            #expect(try await proven() == [Site.app.bundleId, other.bundleID])
            try await site.outbox.record(mine)
            #expect(try await proven() == [Site.app.bundleId])
            try await site.outbox.record(both)
            #expect(try await proven() == [Site.app.bundleId, other.bundleID])
        }
    }
}
