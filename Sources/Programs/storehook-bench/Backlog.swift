import EvidenceStore
import Foundation
import Postgres
import Simulation

/// Simulated notifications that wait in the queue, and how fast they go.
struct Backlog {
    /// How many.
    let notifications: Int
    /// Of all of them together, as posted.
    let bytes: Int
    /// Of all of them together, as stored.
    let storedBytes: Int64
    /// WAL that storing them wrote, in bytes.
    let walBytes: Int64
    /// The server's CPU seconds for storing them; nil where it runs on another machine.
    let serverCPU: Double?
    /// No row of it fell due before, by the database's clock.
    let since: PostgresTimestamp

    /// Stores notifications as a receiver would.
    /// - Parameter isKnown: whether workers have verified the signature's header before, so that it need not be stored.
    static func store(
        _ notifications: Int, seed: UInt64, by authority: SimulatedAuthority, knowing isKnown: Bool = true,
        in database: BenchDatabase
    ) async throws -> Backlog {
        let since: PostgresTimestamp = try await database.pool.query("select now()").one().decode(0)
        let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
        let simulation = Simulation(seed: seed, notifications: notifications, endingAt: now)
        var bodies: [[UInt8]] = []
        var bytes = 0
        let outbox = Outbox(database.pool)
        if isKnown {
            try await outbox.keepHeaders(of: [Array(authority.sign("{}").utf8)])
            try await outbox.learnHeaders()
        }
        let wal = try await database.walBytes()
        let server = try await database.serverCPUSeconds()
        for text in simulation.signedDeliveries(by: authority) {
            bodies.append(Array(text.utf8))
            bytes += text.utf8.count
            if bodies.count == 200 {
                try await outbox.store(bodies)
                bodies.removeAll(keepingCapacity: true)
            }
        }
        if !bodies.isEmpty { try await outbox.store(bodies) }
        let end = try await (wal: database.walBytes(), server: database.serverCPUSeconds())
        let stored: Int64 = try await database.pool.query(
            "select coalesce(sum(octet_length(body)), 0)::bigint from storehook.outbox"
        ).one().decode(0)
        // As autovacuum would have, had the rows come over hours.
        try await database.pool.query("analyze")
        return Backlog(
            notifications: notifications, bytes: bytes, storedBytes: stored, walBytes: end.wal - wal,
            serverCPU: server.flatMap { before in end.server.map { $0 - before } }, since: since)
    }

    /// Waits until workers have done all of it.
    /// - Parameters:
    ///   - start: when they began, by the database's clock.
    ///   - isAlive: whether they still run.
    /// - Returns: seconds from `start` to the last one's transaction.
    func untilDone(
        from start: PostgresTimestamp, in database: BenchDatabase, while isAlive: () -> Bool
    ) async throws -> Double {
        while try await database.pool.query(isWaiting).one().decode(0, as: Bool.self) {
            guard isAlive() else { throw NeverCameAbout(what: "the end of the backlog: a worker ended; see its log") }
            // Rarely, since polling takes database time from the workers; the end time comes from the rows.
            try await Task.sleep(for: .milliseconds(100))
        }
        return try await database.pool.query(
            "select extract(epoch from max(applied_at) - \(start))::float8 from storehook.notifications"
        ).one().decode(0)
    }

    /// Within bounds that the index serves, whatever else is scheduled or settled.
    private var isWaiting: PostgresQuery {
        """
        select exists (select 1 from storehook.outbox_queue
                        where due_at >= \(since) and due_at < now() + interval '10 minutes')
        """
    }
}
