import Foundation
import Postgres

/// What the database's part of a drain costs without storehook: psql claims the same rows, receives the same bytes, and
/// writes the same rows into the same tables, one transaction per batch.
///
/// It runs after a drain:
/// 1. The drain's rows are put aside, the tables are emptied, and the queue is filled again.
/// 2. Each batch is claimed, taken, and written with set-based statements of the shape the worker uses. That includes
///    reading back what is known of its purchases.
///
/// The rows come from a table instead of arrays, in their state at the end of the drain:
/// - A purchase that many batches touch is written as often and about as long as in the drain.
/// - A row that a batch left alone in the drain is written here all the same.
/// - What is written once (earlier phases, anomalies) is written with the purchase's last batch.
struct DrainFloor {
    /// CPU seconds of the server and of psql.
    let serverCPU: Double
    let psqlCPU: Double

    private static let purchase = "original_transaction_id, bundle_id, environment"

    /// A table that the worker writes with each batch.
    private struct Written {
        let table: String
        /// Which of its rows belong to a batch: a table with the batch's number, and the columns that it has in common.
        let scope: String
        let match: String
        /// What a row that stands is found by; nil where there is none, ever.
        var key: String?
    }

    /// In the order of the worker's statements.
    private static let written = [
        Written(table: "purchase_facts", scope: "notifications", match: "outbox_id"),
        Written(
            table: "transactions", scope: "batch_transactions", match: "transaction_id, bundle_id, environment",
            key: "transaction_id, bundle_id, environment"),
        Written(table: "renewals", scope: "batch_purchases", match: purchase, key: purchase),
        Written(table: "subscriptions", scope: "batch_purchases", match: purchase, key: purchase),
        Written(table: "subscription_history", scope: "last_batches", match: purchase),
        Written(table: "one_time_purchases", scope: "batch_purchases", match: purchase, key: purchase),
        Written(table: "anomalies", scope: "last_batches", match: purchase),
    ]

    static func measure(_ notifications: Int, batch: Int, _ database: BenchDatabase) async throws -> DrainFloor {
        try await putAside(batch, database)
        let columns = try await columns(database)
        let script = script(columns)
        let before = try await database.serverCPUSeconds() ?? 0
        let cost = try PsqlSession(url: database.url).run(
            (0...(notifications - 1) / batch).lazy.map { Data(script.replacing(":batch", with: "\($0)").utf8) })
        // psql's backend ends a moment after psql. Until it is waited for its CPU is its own, then the server's; looked at in
        // between it is neither's.
        try await Task.sleep(for: .milliseconds(300))
        return DrainFloor(
            serverCPU: (try await database.serverCPUSeconds() ?? 0) - before, psqlCPU: cost.cpuSeconds)
    }

    /// Puts the drain's rows aside by batch, empties the tables, and queues everything again.
    private static func putAside(_ batch: Int, _ database: BenchDatabase) async throws {
        let copies = written.map { "create table floor.\($0.table) as table storehook.\($0.table);\n" }.joined()
        let keys = written.map { "create index on floor.\($0.table) (\($0.match));\n" }.joined()
        let emptied = written.map { "storehook.\($0.table)" }.joined(separator: ", ")
        let script = """
            create schema floor;
            \(copies)\(keys)
            create table floor.notifications as
                select n.*, (row_number() over (order by outbox_id) - 1) / \(batch) as batch from storehook.notifications n;
            create index on floor.notifications (batch);
            create table floor.batch_purchases as
                select batch, \(purchase), min(signed_at) as since from floor.notifications
                 where original_transaction_id is not null group by batch, \(purchase);
            create index on floor.batch_purchases (batch);
            create table floor.last_batches as
                select max(batch) as batch, \(purchase) from floor.batch_purchases group by \(purchase);
            create index on floor.last_batches (batch);
            create table floor.batch_transactions as
                select distinct batch, transaction_id, bundle_id, environment, original_transaction_id
                  from floor.notifications where transaction_id is not null;
            create index on floor.batch_transactions (batch);
            truncate storehook.notifications, \(emptied), storehook.purchase_lines, storehook.outbox_queue;
            insert into storehook.outbox_queue (id, received_at, due_at)
                select id, received_at, received_at from storehook.outbox;
            """
        try await database.pool.withTransaction(TransactionOptions(name: "bench.put_aside")) { session in
            try session.executeScript(script, deadline: .seconds(300))
        }
        try await database.pool.query("analyze", deadline: .seconds(120))
    }

