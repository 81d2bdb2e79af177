import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Dropping a day of the outbox")
struct RetentionTests {
    private struct Drop: Equatable {
        var outcome: String
        var gone: Int64
        var kept: Int64
    }

    /// Ten of each that is settled, with what belongs to it; 60 to 69 pending, 70 to 79 dead; 80 nowhere; 81 in two places.
    private static let scene = """
        select storehook.ensure_outbox_partitions();
        insert into storehook.outbox (id, body) select n, convert_to(n::text, 'UTF8') from generate_series(10, 81) n;
        insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at,
                                             received_at, outcome)
             select gen_random_uuid(), n, 'TEST', 'Sandbox', 'a', now(), now(),
                    case when n < 20 or n > 80 then 'applied' else 'parked' end
               from generate_series(10, 81) n where n < 30 or n > 80;
        insert into storehook.duplicates select n, gen_random_uuid() from generate_series(30, 39) n;
        insert into storehook.duplicates values (81, gen_random_uuid());
        insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts, resolution,
                                            resolved_at, resolved_by, resolved_why)
             select n, now(), 'unverified', 'x', 'x', 1, 'replayed', now(), 'me', null from generate_series(10, 79) n
              where n % 10 < 2
              union all
             select n, now(), 'unverified', 'x', 'x', 1, 'discarded', now(), 'me', 'why not' from generate_series(40, 49) n
              union all
             select n, now(), 'unverified', 'x', 'x', 1, 'open', null, null, null from generate_series(70, 79) n;
        insert into storehook.outbox_queue (id, received_at, due_at) select n, now(), now() from generate_series(60, 69) n;
        delete from storehook.outbox where id between 50 and 59;
        """

    private func withScene(_ body: (PostgresConnection, TestDatabase) async throws -> Void) async throws {
        try await withSchema { connection, database in
            try await connection.withTransaction { try $0.executeScript(Self.scene + agedOutbox) }
            #expect(try await connection.value("select count(*) from storehook.outbox_default", as: Int64.self) == 0)
            try await body(connection, database)
        }
    }

    private static let day = "((now() at time zone 'UTC')::date - 10)"

    private func drop(_ connection: PostgresConnection) async throws -> Drop {
        let row = try await connection.query(
            "select outcome, gone, kept from storehook.drop_outbox_day(\(unescaped: Self.day), 7)"
        ).one()
        return try Drop(outcome: row.decode(0), gone: row.decode(1), kept: row.decode(2))
    }

    private func conservation(_ connection: PostgresConnection) async throws -> String {
        try await connection.value("select row_to_json(c)::text from storehook.conservation c")
    }

    /// The bodies that are there, as numbers.
    private func bodies(_ connection: PostgresConnection) async throws -> [Int64] {
        try await connection.query(
            "select id from storehook.outbox where convert_from(body, 'UTF8') = id::text order by id"
        ).map { try $0.decode(0) }
    }

