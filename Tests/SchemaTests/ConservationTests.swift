import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The books, counted by day")
struct ConservationTests {
    private func sums(_ connection: PostgresConnection, audit: Bool = false) async throws -> String {
        try await connection.value(
            "select row_to_json(c)::text from storehook.\(unescaped: audit ? "conservation_audit" : "conservation") c")
    }

    /// Both answers, which must be one.
    @discardableResult
    private func books(_ connection: PostgresConnection, _ step: String) async throws -> String {
        let (cheap, audited) = (try await sums(connection), try await sums(connection, audit: true))
        #expect(cheap == audited, "\(step)")
        return cheap
    }

    /// Settles what can be settled; the statistics know of all that was written before.
    private func settle(_ connection: PostgresConnection) async throws {
        try await connection.query("select pg_stat_force_next_flush()::text")
        try await connection.query(
            "select storehook.settle_outbox_day(day) from storehook.outbox_days_to_settle order by day")
    }

    /// Twenty notifications of three days, all of them pending: 100 to 119, 200 to 219 of days that are over, 300 to 319 of
    /// today. The former are old enough to be dropped.
    private static let scene = """
        create function pg_temp.day(n bigint) returns timestamptz language sql as $$
            select case n / 100 when 3 then now()
                   else date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '12 hours' - (n / 100 + 8) * interval '1 day'
                   end
        $$;
        insert into storehook.outbox (id, received_at, body)
            select n, pg_temp.day(n), 'x' from generate_series(100, 319) n where n % 100 < 20;
        insert into storehook.outbox_queue (id, received_at, due_at)
            select id, received_at, received_at from storehook.outbox;
        select storehook.ensure_outbox_partitions();
        """

    private func withScene(_ body: (PostgresConnection, TestDatabase) async throws -> Void) async throws {
        try await withSchema { connection, database in
            try await connection.withTransaction { try $0.executeScript(Self.scene) }
            #expect(try await connection.value("select count(*) from storehook.outbox_default", as: Int64.self) == 0)
            try await body(connection, database)
        }
    }

    /// What storehook does with rows and letters, each as it does it.
    private static func apply(_ ids: String) -> String {
        """
        with taken as (delete from storehook.outbox_queue where \(ids) returning id, received_at)
        insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at,
                                             received_at, outcome)
        select gen_random_uuid(), id, 'TEST', 'Sandbox', 'a', now(), received_at,
               case when id % 7 = 0 then 'parked' else 'applied' end from taken
        """
    }
    private static func `repeat`(_ ids: String) -> String {
        """
        with taken as (delete from storehook.outbox_queue where \(ids) returning id)
        insert into storehook.duplicates (outbox_id, notification_uuid) select id, gen_random_uuid() from taken
        """
    }
    private static func bury(_ ids: String) -> String {
        """
        with taken as (delete from storehook.outbox_queue where \(ids) returning id, received_at)
        insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
        select id, received_at, 'unverified', 'malformed', 'x', 1 from taken
        """
    }
    private static func replay(_ ids: String) -> String {
        """
        with letters as (
            update storehook.dead_letters d set resolution = 'replayed', resolved_at = now(), resolved_by = 'me'
             where d.resolution = 'open' and exists (select from (select d.outbox_id as id) o where \(ids)) returning d.outbox_id, d.received_at
        )
        insert into storehook.outbox_queue (id, received_at, due_at)
        select distinct outbox_id, received_at, now() from letters
        """
    }
    private static func discard(_ ids: String) -> String {
        """
        update storehook.dead_letters d
           set resolution = 'discarded', resolved_at = now(), resolved_by = 'me', resolved_why = 'a test'
         where d.resolution = 'open' and exists (select from (select d.outbox_id as id) o where \(ids))
        """
    }
    private static let drop = """
        select storehook.drop_outbox_day(day, 7) from storehook.outbox_days where day < (now() at time zone 'UTC')::date - 7
        """

    @Test(
        "say what an audit says, whatever is applied, buried, replayed, discarded, counted and dropped in whatever order",
        arguments: sampled([UInt64(1), 2, 3, 4]))
    func agree(seed: UInt64) async throws {
        try await withScene { connection, _ in
            var generator = SeededGenerator(seed: seed)
            var steps: [String] = []
            for _ in 0..<40 {
                let (modulus, rest) = (
                    Int.random(in: 1...6, using: &generator), Int.random(in: 0..<6, using: &generator)
                )
                let ids = "id % \(modulus) = \(rest % modulus)"
                let (name, statement): (String, String?) =
                    switch Int.random(in: 0..<9, using: &generator) {
                    case 0: ("apply", Self.apply(ids))
                    case 1: ("repeat", Self.repeat(ids))
                    case 2, 3: ("bury", Self.bury(ids))
                    case 4: ("replay", Self.replay(ids))
                    case 5: ("discard", Self.discard("id % 3 = 0 and " + ids))
                    // Seldom: of a day that was dropped little is left.
                    case 6 where steps.count > 15: ("drop", Self.drop)
                    default: ("settle", nil)
                    }
                steps.append("\(name) \(ids)")
                if let statement {
                    try await connection.query(PostgresQuery(unescaped: statement))
                } else {
                    try await settle(connection)
                }
                try await books(connection, "\(steps), seed \(seed)")
            }
            // Whatever is left comes to its end.
            for statement in [Self.replay("true"), Self.apply("true"), Self.drop, Self.drop] {
                try await connection.query(PostgresQuery(unescaped: statement))
                try await settle(connection)
                try await books(connection, "\(steps), and then to the end, seed \(seed)")
            }
            #expect(try await connection.value("select count(*) from storehook.outbox_dropped", as: Int64.self) == 2)
            let end = try await books(connection, "at the end, seed \(seed)")
            #expect(end.contains(#""received":60,"#) && end.contains(#""missing":0,"doubled":0"#), "\(end)")
        }
    }