    /// One batch: the claim in a transaction of its own, the rest in another.
    private static func script(_ columns: [String: [String]]) -> String {
        """
        \(claim)
        begin;
        delete from storehook.outbox_queue
         where id = any(array(select outbox_id from floor.notifications where batch = :batch))
           and lease_token = '00000000-0000-4000-8000-000000000000' returning id;
        \(notifications(columns["notifications"] ?? []))
        insert into storehook.purchase_lines as known (\(purchase))
        select \(purchase) from floor.batch_purchases where batch = :batch order by \(purchase)
        on conflict (\(purchase)) do update set environment = known.environment where false;
        \(known(columns["purchase_facts"] ?? []))
        \(written.map { insert($0, columns[$0.table] ?? []) }.joined())
        commit;

        """
    }

    private static let claim = """
        copy (with due as materialized (
            select id from storehook.outbox_queue
             where due_at <= now() and due_at >= (select min(received_at) from floor.notifications where batch = :batch)
               and id in (select outbox_id from floor.notifications where batch = :batch)
             order by due_at, id for update skip locked
        ), claimed as (
            update storehook.outbox_queue q
               set attempts = q.attempts + 1, due_at = now() + interval '60 s', lease_owner = 'psql',
                   lease_token = '00000000-0000-4000-8000-000000000000'
              from due where q.id = due.id returning q.id, q.received_at, q.attempts
        )
        select id, received_at, attempts,
               (select body from storehook.outbox o where o.received_at = c.received_at and o.id = c.id)
          from claimed c order by id) to stdout (format binary);
        """

    private static func notifications(_ columns: [String]) -> String {
        """
        insert into storehook.notifications (\(columns.joined(separator: ", ")))
        select \(columns.joined(separator: ", ")) from floor.notifications where batch = :batch
         order by notification_uuid on conflict do nothing returning outbox_id;
        """
    }

    /// What the worker reads of the purchases before it derives them: all facts, or of a long purchase the end.
    private static func known(_ columns: [String]) -> String {
        let facts = columns.filter { !purchase.contains($0) }.map { "f.\($0)" }.joined(separator: ", ")
        return """
            copy (with header as materialized (
                select b.original_transaction_id, b.bundle_id, b.environment, p.anomalies, s.earlier_phases,
                       s.carried_account_token,
                       case when s.earlier_phases > 0 and s.is_regular and b.since >= s.phase_starts[1]
                            then s.phase_starts[1] end as horizon
                  from floor.batch_purchases b join storehook.purchase_lines p using (\(purchase))
                  left join storehook.subscriptions s using (\(purchase)) where b.batch = :batch
            ), bounded as materialized (
                select header.*,
                       case when horizon is not null then (
                           select t.purchased_at from storehook.transactions t
                            where t.original_transaction_id = header.original_transaction_id
                              and t.bundle_id = header.bundle_id and t.environment = header.environment
                              and t.purchased_at <= horizon order by t.purchased_at desc offset 2 limit 1) end as cut
                  from header
            )
            select b.anomalies, b.earlier_phases, b.horizon, b.cut, b.carried_account_token, \(facts)
              from bounded b
              left join storehook.purchase_facts f
                   on f.original_transaction_id = b.original_transaction_id and f.bundle_id = b.bundle_id
                  and f.environment = b.environment and f.signed_at >= coalesce(b.cut - interval '2 days', '-infinity'))
              to stdout (format binary);
            """
    }

    private static func insert(_ written: Written, _ columns: [String]) -> String {
        let conflict = written.key.map { key in
            let values = columns.filter { !key.components(separatedBy: ", ").contains($0) }
            return "on conflict (\(key)) do update set "
                + values.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        }
        return """
            insert into storehook.\(written.table) as known (\(columns.joined(separator: ", ")))
            select \(columns.map { "s.\($0)" }.joined(separator: ", "))
              from floor.\(written.scope) b join floor.\(written.table) s using (\(written.match))
             where b.batch = :batch \(conflict ?? "");

            """
    }

    /// Those of each table that a statement may give a value.
    private static func columns(_ database: BenchDatabase) async throws -> [String: [String]] {
        let tables = written.map(\.table) + ["notifications"]
        return try await database.pool.query(
            """
            select c.relname::text, attname::text
              from pg_attribute join pg_class c on c.oid = attrelid
             where c.relnamespace = 'storehook'::regnamespace and c.relname = any(\(tables)) and attnum > 0
               and not attisdropped and attidentity = '' and attgenerated = '' order by attnum
            """
        ).reduce(into: [:]) { found, row in
            found[try row.decode(0, as: String.self), default: []].append(try row.decode(1))
        }
    }
}
