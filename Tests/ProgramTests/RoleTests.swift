import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Outbox
import Postgres
import Simulator
import TestSupport
import Testing

/// Roles are the whole server's, and other databases on it may use them at this very moment: they are made if they are
/// missing and stay. The users who log in are a test's own.
@Suite("The roles of sql/roles.sql", .serialized)
struct RoleTests {
    /// A site whose database has the roles.
    private func withRoles<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Site) async throws -> T
    ) async throws -> T {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "sql/roles.sql")
        // The transaction here is the file's own.
        let script = try String(contentsOf: file, encoding: .utf8)
            .replacing("\nbegin;\n", with: "\n").replacing("\ncommit;\n", with: "\n")
        return try await withSite { site in
            // Twice: it is made to be run again.
            for _ in 0..<2 { try await site.pool.withTransaction { try $0.executeScript(script) } }
            return try await body(site)
        }
    }

    /// What a program of this user gets as its environment; the user exists while `body` lasts.
    private func withUser<T>(
        in role: String, _ site: Site, isolation: isolated (any Actor)? = #isolation,
        _ body: ([String: String]) async throws -> T
    ) async throws -> T {
        let user = "\(site.database.name)_user"
        let password = "\(UInt64.random(in: .min ... .max))"
        try await site.pool.query(
            "create role \(unescaped: user) login password '\(unescaped: password)' in role \(unescaped: role)")
        let url = site.database.url
        let environment = [
            "DATABASE_URL": url.contains("://")
                ? "\(url)&user=\(user)&password=\(password)" : "\(url) user=\(user) password=\(password)"
        ]
        do {
            let value = try await body(environment)
            try await site.pool.query("drop role \(unescaped: user)")
            return value
        } catch {
            _ = try? await site.pool.query("drop role \(unescaped: user)")
            throw error
        }
    }

    /// Whatever a role may do with what stands in the schema, the schema and the database, one line an object.
    private static let rights: PostgresQuery = """
        with role as (
            select rolname as name from pg_roles
             where rolname in ('storehook_receiver', 'storehook_worker', 'storehook_ops', 'storehook_monitor')
        ), relation as (
            select oid, case when relispartition then 'outbox partition' else relname::text end as name
              from pg_class where relnamespace = 'storehook'::regnamespace and relkind not in ('i', 'I', 'S')
        ), may as (
            select r.name as role, 'table ' || t.name as object, p.privilege,
                   has_table_privilege(r.name, t.oid, p.privilege) as has
              from role r, relation t, unnest(
                   array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p (privilege)
            union all
            select r.name, 'column ' || t.name || '.' || a.attname, p.privilege,
                   has_column_privilege(r.name, t.oid, a.attnum, p.privilege)
                   and not has_table_privilege(r.name, t.oid, p.privilege)
              from role r, relation t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0
                   and not a.attisdropped, unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) p (privilege)
            union all
            select r.name, 'sequence ' || s.relname, p.privilege, has_sequence_privilege(r.name, s.oid, p.privilege)
              from role r, pg_class s, unnest(array['USAGE', 'SELECT', 'UPDATE']) p (privilege)
             where s.relnamespace = 'storehook'::regnamespace and s.relkind = 'S'
            union all
            select r.name, 'function ' || f.proname, 'EXECUTE', has_function_privilege(r.name, f.oid, 'EXECUTE')
              from role r, pg_proc f where f.pronamespace = 'storehook'::regnamespace
            union all
            select r.name, 'schema', p.privilege, has_schema_privilege(r.name, 'storehook', p.privilege)
              from role r, unnest(array['USAGE', 'CREATE']) p (privilege)
            union all
            select r.name, 'database', 'CREATE', has_database_privilege(r.name, current_database(), 'CREATE') from role r
        )
        select role, object || ' ' || string_agg(distinct privilege, ' ' order by privilege)
          from may where has
         -- Operators look at everything: what they may see is no limit to hold them to.
         and not (role = 'storehook_ops' and object like 'table %' and privilege = 'SELECT')
         group by role, object
        """

    private static let everybody: Set = ["schema USAGE", "table schema_migrations SELECT"]
    private static let worker: Set = [
        "function drop_outbox_day EXECUTE", "function ensure_outbox_partitions EXECUTE",
        "function outbox_bodies EXECUTE", "function outbox_day_changes EXECUTE", "function settle_outbox_day EXECUTE",
        "table dead_letters INSERT", "table duplicates INSERT", "table outbox_days SELECT",
        "table outbox_days_to_settle SELECT", "table queue_depth SELECT",
        "table notifications INSERT SELECT", "table outbox SELECT", "table outbox_queue DELETE SELECT UPDATE",
        "table purchase_lines INSERT SELECT UPDATE", "table renewals INSERT SELECT UPDATE",
        "table subscription_changes INSERT", "table subscriptions DELETE INSERT SELECT UPDATE",
        "table transactions INSERT SELECT UPDATE",
        "table signature_headers INSERT SELECT",
    ]

    /// All that a role may do.
    private static let allowed: [(role: String, rights: Set<String>)] = [
        (
            "storehook_receiver",
            everybody.union([
                "sequence outbox_id USAGE", "table outbox INSERT", "table outbox_queue INSERT",
                "table signature_headers SELECT",
            ])
        ),
        ("storehook_worker", everybody.union(worker)),
        (
            "storehook_ops",
            [
                "schema USAGE", "function drop_outbox_day EXECUTE", "function ensure_outbox_partitions EXECUTE",
                "function outbox_bodies EXECUTE", "function status_at EXECUTE", "function count_outbox_day EXECUTE",
                "function outbox_day_changes EXECUTE", "function settle_outbox_day EXECUTE",
                "column dead_letters.resolution UPDATE", "column dead_letters.resolved_at UPDATE",
                "column dead_letters.resolved_by UPDATE", "column dead_letters.resolved_why UPDATE",
                "table dead_letters INSERT", "table duplicates INSERT", "table notifications INSERT",
                "table outbox_queue DELETE INSERT UPDATE", "table purchase_lines INSERT UPDATE",
                "table renewals INSERT UPDATE", "table subscription_changes INSERT",
                "table subscriptions DELETE INSERT UPDATE", "table transactions INSERT UPDATE",
                "table signature_headers INSERT",
            ]
        ),
        (
            "storehook_monitor",
            everybody.union([
                "column notifications.applied_at SELECT", "column outbox.received_at SELECT",
                "function status_at EXECUTE", "function count_outbox_day EXECUTE",
                "function outbox_day_changes EXECUTE", "table conservation SELECT", "table dead_letters_open SELECT",
                "table entitlements SELECT", "table queue_depth SELECT", "table subscription_status SELECT",
                "table subscriptions SELECT",
            ])
        ),
    ]

    @Test("may do what is listed here, and nothing else")
    func rights() async throws {
        try await withRoles { site in
            var found: [String: Set<String>] = [:]
            for row in try await site.pool.query(Self.rights) {
                found[try row.decode(0, as: String.self), default: []].insert(try row.decode(1, as: String.self))
            }
            for (role, rights) in Self.allowed {
                let has = found[role] ?? []
                #expect(has.subtracting(rights).sorted() == [], "\(role) may do what it should not")
                #expect(rights.subtracting(has).sorted() == [], "\(role) may not do what it should")
                let powers = try await site.pool.query(
                    """
                    select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolcanlogin
                      from pg_roles where rolname = \(role)
                    """)
                #expect(try powers.one().decode(0, as: Bool.self) == false, "\(role)")
            }
        }
    }

    private static let refused = [
        ("receiver", "select body from storehook.outbox"), ("receiver", "select id from storehook.outbox_queue"),
        ("receiver", "delete from storehook.outbox_queue"), ("receiver", "update storehook.outbox set body = ''"),
        ("receiver", "select * from storehook.conservation"),
        ("receiver", "insert into storehook.signature_headers (header) values ('x')"),
        ("worker", "update storehook.signature_headers set header = 'x'"),
        ("worker", "delete from storehook.signature_headers"),
        ("receiver", "select last_value from storehook.outbox_id"),
        ("receiver", "select storehook.ensure_outbox_partitions()"),
        ("receiver", "select * from storehook.subscription_status"), ("receiver", "create table storehook.mine ()"),
        ("worker", "insert into storehook.outbox (body) values ('')"), ("worker", "delete from storehook.outbox"),
        ("worker", "delete from storehook.notifications"),
        ("worker", "update storehook.notifications set outcome = 'parked'"),
        ("worker", "delete from storehook.transactions"), ("worker", "delete from storehook.dead_letters"),
        ("worker", "update storehook.dead_letters set resolution = 'discarded'"),
        ("worker", "delete from storehook.subscription_changes"), ("worker", "truncate storehook.subscriptions"),
        ("ops", "update storehook.dead_letters set message = ''"), ("ops", "delete from storehook.dead_letters"),
        ("ops", "insert into storehook.outbox (body) values ('')"), ("ops", "delete from storehook.outbox"),
        ("ops", "delete from storehook.notifications"), ("ops", "drop table storehook.dead_letters"),
        ("ops", "insert into storehook.schema_migrations values (9, 'x', 'x')"),
        ("monitor", "select body from storehook.outbox"), ("monitor", "select * from storehook.notifications"),
        ("monitor", "select * from storehook.transactions"), ("monitor", "select * from storehook.dead_letters"),
        ("monitor", "select * from storehook.outbox_queue"), ("monitor", "delete from storehook.subscriptions"),
        ("monitor", "select storehook.ensure_outbox_partitions()"),
        ("monitor", "select storehook.settle_outbox_day('2026-01-01')"),
        ("monitor", "select * from storehook.outbox_settled"), ("worker", "delete from storehook.outbox_settled"),
    ]

    @Test("are refused by the server what is not theirs")
    func refusals() async throws {
        try await withRoles { site in
            for (role, statement) in Self.refused {
                let refusal = await #expect(throws: PostgresError.self, "\(role): \(statement)") {
                    try await site.pool.withTransaction { session in
                        try session.query("set local role \(unescaped: "storehook_\(role)")")
                        try session.query(PostgresQuery(unescaped: statement, name: "refused"))
                    }
                }
                // insufficient_privilege
                #expect(refusal?.sqlState?.rawValue == "42501", "\(role): \(statement)")
            }
        }
    }

    @Test("are enough for each program: receiver, worker, operator and monitor, each by its own alone")
    func programs() async throws {
        try await withRoles { site in
            var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
            subscriber.buy(.premiumMonthly, at: Site.now)
            let bodies =
                [subscriber.takeNotifications()[0].signed(by: site.authority), "first.junk.x", "other.junk.y"]
                .map { ByteBuffer(bytes: UnsignedNotification.postBody($0)) }
            try await withUser(in: "storehook_receiver", site) { receiver in
                try await site.with(["receive", "--port", "0"], receiver) { program in
                    let address = "http://127.0.0.1:\(try #require(program.port))"
                    for body in bodies {
                        var request = HTTPClientRequest(url: "\(address)/webhooks/apple")
                        request.method = .POST
                        request.body = .bytes(body)
                        #expect(try await client.execute(request, timeout: .seconds(60)).status == .ok)
                    }
                    let ready = try await client.execute(
                        HTTPClientRequest(url: "\(address)/readyz"), timeout: .seconds(60))
                    #expect(ready.status == .ok)
                }
                for command in [["queue"], ["dead-letters", "list"], ["work"]] {
                    let program = try site.start(command, receiver)
                    #expect(await program.end() == .exited(1), "\(command)")
                    #expect(program.errors.contains("42501"), "\(command): \(program.errors)")
                    await program.discard()
                }
            }
            try await withUser(in: "storehook_worker", site) { worker in
                try await site.with(["work"], worker) { _ in try await site.untilDone() }
            }
            #expect(try await site.outbox.conservation().applied == 1)
            #expect(try await site.outbox.conservation().dead == 2)
            try await withUser(in: "storehook_ops", site) { ops in
                for command in [
                    ["list"], ["show", "1"], ["replay", "--all", "--dry-run"], ["replay", "1"],
                    ["discard", "2", "--why", "a test"],
                ] {
                    let program = try site.start(["dead-letters"] + command, ops)
                    #expect(await program.end() == .exited(0), "\(command): \(program.errors)")
                    await program.discard()
                }
                #expect(try await site.run("queue", "--conservation", with: ops).ending == .exited(0))
            }
            #expect(try await site.outbox.conservation().pending == 1)
            #expect(try await site.outbox.conservation().discarded == 1)
            try await withUser(in: "storehook_monitor", site) { monitor in
                let queue = try await site.run("queue", "--conservation", with: monitor)
                #expect(queue.ending == .exited(0), "\(queue.errors)")
                #expect(queue.output.contains("received 3, pending 1, applied 1"), "\(queue.output)")
                let letters = try await site.run("dead-letters", "list", with: monitor)
                let replay = try await site.run("dead-letters", "replay", "--all", with: monitor)
                for refused in [letters, replay] {
                    #expect(refused.ending == .exited(1) && refused.errors.contains("42501"), "\(refused)")
                }
                #expect(try await site.outbox.conservation().pending == 1)
            }
        }
    }
}
