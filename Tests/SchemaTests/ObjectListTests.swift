import Foundation
import Postgres
import TestSupport
import Testing

@testable import Schema

/// `sql/objects.txt` lists what the migrations made of each table, so that a program can tell an object of ours from one
/// that was added by hand. To write it anew after a migration was added: `STOREHOOK_UPDATE_SCHEMA=1 swift test --filter ObjectListTests`.
@Suite("The list of the schema's objects")
struct ObjectListTests {
    private static let file = packageRoot.appending(path: "sql/objects.txt")
    private static let head = """
        # What the migrations made of each table: its constraints and indexes | its columns that are NOT NULL. "day" stands for the day
        # of a partition. Written by ObjectListTests; never edited by hand.

        """

    /// Of the same form with every version of PostgreSQL: since 18 NOT NULL is a constraint with a name as well.
    private static let catalog: PostgresQuery = """
        with relations as (
            select c.oid, regexp_replace(c.relname, '_[0-9]{8}$', '_day') as name
              from pg_class c
             where c.relnamespace = 'storehook'::regnamespace and c.relkind in ('r', 'p')
        ), objects as (
            select r.name, o.conname as object, null as required
              from relations r join pg_constraint o on o.conrelid = r.oid and o.contype in ('c', 'f', 'p', 'u', 'x')
            union
            select r.name, i.relname, null
              from relations r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid
            union
            select r.name, null, a.attname
              from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and a.attnotnull
        ), named as (
            select distinct name collate "C" as name,
                   regexp_replace(object, '_[0-9]{8}(?=_|$)', '_day', 'g') collate "C" as object,
                   required collate "C" as required
              from objects
        )
        select name || '|' || coalesce(string_agg(object, ' ' order by object), '')
                    || '|' || coalesce(string_agg(required, ' ' order by required), '')
          from named group by name order by name
        """

    private func listed(_ connection: PostgresConnection) async throws -> String {
        try await connection.query("select storehook.ensure_outbox_partitions(1), storehook.ensure_event_partitions(1)")
        return Self.head
            + (try await connection.query(Self.catalog).map { try $0.decode(0, as: String.self) + "\n" }.joined())
    }

    @Test("is what the migrations make, partitions of days included")
    func golden() async throws {
        try await withSchema { connection, _ in
            let list = try await listed(connection)
            if ProcessInfo.processInfo.environment["STOREHOOK_UPDATE_SCHEMA"] == "1" {
                try list.write(to: Self.file, atomically: true, encoding: .utf8)
                return
            }
            let golden = try String(contentsOf: Self.file, encoding: .utf8)
            let changed = list.split(separator: "\n").difference(from: golden.split(separator: "\n"))
            #expect(
                list == golden, "the schema changed; if that was meant, STOREHOOK_UPDATE_SCHEMA=1: \(changed)")
            // The program has the file that the tests see.
            #expect(Schema.objects.count == golden.split(separator: "\n").count { !$0.hasPrefix("#") })
        }
    }

    @Test("parts what the server names in a refusal into ours and what was added by hand, on partitions of days too")
    func refusals() async throws {
        try await withSchema { connection, _ in
            try await connection.query("select storehook.ensure_outbox_partitions(1)")
            let queue = "insert into storehook.outbox_queue (id, received_at, due_at"
            let anomaly =
                "insert into storehook.anomalies (kind, signed_at, environment, bundle_id, original_transaction_id) values"
            // Not to be compressed into what an index holds.
            let long = "(select string_agg(md5(n::text), '') from generate_series(1, 100) n)"
            let ours = [
                (
                    "23505",
                    "insert into storehook.outbox_queue select id, received_at, due_at from storehook.outbox_queue"
                ),
                ("23514", "\(queue), attempts) values (2, now(), now(), -1)"),
                ("23502", "\(queue)) values (2, now(), null)"),
                ("23503", "insert into storehook.consents_superseded (id, at) values (1, now())"),
                ("23514", "insert into storehook.outbox (body) values (convert_to(repeat('x', 262145), 'UTF8'))"),
                ("23502", "insert into storehook.outbox (body) values (null)"),
                (
                    "23505",
                    "insert into storehook.outbox (id, received_at, body) select id, received_at, body from storehook.outbox"
                ),
                ("54000", "\(anomaly) ('period_missing', now(), 'Sandbox', 'a', \(long))"),
            ]
            try await connection.query("\(unescaped: queue)) values (1, now(), now())")
            try await connection.query("insert into storehook.outbox (id, body) values (1, 'x')")
            for (state, sql) in ours {
                let error = try #require(try await connection.error(of: sql), "\(sql)")
                #expect(error.sqlState?.rawValue == state && Schema.made(whatRefusedIn: error), "\(error)")
            }
            try await connection.query("create table public.log (id bigint primary key)")
            try await connection.query("insert into public.log values (1)")
            for change: PostgresQuery in [
                "alter table storehook.outbox_queue add constraint no_old_rows check (received_at > '2020-01-01')",
                "update storehook.outbox_queue set sender = '10.0.0.1'",
                "alter table storehook.outbox_queue alter sender set not null",
                "alter table storehook.outbox add check (id <> 5)",
                "create unique index on storehook.notifications (transaction_id)",
                "create index on storehook.anomalies (transaction_id)",
                """
                create function public.copied() returns trigger language plpgsql as $$ begin
                    insert into public.log values (1); return new;
                end $$
                """,
                "create trigger copied before insert on storehook.duplicates for each row execute function public.copied()",
                "insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at, received_at, outcome, transaction_id) values (gen_random_uuid(), 1, 'x', 'Sandbox', 'a', now(), now(), 'applied', '1')",
            ] { try await connection.query(change) }
            let theirs = [
                ("23514", "\(queue), sender) values (2, '2019-01-01', now(), '10.0.0.1')"),
                ("23502", "\(queue)) values (2, now(), now())"),
                ("23514", "insert into storehook.outbox (id, body) values (5, 'x')"),
                (
                    "23505",
                    "insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at, received_at, outcome, transaction_id) values (gen_random_uuid(), 2, 'x', 'Sandbox', 'a', now(), now(), 'applied', '1')"
                ),
                (
                    "54000",
                    "insert into storehook.anomalies (kind, signed_at, environment, bundle_id, original_transaction_id, transaction_id) values ('period_missing', now(), 'Sandbox', 'a', '1', \(long))"
                ),
                (
                    "23505",
                    "insert into storehook.duplicates (outbox_id, notification_uuid) values (1, gen_random_uuid())"
                ),
            ]
            for (state, sql) in theirs {
                let error = try #require(try await connection.error(of: sql), "\(sql)")
                #expect(error.sqlState?.rawValue == state && !Schema.made(whatRefusedIn: error), "\(error)")
            }
        }
    }
}
