import EvidenceStore
import Foundation
import Postgres
import Schema
import TestSupport
import Testing

/// An outbox in a database of the test's own, with a pool for the queue and room to look behind it.
struct OutboxBench: Sendable {
    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox

    /// Stores bodies `0`…`count - 1` and returns their ids, in the order of storing.
    @discardableResult
    func fill(_ count: Int) async throws -> [Int64] {
        try await outbox.store((0..<count).map { Array("\($0)".utf8) })
        return try await pool.query("select id from storehook.outbox_queue order by id").map { try $0.decode(0) }
    }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// As if the time of all leases and delays had passed.
    func passTime() async throws { try await pool.query("update storehook.outbox_queue set due_at = now()") }

    /// The queue's rows as they stand, to compare.
    func rows() async throws -> [String] {
        try await pool.query("select q::text from storehook.outbox_queue q order by id").map { try $0.decode(0) }
    }

    /// Takes rows and records them as dead letters with this reason.
    func bury(
        _ claimed: [ClaimedNotification], _ lease: Lease, reason: String = "wrong_bundle", of app: String? = nil
    ) async throws {
        let code = try #require(ReasonCode(rawValue: reason))
        try await pool.withTransaction { session in
            let held = try Outbox.table.acknowledge(claimed.map(\.id), token: lease.token, session)
            try Outbox.bury(
                claimed.filter { held.contains($0.id) }.map {
                    DeadLetterDraft($0, reason: code, message: "a message", type: "TEST", bundleID: app)
                }, session)
        }
    }

    /// Takes rows off the queue; the ids that were held.
    func take(_ ids: [Int64], token: UUID) async throws -> Set<Int64> {
        try await pool.withTransaction { try Outbox.table.acknowledge(ids, token: token, $0) }
    }
}

extension Lease {
    /// A lease of a minute.
    static func fresh(_ duration: Duration = .seconds(60)) -> Lease { Lease(owner: "test", duration: duration) }
}

/// Runs `body` with a queue of its own.
func withQueue<T>(
    connections: Int = 4,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (OutboxBench) async throws -> T
) async throws -> T {
    try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") { database in
        let pool = PostgresPool(configuration: database.configuration, size: connections, logger: quiet)
        do {
            let value = try await body(OutboxBench(database: database, pool: pool, outbox: Outbox(pool)))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}

extension ClaimedNotification {
    /// Why what is stored cannot be read; nil if it can.
    var unreadable: UnreadableBody? {
        if case .failure(let why) = content?.body { why } else { nil }
    }
}
