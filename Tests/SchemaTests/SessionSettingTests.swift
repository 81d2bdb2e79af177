import Foundation
import Postgres
import Schema
import TestSupport
import Testing

@Suite("Whatever a session has set")
struct SessionSettingTests {
    /// Settings in which an instant's text is read as another one: days before months, and IST as India's or Israel's.
    private static let settings = [
        "set datestyle = 'SQL, DMY'; set timezone = 'Asia/Kolkata';",
        "set datestyle = 'SQL, MDY'; set timezone = 'Asia/Kolkata'; set timezone_abbreviations = 'Default';",
        "set datestyle = 'German'; set timezone = 'Asia/Jerusalem'; set timezone_abbreviations = 'India';",
        "set datestyle = 'Postgres, DMY'; set timezone = 'America/St_Johns';",
    ]

    private func withSettings(
        _ settings: String, _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        try await withSchema { connection, _ in
            try await connection.withTransaction { try $0.executeScript(settings) }
            try await body(connection)
        }
    }

    @Test("partitions hold the day in UTC that they are named for", arguments: settings)
    func bounds(settings: String) async throws {
        try await withSettings(settings) { connection in
            try await connection.query("select storehook.ensure_outbox_partitions(3)")
            let wrong = try await connection.query(
                """
                select d.day::text
                  from storehook.outbox_days d cross join lateral storehook.outbox_partition_bounds(d.day) b
                 where d.has_partition
                   and (b.opens is distinct from d.day::timestamp at time zone 'UTC'
                        or b.closes is distinct from (d.day + 1)::timestamp at time zone 'UTC')
                """)
            #expect(wrong.isEmpty)
            // Asked of the rows themselves: each instant of the day goes where the name says.
            try await connection.query(
                """
                insert into storehook.outbox (id, received_at, body)
                select n, (date_trunc('day', now() at time zone 'UTC') + n * interval '1 hour') at time zone 'UTC', 'x'
                  from generate_series(0, 23) n
                """)
            #expect(
                try await connection.value(
                    """
                    select count(*) from storehook.outbox o
                     where (select c.relname from pg_class c where c.oid = o.tableoid)
                           = 'outbox_' || to_char((received_at at time zone 'UTC')::date, 'YYYYMMDD')
                    """, as: Int64.self) == 24)
        }
    }

    @Test("a day is dropped with what is settled, and nothing of its neighbours", arguments: settings)
    func dropping(settings: String) async throws {
        try await withSettings(settings) { connection in
            // Each hour of three days that are old enough: those of the middle one are settled, the others pending.
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    insert into storehook.outbox (id, received_at, body)
                    select n, (date_trunc('day', now() at time zone 'UTC') - interval '22 days'
                               + n * interval '1 hour') at time zone 'UTC', 'x' from generate_series(0, 71) n;
                    insert into storehook.outbox_queue (id, received_at, due_at)
                    select id, received_at, now() from storehook.outbox where id not between 24 and 47;
                    insert into storehook.duplicates (outbox_id, notification_uuid)
                    select n, gen_random_uuid() from generate_series(24, 47) n;
                    select storehook.ensure_outbox_partitions();
                    """)
            }
            let dropped = try await connection.query(
                "select outcome, gone, kept from storehook.drop_outbox_day((now() at time zone 'UTC')::date - 21, 7)"
            ).one().values(String.self, Int64.self, Int64.self)
            #expect(dropped == ("dropped", 24, 0))
            let books = try await connection.query(
                "select received, pending, missing, without_bytes from storehook.conservation"
            ).one().values(Int64.self, Int64.self, Int64.self, Int64.self)
            #expect(books == (72, 48, 0, 0))
        }
    }

    @Test("every function has its own search path, zone and date style, unless that would cost more than it does")
    func pinned() async throws {
        try await withSchema { connection, _ in
            let open = try await connection.query(
                """
                select p.proname::text
                  from pg_proc p
                 where p.pronamespace = 'storehook'::regnamespace
                   and not coalesce((select count(*) = 3 from unnest(p.proconfig) as setting
                                      where lower(setting) like 'search_path=%' or lower(setting) like 'timezone=%'
                                         or lower(setting) like 'datestyle=%'), false)
                 order by 1
                """
            ).map { try $0.decode(0, as: String.self) }
            // They turn no text into an instant, nor an instant into text. Those of statuses and payments are inlined, which a
            // setting prevents; the others are called for each commit of the receiver, each use that is counted and each
            // statement that changes purchases, and have a search path.
            #expect(
                open == [
                    "account_payments", "account_status_at", "count_usage", "expiring_soon", "purchase_payments",
                    "require_accounts", "spend_write_budget", "status_at", "store_posted",
                ])
        }
    }

    /// All that a database's functions, constraints and views say.
    private static let definitions: PostgresQuery = """
        select md5(string_agg(d.text, chr(10) order by d.text collate "C"))
          from (select pg_get_functiondef(p.oid) as text from pg_proc p where p.pronamespace = 'storehook'::regnamespace
                union all
                select c.conname || pg_get_constraintdef(c.oid) from pg_constraint c
                 where c.connamespace = 'storehook'::regnamespace
                union all
                select c.relname || pg_get_viewdef(c.oid) from pg_class c
                 where c.relnamespace = 'storehook'::regnamespace and c.relkind = 'v') d
        """
    private static let tokens: PostgresQuery = """
        select string_agg(storehook.account_token(id, rule)::text, ' ' order by id, rule)
          from unnest(array['alice', 'bob@example.com', '00000000-0000-5000-8000-000000000001']) id,
               unnest(array['auto', 'text']) rule
        """

    @Test("a backslash in a literal stands for itself: migrations make the same, and functions do the same")
    func backslashes() async throws {
        func answers(_ connection: PostgresConnection) async throws -> [String] {
            try await connection.query("select storehook.ensure_outbox_partitions(1)")
            let days: Int64 = try await connection.value(
                """
                select count(b.opens) from storehook.outbox_days d cross join lateral storehook.outbox_partition_bounds(d.day) b
                """)
            return [
                try await connection.value(Self.definitions), try await connection.value(Self.tokens), "\(days)",
            ]
        }
        let usual = try await withSchema { connection, _ in try await answers(connection) }
        let odd = try await withTestDatabase { database in
            let owner = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await owner.query(
                "alter database \(unescaped: database.name) set standard_conforming_strings = off")
            await owner.close()
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            _ = try await Migrator(migrations: Schema.migrations).migrate(on: connection)
            let answers = try await answers(connection)
            // The migrator's transactions alone had it otherwise.
            #expect(
                try await connection.value("select current_setting('standard_conforming_strings')", as: String.self)
                    == "off")
            await connection.close()
            return answers
        }
        #expect(odd == usual && odd.count == 3 && odd[2] == "3")
    }

    @Test("a function whose body has a backslash says how it is to be read")
    func backslashesOfBodies() async throws {
        try await withSchema { connection, _ in
            let open = try await connection.query(
                """
                select p.proname::text from pg_proc p
                 where p.pronamespace = 'storehook'::regnamespace and position(chr(92) in p.prosrc) > 0
                   and not 'standard_conforming_strings=on' = any (coalesce(p.proconfig, '{}'))
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(open == [])
        }
    }

    @Test("a partition that was bounded otherwise is dropped by its real bounds, and only once all of it is old enough")
    func misbounded() async throws {
        try await withSchema { connection, _ in
            // As one made in a session of Israel's: two hours and more before its day to as long before its end.
            func make(_ age: Int) async throws {
                try await connection.withTransaction { session in
                    try session.executeScript(
                        """
                        do $$
                        declare day date := (now() at time zone 'UTC')::date - \(age);
                        begin
                            execute format('create table storehook.%I partition of storehook.outbox for values from (%L) to (%L)',
                                           'outbox_' || to_char(day, 'YYYYMMDD'),
                                           to_char(day::timestamp + interval '3 hours', 'YYYY-MM-DD HH24:MI:SS') || '+00',
                                           to_char(day::timestamp + interval '27 hours', 'YYYY-MM-DD HH24:MI:SS') || '+00');
                        end $$;
                        insert into storehook.outbox (id, received_at, body)
                        select \(age * 100) + n, ((now() at time zone 'UTC')::date - \(age))::timestamp at time zone 'UTC'
                                                + n * interval '1 hour', 'x' from generate_series(3, 26) n;
                        insert into storehook.duplicates (outbox_id, notification_uuid)
                        select id, gen_random_uuid() from storehook.outbox where id between \(age * 100) and \(age * 100 + 99)
                                                                            and id % 100 <> 25;
                        insert into storehook.outbox_queue (id, received_at, due_at)
                        select id, received_at, now() from storehook.outbox where id = \(age * 100 + 25);
                        """)
                }
            }
            func drop(_ age: Int) async throws -> (String, Int64, Int64) {
                try await connection.query(
                    """
                    select outcome, gone, kept
                      from storehook.drop_outbox_day((now() at time zone 'UTC')::date - \(Int32(age)), 7)
                    """
                ).one().values(String.self, Int64.self, Int64.self)
            }
            try await make(20)
            #expect(try await drop(20) == ("dropped", 23, 1))
            // What is queued has its bytes.
            #expect(
                try await connection.value("select array_agg(id) from storehook.outbox", as: [Int64].self) == [2025])
            // The last hours of this one are younger than what is to be kept.
            try await make(8)
            #expect(try await drop(8) == ("stays", 0, 0))
        }
    }

    @Test("bytes that vanish are missing by a counter of their own, and a queued row without its bytes is told")
    func vanished() async throws {
        try await withSchema { connection, _ in
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    select storehook.ensure_outbox_partitions();
                    insert into storehook.outbox (id, body) select n, 'x' from generate_series(1, 10) n;
                    insert into storehook.outbox_queue (id, received_at, due_at) select id, received_at, now() from storehook.outbox;
                    insert into storehook.outbox_stored (stored_at, rows) values (now() - interval '2 hours', 4), (now(), 6);
                    """)
            }
            func books() async throws -> [String] {
                var books: [String] = []
                for view in ["conservation", "conservation_audit"] {
                    books.append(
                        try await connection.value(
                            "select concat_ws(' ', received, missing, acknowledged, without_bytes) from storehook.\(unescaped: view)"
                        ))
                }
                return books
            }
            #expect(try await books() == ["10 0 10 0", "10 0 10 0"])
            // Adding up changes no sum, however often.
            for commits in [1, 0] as [Int64] {
                #expect(
                    try await connection.value("select storehook.sum_outbox_stored()", as: Int64.self) == commits)
                #expect(try await books() == ["10 0 10 0", "10 0 10 0"])
            }
            try await connection.query("delete from storehook.outbox where id in (3, 4)")
            #expect(try await books() == ["8 2 10 2", "8 2 10 2"])
        }
    }

    @Test("a day that was counted once and whose partition somebody dropped is missing")
    func droppedByHand() async throws {
        try await withSchema { connection, _ in
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    do $$ declare opens timestamptz := date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '5 days';
                    begin
                        execute format('create table storehook.outbox_%s partition of storehook.outbox for values from (%L) to (%L)',
                            to_char(opens at time zone 'UTC', 'YYYYMMDD'), opens, opens + interval '1 day');
                        insert into storehook.outbox (id, received_at, body) select n, opens, 'x' from generate_series(1, 3) n;
                        insert into storehook.dead_letters
                               (outbox_id, category, reason, message, attempts, received_at, resolution, resolved_at, resolved_by,
                                resolved_why)
                        select n, 'unverified', 'malformed', '', 1, opens, 'discarded', now(), 'test', 'test'
                          from generate_series(1, 3) n;
                    end $$;
                    insert into storehook.outbox_stored (rows) values (3);
                    """)
            }
            let books: PostgresQuery = "select concat_ws(' ', received, discarded, missing) from storehook.conservation"
            try await connection.query("select storehook.settle_outbox_day(((now() at time zone 'UTC')::date - 5))")
            #expect(try await connection.value(books, as: String.self) == "3 3 0")
            try await connection.withTransaction { session in
                try session.executeScript(
                    """
                    do $$ begin
                        execute 'drop table storehook.outbox_' || to_char((now() at time zone 'UTC')::date - 5, 'YYYYMMDD');
                    end $$;
                    """)
            }
            #expect(try await connection.value(books, as: String.self) == "0 0 3")
        }
    }
}
