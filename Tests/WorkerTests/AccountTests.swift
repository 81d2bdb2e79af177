import AccountStore
import AppStorePayloads
import EvidenceStore
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Synchronization
import TestSupport
import Testing
import Worker

@Suite("Accounts, beside what workers apply")
struct AccountTests {
    private static let catalog = """
        app: \(Bench.app.bundleId)
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: pro, period: month}
        """

    private static func token(_ lane: Int) -> String { "7f1de78e-0d4e-4c5e-9d3c-00000000000\(lane)" }

    /// A customer's purchase, signed for their account.
    private func purchase(_ lane: Int, _ bench: Bench) -> String {
        var subscriber = SimulatedSubscriber(
            app: Bench.app, appAccountToken: Self.token(lane), lane: lane, seed: UInt64(lane))
        subscriber.buy(.premiumMonthly, at: Bench.now - 3_600_000)
        return subscriber.takeNotifications()[0].signed(by: bench.authority)
    }

    private func rows(_ bench: Bench) async throws -> [String] {
        try await bench.pool.query(
            """
            select (to_jsonb(s) - 'version' - 'changed_at')::text from storehook.account_status s
            union all select to_jsonb(l)::text from storehook.account_lines l order by 1
            """
        ).map { try $0.decode(0) }
    }

    /// A member that a later release has, as it stands in the database when that has applied it.
    private static func applyNewer(_ bench: Bench) async throws {
        try await bench.pool.query(
            """
            with added as (
                insert into storehook.catalogs (source, applied_by)
                select source || E'\\nwonders: {many: true}\\n', 'a newer release' from storehook.catalogs order by version limit 1
                returning version
            )
            update storehook.catalog_state set current_version = added.version from added
            """)
    }

    @Test(
        "a row that is damaged, missing or too many is found by rebuild --check, which changes nothing, and mended by rebuild"
    )
    func rebuild() async throws {
        try await withBench { bench in
            try await bench.store((1...4).map { purchase($0, bench) })
            try await bench.workOff()
            _ = try await AccountStore(bench.pool).apply(Self.catalog, by: "test")
            let right = try await rows(bench)
            let rebuild = Rebuild(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            func differences(repair: Bool) async throws -> [String] {
                let told = Told()
                let report = try await rebuild.run(repair: repair) { _ in
                } onDifference: {
                    told.add("\($0.table) \($0.key.split(separator: " ").first ?? "")")
                }
                #expect(report.differences == told.all.count && report.failed == 0)
                return told.all.sorted()
            }
            #expect(try await differences(repair: false).isEmpty)
            let harm: [PostgresQuery] = [
                "update storehook.account_status set phase_tier = array_replace(phase_tier, 'pro', 'free') where token = \(unescaped: "'\(Self.token(1))'")",
                "delete from storehook.account_status where token = \(unescaped: "'\(Self.token(2))'")",
                "delete from storehook.account_lines where token = \(unescaped: "'\(Self.token(3))'")",
                """
                insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
                select \(unescaped: "'\(Self.token(4))'"), environment, original_transaction_id, bundle_id
                  from storehook.account_lines where token = \(unescaped: "'\(Self.token(1))'")
                """,
            ]
            for statement in harm { try await bench.pool.query(statement) }
            let harmed = try await rows(bench)
            let found = [
                "account_lines \(Self.token(3))", "account_lines \(Self.token(4))", "account_status \(Self.token(1))",
                "account_status \(Self.token(2))", "account_status \(Self.token(3))",
            ]
            #expect(try await differences(repair: false) == found)
            #expect(try await rows(bench) == harmed)
            // What is mended with a purchase is right when its account's turn comes.
            #expect(try await !differences(repair: true).isEmpty)
            #expect(try await rows(bench) == right)
            #expect(try await differences(repair: false).isEmpty)
        }
    }

    @Test(
        "wait, and are told why, while the catalog is a newer release's; nothing is lost, and all goes on with one that is read"
    )
    func unreadable() async throws {
        try await withBench { bench in
            let store = AccountStore(bench.pool)
            _ = try await store.apply(Self.catalog, by: "test")
            try await bench.store([purchase(1, bench)])
            try await bench.workOff()
            let before = try await rows(bench)
            try await Self.applyNewer(bench)
            let error = await #expect(throws: UnreadableCatalog.self) { try await store.current() }
            let line = try #require(error?.description)
            #expect(line.contains("wonders") && line.contains("upgrade") && !line.contains("\n"))

            try await bench.store([purchase(2, bench)])
            try await bench.withWorker { running in
                try await eventually("it is not ready, and says why") {
                    running.worker.whyNotReady?.contains("cannot be read by this release") == true
                }
                try await eventually("what it cannot settle waits") {
                    try await bench.value(
                        "select count(*) from storehook.queue_waiting where count > 0", as: Int64.self) > 0
                }
                // A purchase is not applied without what its account is by it: neither is stale beside the other.
                #expect(try await bench.value("select count(*) from storehook.subscriptions", as: Int64.self) == 1)
                #expect(try await rows(bench) == before)
                let counted = try await bench.outbox.conservation()
                #expect(counted.pending == 1 && counted.dead == 0 && counted.missing == 0)

                // What the line says: one that this release can read.
                let applied = try await store.apply(Self.catalog, by: "test")
                #expect(applied.accounts == 1)
                try await bench.untilDone()
                try await eventually("it is ready") { running.worker.whyNotReady == nil }
            }
            let accounts = try await bench.pool.query(
                "select token::text, tier from storehook.account_status_now order by 1"
            )
            .map { "\(try $0.decode(0, as: String.self)) \(try $0.decode(1, as: String.self))" }
            #expect(accounts.count == 2)
            let counted = try await bench.outbox.conservation()
            #expect(counted.dead == 0 && counted.missing == 0 && counted.pending == 0)
        }
    }
}

/// What was told, by whichever task.
private final class Told: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
