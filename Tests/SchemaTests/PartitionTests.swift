import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The outbox's partitions")
struct PartitionTests {
    private static let count: PostgresQuery =
        "select count(*) from pg_inherits where inhparent = 'storehook.outbox'::regclass"

    @Test("are made once when twenty make them at the same time, and all twenty succeed")
    func twenty() async throws {
        try await withSchema { connection, database in
            let made = try await withThrowingTaskGroup(of: Int32.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let own = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
                        let made = try await own.value("select storehook.ensure_outbox_partitions(3)", as: Int32.self)
                        await own.close()
                        return made
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Yesterday, today and three days; at midnight UTC one more.
            #expect([5, 6].contains(made.reduce(0, +)))
            #expect(try await connection.value(Self.count, as: Int64.self) == Int64(made.reduce(1, +)))
        }
    }

    @Test("take over the rows that came before their day was made")
    func takeOver() async throws {
        try await withSchema { connection, _ in
            try await connection.query(
                "insert into storehook.outbox (id, body) select n, 'x' from generate_series(1, 50) n")
            try await connection.query(
                "insert into storehook.outbox (id, received_at, body) values (99, now() - interval '40 days', 'old')")
            #expect(try await connection.value("select count(*) from storehook.outbox_default", as: Int64.self) == 51)
            try await connection.query("select storehook.ensure_outbox_partitions()")
            #expect(try await connection.value("select count(*) from storehook.outbox_default", as: Int64.self) == 1)
            #expect(try await connection.value("select count(*) from storehook.outbox", as: Int64.self) == 51)
            try await connection.query("insert into storehook.outbox (id, body) values (100, 'new')")
            #expect(try await connection.value("select count(*) from storehook.outbox_default", as: Int64.self) == 1)
        }
    }

    @Test("are made late for days of the last month that had none, so that they can be dropped whole in their time")
    func lateDays() async throws {
        try await withSchema { connection, _ in
            try await connection.query(
                """
                insert into storehook.outbox (id, received_at, body)
                select n, now() - make_interval(days => n), 'x' from generate_series(2, 40) n
                """)
            let made = try await connection.value("select storehook.ensure_outbox_partitions(0)", as: Int32.self)
            // Yesterday and today, and those from the day before yesterday to the 31st day before today.
            #expect(made == 32)
            #expect(
                try await connection.value("select min(id) from storehook.outbox_default", as: Int64.self) == 32)
            #expect(try await connection.value("select count(*) from storehook.outbox", as: Int64.self) == 39)
        }
    }

    @Test("cannot be asked for without bound")
    func bounds() async throws {
        try await withSchema { connection, _ in
            #expect(await connection.refusal(of: "select storehook.ensure_outbox_partitions(367)") == "22023")
            #expect(await connection.refusal(of: "select storehook.ensure_outbox_partitions(-1)") == "22023")
            #expect(await connection.refusal(of: "select storehook.ensure_outbox_partitions(366)") == nil)
        }
    }

    @Test("can be dropped with their bytes while the queue and its dead letters stand")
    func retention() async throws {
        try await withSchema { connection, _ in
            try await connection.query("select storehook.ensure_outbox_partitions(0)")
            try await connection.query(
                """
                with posted as (insert into storehook.outbox (id, body) values (1, 'x') returning id, received_at)
                insert into storehook.outbox_queue (id, received_at, due_at) select id, received_at, received_at from posted
                """)
            let name = try await connection.value(
                "select (tableoid::regclass)::text from storehook.outbox", as: String.self)
            try await connection.query("drop table \(unescaped: name)")
            #expect(try await connection.value("select count(*) from storehook.outbox_queue", as: Int64.self) == 1)
        }
    }
}