    @Test("are answered without a look at days that are over: not even while somebody has locked them")
    func cheap() async throws {
        try await withScene { connection, database in
            try await connection.query(PostgresQuery(unescaped: Self.apply("id % 2 = 0")))
            try await settle(connection)
            let before = try await books(connection, "counted")
            let names = try await connection.query(
                "select 'outbox_' || to_char(day, 'YYYYMMDD') from storehook.outbox_settled where received > 0"
            ).map { try $0.decode(0, as: String.self) }
            #expect(names.count == 2)
            let held = try await HeldTransaction(
                in: database,
                "lock table storehook.\(unescaped: names.joined(separator: ", storehook.")) in access exclusive mode")
            #expect(try await sums(connection) == before)
            // Half of each day was still to do; that, and how it ends, is looked up.
            try await connection.query(PostgresQuery(unescaped: Self.repeat("id between 100 and 109")))
            let after = try await sums(connection)
            #expect(before.contains(#""pending":30,"#) && after.contains(#""pending":25,"#), "\(after)")
            #expect(after.contains(#""received":60,"#) && after.contains(#""duplicate":5,"#), "\(after)")
            try await held.release()
            try await books(connection, "let go")
        }
    }

    @Test("find a row that came to a counted day or went from it, and an audit finds a record that did")
    func tampered() async throws {
        try await withScene { connection, _ in
            try await connection.query(PostgresQuery(unescaped: Self.apply("true")))
            try await settle(connection)
            let before = try await books(connection, "counted")
            #expect(before.contains(#""received":60,"#), "\(before)")
            let steps: [(statement: PostgresQuery, missing: Int, doubled: Int)] = [
                (
                    "insert into storehook.outbox (id, received_at, body) select 110000, received_at, 'x' from storehook.outbox where id = 110",
                    1, 0
                ),
                ("delete from storehook.outbox where id = 110000", 0, 0),
                ("delete from storehook.outbox where id = 111", 0, 0),
            ]
            for (statement, missing, doubled) in steps {
                try await connection.query(statement)
                try await connection.query("select pg_stat_force_next_flush()::text")
                let now = try await books(connection, statement.sql)
                #expect(now.contains("\"missing\":\(missing),\"doubled\":\(doubled)"), "\(now)")
            }
            try await settle(connection)
            let settled = try await books(connection, "counted again")
            #expect(settled.contains(#""received":59,"#), "\(settled)")
            // What is recorded of a notification is in no partition: that it is gone is seen by who looks at every row, or
            // counts the day anew.
            try await connection.query("delete from storehook.notifications where outbox_id = 112")
            try await connection.query("insert into storehook.duplicates values (113, gen_random_uuid())")
            #expect(try await sums(connection) == settled)
            #expect(try await sums(connection, audit: true).contains(#""missing":1,"doubled":1"#))
            try await connection.query("delete from storehook.outbox_settled")
            try await books(connection, "forgotten")
            try await settle(connection)
            // Found once, it stays found until it is put right.
            #expect(try await books(connection, "counted with it").contains(#""missing":1,"doubled":1"#))
            #expect(
                try await connection.value(
                    "select sum(cardinality(open_ids)) from storehook.outbox_settled", as: Int64.self)
                    == 2)
            try await connection.query("delete from storehook.duplicates where outbox_id = 113")
            #expect(try await books(connection, "put right").contains(#""missing":1,"doubled":0"#))
        }
    }

    @Test("are not closed on a day that is not over, and not on one of which too much is still to do")
    func notYet() async throws {
        try await withScene { connection, _ in
            let today = "storehook.settle_outbox_day((now() at time zone 'UTC')::date)"
            #expect(await connection.refusal(of: "select \(today)") == "22023")
            try await connection.query(
                """
                insert into storehook.outbox (id, received_at, body)
                select n, (select received_at from storehook.outbox where id = 100), 'x' from generate_series(1000000, 1010000) n
                """)
            try await connection.query(
                "insert into storehook.outbox_queue (id, received_at, due_at) select id, received_at, now() from storehook.outbox where id >= 1000000"
            )
            try await settle(connection)
            #expect(
                try await connection.value(
                    "select count(*) from storehook.outbox_settled where received > 0", as: Int64.self) == 1)
            try await books(connection, "one of two")
        }
    }
}
