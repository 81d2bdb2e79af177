import Postgres
import PurchaseStore
import Schema
import TestSupport

/// A migrated database of the test's own, and connections to it.
struct LedgerDatabase: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    let configuration: PostgresConfiguration
    let connection: PostgresConnection
    var ledger = Ledger()

    static func with(_ body: (LedgerDatabase) async throws -> Void) async throws {
        try await withTestDatabase(from: template) { database in
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await body(LedgerDatabase(configuration: database.configuration, connection: connection))
            await connection.close()
        }
    }

    /// Applies one batch in a transaction of its own.
    @discardableResult
    func apply(_ entries: [LedgerEntry], on other: PostgresConnection? = nil) async throws -> [LedgerOutcome] {
        let ledger = ledger
        return try await (other ?? connection).withTransaction { try ledger.apply(entries, $0).outcomes }
    }

    /// Applies batches, one after the other in each lane, the lanes at once, each over a connection of its own.
    @discardableResult
    func apply(lanes: [[[LedgerEntry]]]) async throws -> [LedgerOutcome] {
        try await withThrowingTaskGroup(of: [LedgerOutcome].self) { group in
            for batches in lanes {
                group.addTask {
                    let connection = try await PostgresConnection.connect(to: configuration, logger: quiet)
                    var outcomes: [LedgerOutcome] = []
                    for batch in batches { outcomes += try await apply(batch, on: connection) }
                    await connection.close()
                    return outcomes
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// What stands in the tables, by run (see ``Arrival/entry(run:)``): all columns but those that say when something was
    /// written. The run's mark is taken out of bundle identifiers and notification UUIDs.
    func rows() async throws -> [Int: [String]] {
        let rows = try await connection.query(
            """
            with all_rows as (
                select 'transaction' as kind, bundle_id, to_jsonb(t) as row, notification_uuid from storehook.transactions t
                union all
                select 'renewal', bundle_id, to_jsonb(r), notification_uuid from storehook.renewals r
                union all
                select 'purchase', bundle_id, to_jsonb(l), null from storehook.purchase_lines l
                union all
                select 'facts', bundle_id, to_jsonb(f) - 'outbox_id', null from storehook.purchase_facts f
                union all
                select 'subscription', bundle_id, to_jsonb(s), null from storehook.subscriptions s
                union all
                select 'history', bundle_id, to_jsonb(h), null from storehook.subscription_history h
                union all
                select 'one-time', bundle_id, to_jsonb(o), null from storehook.one_time_purchases o
                union all
                select 'replaced', bundle_id, to_jsonb(v), null from storehook.replaced_renewals v
                union all
                select 'anomaly', bundle_id, to_jsonb(a), null from storehook.anomalies a
            )
            select split_part(bundle_id, '/', 1)::bigint,
                   kind || (row - 'notification_uuid'
                            || jsonb_build_object('bundle_id', split_part(bundle_id, '/', 2),
                                                  'by', left(notification_uuid::text, 18)))::text
              from all_rows order by 1, 2
            """)
        return try rows.reduce(into: [:]) { found, row in
            found[Int(try row.decode(0, as: Int64.self)), default: []].append(try row.decode(1))
        }
    }

    /// Forgets everything.
    func empty() async throws {
        try await connection.query(
            """
            truncate storehook.notifications, storehook.records, storehook.purchase_facts, storehook.transactions,
                     storehook.renewals, storehook.purchase_lines, storehook.subscriptions, storehook.subscription_history,
                     storehook.one_time_purchases, storehook.anomalies, storehook.shared_transactions,
                     storehook.replaced_renewals
            """)
    }

    /// One number.
    func count(_ query: PostgresQuery) async throws -> Int64 {
        try await connection.query(query).one().decode(0)
    }
}

extension Array {
    /// The elements in consecutive batches of `size`.
    func batches(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }

    /// The elements in consecutive batches of random sizes.
    func batches(of sizes: ClosedRange<Int>, using generator: inout some RandomNumberGenerator) -> [[Element]] {
        var batches: [[Element]] = []
        var rest = self[...]
        while !rest.isEmpty {
            let size = Int.random(in: sizes, using: &generator)
            batches.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return batches
    }
}