    @Test("keeps the bytes about which something is still to do, and the books balance as before")
    func keeps() async throws {
        try await withScene { connection, _ in
            let before = try await conservation(connection)
            #expect(before.contains(#""received":62,"#) && before.contains(#""missing":1,"doubled":1"#), "\(before)")
            #expect(try await drop(connection) == Drop(outcome: "dropped", gone: 40, kept: 22))
            #expect(try await conservation(connection) == before)
            #expect(try await bodies(connection) == Array(60...81))
            #expect(
                try await connection.value(
                    "select count(*) from storehook.outbox_days where day = \(unescaped: Self.day) and not has_partition",
                    as: Int64.self) == 1)
        }
    }

    @Test("takes the day's repeats and closed letters along, and leaves those of what is kept")
    func companions() async throws {
        try await withScene { connection, _ in
            _ = try await drop(connection)
            #expect(
                try await connection.value("select array_agg(outbox_id) from storehook.duplicates", as: [Int64].self)
                    == [81])
            // Letters of rows that are no longer in the outbox at all belong to no day.
            #expect(
                try await connection.value(
                    """
                    select array_agg(outbox_id order by outbox_id, id) from storehook.dead_letters
                     where outbox_id not between 50 and 59
                    """, as: [Int64].self) == [60, 61, 70, 70, 71, 71] + Array(72...79))
            #expect(try await connection.value("select count(*) from storehook.notifications", as: Int64.self) == 21)
        }
    }

    @Test("goes on in a later round, once what was kept is settled")
    func later() async throws {
        try await withScene { connection, _ in
            let before = try await conservation(connection)
            _ = try await drop(connection)
            #expect(try await drop(connection) == Drop(outcome: "stays", gone: 0, kept: 22))
            #expect(try await conservation(connection) == before)
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    update storehook.dead_letters
                       set resolution = 'discarded', resolved_at = now(), resolved_by = 'me', resolved_why = 'done'
                     where outbox_id between 70 and 74 and resolution = 'open';
                    delete from storehook.outbox_queue where id = 60;
                    insert into storehook.duplicates values (60, gen_random_uuid());
                    """)
            }
            let settled = try await conservation(connection)
            #expect(try await drop(connection) == Drop(outcome: "dropped", gone: 6, kept: 16))
            #expect(try await conservation(connection) == settled)
            #expect(try await bodies(connection) == Array(61...69) + Array(75...81))
            // What is kept must not bring its day's partition back.
            #expect(
                try await connection.value("select storehook.ensure_outbox_partitions()", as: Int32.self) == 0)
        }
    }

    @Test("leaves a day whole of which too much is still to do")
    func tooMuch() async throws {
        try await withScene { connection, _ in
            try await connection.query(
                """
                with late as (
                    insert into storehook.outbox (id, received_at, body)
                    select n, (select max(received_at) from storehook.outbox), decode(repeat('ab', 230000), 'hex')
                      from generate_series(101, 120) n
                    returning id, received_at
                )
                insert into storehook.outbox_queue (id, received_at, due_at) select id, received_at, now() from late
                """)
            let before = try await conservation(connection)
            #expect(try await drop(connection) == Drop(outcome: "stays", gone: 0, kept: 42))
            #expect(try await conservation(connection) == before)
            #expect(try await connection.value("select count(*) from storehook.duplicates", as: Int64.self) == 11)
        }
    }

    @Test("is refused for a day that is younger than what is to be kept, and for less than a week")
    func bounds() async throws {
        try await withScene { connection, _ in
            for arguments in ["\(Self.day), 10", "\(Self.day), 6", "\(Self.day), 400"] {
                #expect(
                    await connection.refusal(of: "select storehook.drop_outbox_day(\(arguments))") == "22023",
                    "\(arguments)")
            }
            #expect(await connection.refusal(of: "select storehook.drop_outbox_day(\(Self.day), 9)") == nil)
        }
    }

    @Test("is one session's business at a time")
    func busy() async throws {
        try await withScene { connection, database in
            let held = try await HeldTransaction(in: database, "select storehook.ensure_outbox_partitions(0)")
            #expect(try await drop(connection) == Drop(outcome: "busy", gone: 0, kept: 0))
            try await held.release()
            #expect(try await drop(connection).outcome == "dropped")
        }
    }

    @Test("gives way to a reader that does not end, instead of queueing everybody up behind it")
    func reader() async throws {
        try await withScene { connection, database in
            let held = try await HeldTransaction(in: database, "select count(*) from storehook.outbox")
            let before = try await conservation(connection)
            let refusal = await connection.refusal(of: "select storehook.drop_outbox_day(\(Self.day), 7)")
            #expect(refusal == "55P03")
            #expect(try await conservation(connection) == before)
            // A partition to be made waits no longer either.
            #expect(await connection.refusal(of: "select storehook.ensure_outbox_partitions(20)") == "55P03")
            try await held.release()
            #expect(try await drop(connection).outcome == "dropped")
        }
    }
}
