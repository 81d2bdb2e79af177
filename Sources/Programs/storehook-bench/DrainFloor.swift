import Foundation
import Postgres

/// What the database's part of a drain costs without storehook: psql claims the same rows, is sent the same bytes, and writes
/// the same rows into the same tables, a transaction a batch.
///
/// Done after a drain, whose rows are put aside; then the tables are emptied, the queue is filled again, and each batch is
/// claimed, taken, and written with set-based statements of the shape the worker uses, histories read back included. The
/// rows come out of a table instead of arrays, as they were at the end of the drain: a line that many batches touch is
/// written as often and about as long, and where a batch left a row alone this writes it all the same.
struct DrainFloor {
    /// CPU seconds of the server and of psql.
    let serverCPU: Double
    let psqlCPU: Double

    private static let lines = "original_transaction_id, bundle_id, environment"
    private static let facts: [(table: String, key: String, scope: String)] = [
        ("purchase_lines", lines, "floor.batch_lines"),
        ("transactions", "transaction_id, bundle_id, environment", "floor.batch_transactions"),
        ("renewals", lines, "floor.batch_lines"), ("subscriptions", lines, "floor.batch_lines"),
    ]

    static func measure(_ notifications: Int, batch: Int, _ database: BenchDatabase) async throws -> DrainFloor {
        try await putAside(batch, database)
        var statements: [String: String] = [:]
        for fact in facts {
            let columns = try await columns(of: fact.table, database)
            let replaced = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            statements[fact.table] = """
                insert into storehook.\(fact.table) as known (\(columns.joined(separator: ", ")))
                select \(columns.map { "s.\($0)" }.joined(separator: ", "))
                  from \(fact.scope) b join floor.\(fact.table) s using (\(fact.key)) where b.batch = :batch
                 order by \(fact.key) on conflict (\(fact.key)) do update set \(replaced);

                """
        }
        for table in ["notifications", "subscription_changes"] {
            let columns = try await columns(of: table, database)
            let order = table == "notifications" ? "s.notification_uuid" : "s.id"
            statements[table] = """
                insert into storehook.\(table) (\(columns.joined(separator: ", ")))
                select \(columns.map { "s.\($0)" }.joined(separator: ", "))
                  from floor.notifications b join floor.\(table) s using (notification_uuid) where b.batch = :batch
                 order by \(order) \(table == "notifications" ? "on conflict do nothing returning outbox_id" : "");

                """
        }
        let script = script(statements)
        let before = try await database.serverCPUSeconds() ?? 0
        let cost = try PsqlSession(url: database.url).run(
            (0...(notifications - 1) / batch).lazy.map { Data(script.replacing(":batch", with: "\($0)").utf8) })
        return DrainFloor(
            serverCPU: (try await database.serverCPUSeconds() ?? 0) - before, psqlCPU: cost.cpuSeconds)
    }

    /// Puts the drain's rows aside by batch, empties the tables, and queues everything again.
    private static func putAside(_ batch: Int, _ database: BenchDatabase) async throws {
        let copies = facts.map { "create table floor.\($0.table) as table storehook.\($0.table);\n" }.joined()
        let keys = facts.map { "create index on floor.\($0.table) (\($0.key));\n" }.joined()
        let script = """
            create schema floor;
            \(copies)\(keys)
            create table floor.subscription_changes as table storehook.subscription_changes;
            create index on floor.subscription_changes (notification_uuid);
            create table floor.notifications as
                select n.*, (row_number() over (order by outbox_id) - 1) / \(batch) as batch from storehook.notifications n;
            create index on floor.notifications (batch);
            create table floor.batch_lines as
                select distinct batch, \(lines) from floor.notifications where original_transaction_id is not null;
            create index on floor.batch_lines (batch);
            create table floor.batch_transactions as
                select distinct batch, transaction_id, bundle_id, environment from floor.notifications
                 where transaction_id is not null;
            create index on floor.batch_transactions (batch);
            truncate storehook.notifications, storehook.transactions, storehook.renewals, storehook.subscriptions,
                     storehook.subscription_changes, storehook.purchase_lines, storehook.outbox_queue;
            insert into storehook.outbox_queue (id, received_at, due_at)
                select id, received_at, received_at from storehook.outbox;
            """
        try await database.pool.withTransaction(TransactionOptions(name: "bench.put_aside")) { session in
            try session.executeScript(script, deadline: .seconds(300))
        }
        try await database.pool.query("analyze", deadline: .seconds(120))
    }

    /// One batch: the claim in a transaction of its own, the rest in another.
    private static func script(_ statements: [String: String]) -> String {
        """
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
        begin;
        delete from storehook.outbox_queue
         where id = any(array(select outbox_id from floor.notifications where batch = :batch))
           and lease_token = '00000000-0000-4000-8000-000000000000' returning id;
        \(statements["notifications"] ?? "")
        insert into storehook.purchase_lines as known (\(lines))
        select \(lines) from floor.batch_lines where batch = :batch order by \(lines)
        on conflict (\(lines)) do update set environment = known.environment where false;
        copy (select t.transaction_id, t.web_order_line_item_id, t.product_id, t.subscription_group_id, t.kind, t.ownership,
                     t.purchased_at, t.expires_at, t.revoked_at, t.is_upgraded, t.reason, t.offer_discount_type,
                     t.app_account_token, t.signed_at, t.digest
                from floor.batch_lines b join storehook.transactions t using (\(lines)) where b.batch = :batch)
          to stdout (format binary);
        copy (select line.apple_status, line.apple_status_signed_at, r.renewal_product_id, r.auto_renew, r.renews_at,
                     r.expiration_intent, r.in_billing_retry, r.grace_expires_at, r.price_increase_status,
                     r.app_account_token, r.signed_at, r.digest
                from floor.batch_lines b join storehook.purchase_lines line using (\(lines))
                left join storehook.renewals r using (\(lines)) where b.batch = :batch)
          to stdout (format binary);
        \(facts.compactMap { statements[$0.table] }.joined())
        \(statements["subscription_changes"] ?? "")
        commit;

        """
    }

    /// Those that a statement may give a value.
    private static func columns(of table: String, _ database: BenchDatabase) async throws -> [String] {
        try await database.pool.query(
            """
            select attname::text from pg_attribute
             where attrelid = ('storehook.' || \(table))::regclass and attnum > 0 and not attisdropped
               and attidentity = '' and attgenerated = '' order by attnum
            """
        ).map { try $0.decode(0) }
    }
}
