import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The operators' views")
struct ViewTests {
    /// Nine notifications: three pending, one each applied, parked, duplicate, dead, discarded, and one replayed letter
    /// that is pending again.
    private static let scene = """
        insert into storehook.outbox (id, body) select n, 'x' from generate_series(1, 9) n;
        insert into storehook.outbox_queue (id, received_at, due_at, lease_owner, lease_token)
             values (1, now() - interval '60 s', now() - interval '1 s', null, null),
                    (2, now() - interval '30 s', now() + interval '1 h', null, null),
                    (3, now() - interval '20 s', now() + interval '1 h', 'me', gen_random_uuid()),
                    (9, now() - interval '10 s', now() - interval '1 s', 'gone', gen_random_uuid());
        insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at,
                                             received_at, outcome)
             values (gen_random_uuid(), 4, 'TEST', 'Sandbox', 'a', now(), now(), 'applied'),
                    (gen_random_uuid(), 5, 'NEW', 'Sandbox', 'a', now(), now(), 'parked');
        insert into storehook.duplicates (outbox_id, notification_uuid) values (6, gen_random_uuid());
        insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts, resolution,
                                            resolved_at, resolved_by, resolved_why)
             values (7, now() - interval '90 s', 'unverified', 'x', 'x', 1, 'open', null, null, null),
                    (8, now(), 'unverified', 'x', 'x', 1, 'discarded', now(), 'me', 'why not'),
                    (9, now(), 'unverified', 'x', 'x', 1, 'replayed', now(), 'me', null);
        """

    private func conservation(_ connection: PostgresConnection) async throws -> [String: Int64] {
        let rows = try await connection.query("select * from storehook.conservation")
        let row = try rows.one()
        return try Dictionary(
            uniqueKeysWithValues: rows.columnNames.map { ($0, try row.decode($0, as: Int64.self)) })
    }

    @Test("count every notification in its place, and all places add up to what was received")
    func places() async throws {
        try await withSchema { connection, _ in
            try await run(Self.scene, connection)
            #expect(
                try await conservation(connection) == [
                    "received": 9, "pending": 4, "applied": 1, "duplicate": 1, "parked": 1, "dead": 1, "discarded": 1,
                    "missing": 0, "doubled": 0, "acknowledged": 0, "without_bytes": 0, "waiting_for_header": 0,
                ])
        }
    }

    @Test("see a notification that is in no place")
    func missing() async throws {
        try await withSchema { connection, _ in
            try await run(Self.scene, connection)
            try await connection.query("delete from storehook.outbox_queue where id = 2")
            let counted = try await conservation(connection)
            #expect(counted["missing"] == 1)
            #expect(counted["doubled"] == 0)
        }
    }

    @Test("see a notification that is in two places, also while another one is in none")
    func doubled() async throws {
        try await withSchema { connection, _ in
            try await run(Self.scene, connection)
            try await connection.query("delete from storehook.outbox_queue where id = 2")
            try await connection.query("insert into storehook.duplicates values (4, gen_random_uuid())")
            let counted = try await conservation(connection)
            #expect(counted["missing"] == 1)
            #expect(counted["doubled"] == 1)
        }
    }

    @Test("show the queue's four states, expired leases as ready, with the age of the oldest")
    func depth() async throws {
        try await withSchema { connection, _ in
            try await run(Self.scene, connection)
            let rows = try await connection.query("select state, count, oldest_age_seconds from storehook.queue_depth")
            let depth = try rows.map { try $0.values(String.self, Int64.self, Double.self) }
            #expect(depth.map(\.0) == ["ready", "scheduled", "leased", "dead"])
            #expect(depth.map(\.1) == [2, 1, 1, 1])
            for (age, least) in zip(depth.map(\.2), [60.0, 30, 20, 90]) { #expect(age >= least) }
        }
    }

    @Test("show all four states of an empty queue, each zero")
    func emptyDepth() async throws {
        try await withSchema { connection, _ in
            let rows = try await connection.query("select state, count, oldest_age_seconds from storehook.queue_depth")
            let depth = try rows.map { try $0.values(String.self, Int64.self, Double.self) }
            #expect(depth.map(\.0) == ["ready", "scheduled", "leased", "dead"])
            #expect(depth.allSatisfy { $0.1 == 0 && $0.2 == 0 })
        }
    }

    @Test("list open letters alone")
    func openLetters() async throws {
        try await withSchema { connection, _ in
            try await run(Self.scene, connection)
            let rows = try await connection.query(
                "select id, category, reason, attempts from storehook.dead_letters_open")
            #expect(rows.count == 1)
        }
    }

    private func run(_ script: String, _ connection: PostgresConnection) async throws {
        try await connection.withTransaction { session in try session.executeScript(script) }
    }
}
