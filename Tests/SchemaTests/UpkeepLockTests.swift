import Postgres
import TestSupport
import Testing

@Suite("The locks of upkeep")
struct UpkeepLockTests {
    /// What upkeep locked once, and may be locked by anybody.
    private static let known: [Int64] = [0x7374_6F72_655F_7031, 0x7374_6F72_655F_7032]

    @Test("are out of reach of any login that only takes advisory locks")
    func strangers() async throws {
        try await withSchema { connection, database in
            try await connection.query("select storehook.ensure_outbox_partitions(0)")
            try await connection.query(
                """
                insert into storehook.outbox (id, received_at, body)
                values (1, now() - interval '20 days', 'old'), (2, now() - interval '2 days', 'new')
                """)
            try await connection.query("select storehook.ensure_outbox_partitions(1)")
            try await connection.query("insert into storehook.duplicates values (1, gen_random_uuid())")
            let stranger = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            for key in Self.known { try await stranger.query("select pg_advisory_lock(\(key))::text") }
            #expect(try await connection.value("select storehook.ensure_outbox_partitions(3)", as: Int32.self) >= 2)
            let day = try await connection.value(
                "select to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') from storehook.outbox where id = 1",
                as: String.self)
            let outcome = try await connection.value(
                "select outcome from storehook.drop_outbox_day(\(day)::text::date, 7)", as: String.self)
            #expect(outcome == "dropped")
            let books: PostgresQuery = "select storehook.settle_outbox_day((now() at time zone 'UTC')::date - 2)"
            #expect(try await connection.value(books, as: Bool.self))
            await stranger.close()
        }
    }

    @Test("still let one session at it at a time: the others are told that it is busy")
    func busy() async throws {
        try await withSchema { connection, database in
            let other = try await HeldTransaction(in: database, "select task from storehook.upkeep_locks for update")
            let day: PostgresQuery = """
                select outcome from storehook.drop_outbox_day((now() at time zone 'UTC')::date - 20, 7)
                """
            #expect(try await connection.value(day, as: String.self) == "busy")
            let books: PostgresQuery = "select storehook.settle_outbox_day((now() at time zone 'UTC')::date - 2)"
            #expect(try await !connection.value(books, as: Bool.self))
            try await other.release()
        }
    }
}
