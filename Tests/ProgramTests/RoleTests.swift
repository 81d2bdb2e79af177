import AsyncHTTPClient
import EvidenceStore
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import TestSupport
import Testing

/// Roles are the whole server's, and other databases on it may use them at this very moment: they are made if they are
/// missing and stay. The users who log in are a test's own.
@Suite("The roles of sql/roles.sql", .serialized)
struct RoleTests {
    /// Whatever a role may do with what stands in the schema, with the schema and the database. Partitions go by one name.
    private static let rights: PostgresQuery = """
        with role as (
            select rolname as name from pg_roles
             where rolname in ('storehook_receiver', 'storehook_worker', 'storehook_ops', 'storehook_monitor',
                               'storehook_api', 'storehook_bi', 'storehook_console')
        ), relation as (
            select oid, case when relispartition then 'outbox partition' else relname::text end as name
              from pg_class where relnamespace = 'storehook'::regnamespace and relkind not in ('i', 'I', 'S', 'c')
        ), may as (
            select r.name as role, p.privilege || ' on ' || t.name as has
              from role r, relation t, unnest(
                   array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p (privilege)
             where has_table_privilege(r.name, t.oid, p.privilege)
            union all
            select r.name, p.privilege || ' of ' || a.attname || ' on ' || t.name
              from role r, relation t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0
                   and not a.attisdropped, unnest(array['select', 'insert', 'update', 'references']) p (privilege)
             where has_column_privilege(r.name, t.oid, a.attnum, p.privilege)
               and not has_table_privilege(r.name, t.oid, p.privilege)
            union all
            select r.name, p.privilege || ' on ' || s.relname
              from role r, pg_class s, unnest(array['usage', 'select', 'update']) p (privilege)
             where s.relnamespace = 'storehook'::regnamespace and s.relkind = 'S'
               and has_sequence_privilege(r.name, s.oid, p.privilege)
            union all
            select r.name, 'execute on ' || f.proname from role r, pg_proc f
             where f.pronamespace = 'storehook'::regnamespace and has_function_privilege(r.name, f.oid, 'execute')
            union all
            select r.name, p.privilege || ' on schema storehook' from role r, unnest(array['usage', 'create']) p (privilege)
             where has_schema_privilege(r.name, 'storehook', p.privilege)
            union all
            select r.name, 'create on the database' from role r
             where has_database_privilege(r.name, current_database(), 'create')
        )
        select distinct role, has from may
        """

    @Test("may do what DatabaseRole says, by which the doctor goes, and nothing else")
    func rights() async throws {
        try await withRoles { site in
            var found: [String: Set<String>] = [:]
            for row in try await site.pool.query(Self.rights) {
                found[try row.decode(0, as: String.self), default: []].insert(try row.decode(1, as: String.self))
            }
            let relations = try await site.pool.query(
                """
                select distinct case when relispartition then 'outbox partition' else relname::text end
                  from pg_class where relnamespace = 'storehook'::regnamespace and relkind not in ('i', 'I', 'S', 'c')
                """
            ).map { try $0.decode(0, as: String.self) }
            for role in DatabaseRole.allCases {
                let needs = role.needs.flatMap { right in
                    right.object == DatabaseRight.everyRelation
                        ? relations.map { DatabaseRight(right.privilege, on: $0) } : [right]
                }
                let rights = Set(needs.map(\.description)).union(["usage on schema storehook"])
                let has = found["storehook_\(role)"] ?? []
                #expect(has.subtracting(rights).sorted() == [], "sql/roles.sql grants this to \(role) for no reason")
                #expect(
                    rights.subtracting(has).sorted() == [], "\(role) needs this, and sql/roles.sql does not grant it")
                let powers = try await site.pool.query(
                    """
                    select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolcanlogin
                      from pg_roles where rolname = \("storehook_\(role)")
                    """)
                #expect(try powers.one().decode(0, as: Bool.self) == false, "\(role)")
            }
        }
    }

    @Test("are named by a command that another user types, with the user that it is for and what to do")
    func strangers() async throws {
        try await withRoles { site in
            let owner: String = try await site.value("select current_user::text")
            let user = "\(site.database.name)_user"
            // Of nothing, anybody could rebuild everything.
            var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
            subscriber.buy(.premiumMonthly, at: Site.now)
            try await site.outbox.store([Array(subscriber.takeNotifications()[0].signed(by: site.authority).utf8)])
            try await site.with(["work"]) { _ in try await site.untilDone() }
            try await withUser(in: "storehook_api", site) { api in
                for (command, words) in [
                    (["dead-letters", "list"], "it is for storehook-ops; put that user into DATABASE_URL"),
                    (["apps"], "it is for storehook-ops; put that user into DATABASE_URL"),
                    (["rebuild", "--check"], "it is for the owner \(owner), who runs storehook migrate"),
                    (["migrate"], "it is for the owner \(owner), who runs storehook migrate"),
                    (["work"], "it is for storehook-worker; put that user into DATABASE_URL"),
                ] {
                    let program = try site.start(command, api)
                    #expect(await program.end() == .exited(1), "\(command): \(program.errors)")
                    let line = program.errors.split(separator: "\n").last ?? ""
                    #expect(line.hasPrefix("storehook: \(user) may not do this ("), "\(command): \(line)")
                    #expect(line.contains("(SQLSTATE 42501)") && line.contains(words), "\(command): \(line)")
                    await program.discard()
                }
            }
            try await withUser(in: "storehook_ops", site) { ops in
                // Its rights as they are by another release's file; back again when the database is dropped.
                try await site.pool.query("revoke select on storehook.dead_letters from storehook_ops")
                try await site.pool.query("revoke select on storehook.dead_letters_open from storehook_ops")
                let outcome = try await site.run("dead-letters", "list", with: ops)
                #expect(
                    outcome.errors.contains("are not those of this release; as the owner, run sql/roles.sql again"),
                    "\(outcome)")
            }
        }
    }

    /// By default each user is held against its own role and another one, chosen by chance.
    @Test("are what the doctor finds to be enough, each for its own and for no other")
    func doctor() async throws {
        var generator = TestSupport.SeededGenerator()
        try await withRoles { site in
            for role in DatabaseRole.allCases {
                let others = sampled(DatabaseRole.allCases.filter { $0 != role }, using: &generator)
                try await withUser(in: "storehook_\(role)", site) { user in
                    for wanted in [role] + others {
                        let program = try site.start(["doctor", "--role", "\(wanted)", "--format", "json"], user)
                        await program.end()
                        let isContent = program.output.contains(
                            #""check":"rights","message":"\#(site.database.name)_user may be"#)
                        // Operators are workers too, and look at everything; to store what is posted is the receiver's, and to note
                        // that a key was used the account API's, and to name the staff who act the console's.
                        let fits = wanted == role || (role == .ops && ![.receiver, .api, .console].contains(wanted))
                        #expect(isContent == fits, "\(role) as \(wanted): \(program.output)")
                        await program.discard()
                    }
                }
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
        ("worker", "update storehook.outbox set body = ''"), ("worker", "delete from storehook.outbox"),
        ("worker", "delete from storehook.notifications"), ("worker", "delete from storehook.records"),
        ("worker", "update storehook.records set source = 'api'"), ("monitor", "select * from storehook.records"),
        ("worker", "update storehook.notifications set outcome = 'parked'"),
        ("worker", "delete from storehook.transactions"), ("worker", "delete from storehook.dead_letters"),
        ("worker", "update storehook.dead_letters set resolution = 'discarded'"),
        ("worker", "update storehook.jobs set actor = 'cli:x'"), ("worker", "update storehook.jobs set done = 1"),
        ("worker", "insert into storehook.job_items values (1, 1)"),
        ("console", "update storehook.jobs set state = 'done'"), ("console", "delete from storehook.jobs"),
        ("console", "select storehook.work_job(1, 1)"), ("console", "update storehook.outbox_queue set due_at = now()"),
        ("console", "select sender from storehook.outbox_queue"), ("console", "delete from storehook.dead_letters"),
        ("console", "update storehook.overview_ring set ready = 0"),
        ("console", "update storehook.overview_state set recorded = 0"),
        ("console", "update storehook.due_counts set unheard = 0"), ("console", "delete from storehook.due_unheard"),
        ("console", "update storehook.staff_notes set body = 'x'"), ("console", "delete from storehook.staff_notes"),
        ("console", "delete from storehook.job_items"), ("console", "update storehook.job_queue set due_at = now()"),
        ("console", "select lease_token from storehook.job_queue"),
        ("console", "delete from storehook.outbox_attempts"), ("console", "update storehook.searches set found = '{}'"),
        ("console", "update storehook.saved_filters set name = 'x'"),
        ("console", "insert into storehook.staff_passwords (member_id) values (1)"),
        ("console", "select storehook.outbox_bodies('{}', '{}')"),
        ("console", "insert into storehook.notifications default values"),
        ("console", "insert into storehook.purchase_facts default values"),
        ("api", "select 1 from storehook.staff_notes"), ("bi", "select 1 from storehook.staff_notes"),
        ("receiver", "select 1 from storehook.overview_state"),
        ("console", "select secret from storehook.endpoints"),
        ("console", "update storehook.endpoints set secret = null"),
        ("console", "delete from storehook.endpoint_trials"),
        ("console", "update storehook.endpoint_trials set outcome = 'http_200'"),
        ("worker", "insert into storehook.endpoint_trials (endpoint_id, asked_by) values (1, 'x')"),
        ("worker", "select storehook.note_resent('x', 1, '{1}', '{1}', '{2026-01-31}')"),
        ("console", "select lease_token from storehook.delivery_queue"),
        ("console", "update storehook.account_profiles set name = 'x'"),
        ("console", "delete from storehook.deliveries"),
        ("console", "update storehook.delivery_attempts set answer = null"),
        ("worker", "update storehook.delivery_attempts set answer = null"),
        ("monitor", "select answer from storehook.delivery_attempts"),
        ("api", "select answer from storehook.delivery_attempts"),
        ("worker", "update storehook.searches set found = '{}'"), ("api", "select 1 from storehook.searches"),
        ("monitor", "select 1 from storehook.saved_filters"),
        ("monitor", "select storehook.dead_letter_body(1)"), ("ops", "update storehook.jobs set total = 1"),
        ("worker", "delete from storehook.purchase_facts"), ("worker", "truncate storehook.subscriptions"),
        ("ops", "update storehook.dead_letters set message = ''"), ("ops", "delete from storehook.dead_letters"),
        ("ops", "update storehook.outbox set body = ''"), ("ops", "delete from storehook.outbox"),
        ("ops", "delete from storehook.notifications"), ("ops", "drop table storehook.dead_letters"),
        ("ops", "insert into storehook.schema_migrations values (9, 'x', 'x')"),
        ("monitor", "select body from storehook.outbox"), ("monitor", "select * from storehook.notifications"),
        ("monitor", "select * from storehook.transactions"), ("monitor", "select * from storehook.dead_letters"),
        ("monitor", "select * from storehook.outbox_queue"), ("monitor", "delete from storehook.subscriptions"),
        ("monitor", "select storehook.ensure_outbox_partitions()"),
        ("worker", "insert into storehook.consumption_consents (account, granted) values ('a', true)"),
        ("ops", "update storehook.consumption_consents set granted = true"),
        ("ops", "delete from storehook.consumption_consents"), ("worker", "delete from storehook.consumption_answers"),
        ("monitor", "select * from storehook.consumption_consents"),
        ("receiver", "select * from storehook.consumption_tokens for update"),
        // What it stores is verified, and nothing else.
        ("receiver", "insert into storehook.outbox (id, received_at, body, kind) values (1, now(), '', 5)"),
        ("receiver", "insert into storehook.outbox (id, received_at, body, source) values (1, now(), '', 2)"),
        ("api", "delete from storehook.write_budgets"), ("api", "select * from storehook.purchase_attempts"),
        ("api", "insert into storehook.consent_texts (digest, text) values (sha256('x'), 'x')"),
        ("worker", "select storehook.erase_consents(gen_random_uuid())"),
        ("worker", "select storehook.spend_write_budget(gen_random_uuid(), 1)"),
        ("worker", "delete from storehook.unsigned_words"),
        ("monitor", "select * from storehook.consumption_tokens for update"),
        ("api", "select body from storehook.outbox"), ("api", "delete from storehook.outbox_queue"),
        ("api", "update storehook.outbox_queue set due_at = now()"), ("api", "select id from storehook.outbox_queue"),
        ("api", "insert into storehook.server_keys (digest, name, created_by) values (sha256('x'), 'x', 'x')"),
        ("api", "update storehook.server_keys set revoked_at = null"), ("api", "delete from storehook.server_keys"),
        ("api", "update storehook.consumption_consents set granted = true"),
        ("api", "insert into storehook.dead_letters (outbox_id) values (1)"),
        ("api", "select message from storehook.dead_letters"), ("api", "insert into storehook.canaries default values"),
        ("ops", "delete from storehook.server_keys"), ("ops", "update storehook.server_keys set digest = sha256('x')"),
        ("console", "select body from storehook.outbox"), ("console", "select * from storehook.server_keys"),
        ("console", "insert into storehook.audit_drafts (actor) values ('staff:1')"),
        ("console", "update storehook.audit set actor = 'x'"), ("console", "delete from storehook.audit"),
        ("console", "delete from storehook.forbidden_tries"), ("console", "select * from storehook.forbidden_tries"),
        ("console", "delete from storehook.staff_acts"), ("console", "update storehook.staff_members set mail = 'a@b'"),
        ("console", "update storehook.staff_tokens set expires_at = now()"),
        ("console", "select * from storehook.endpoints"),
        ("console", "update storehook.staff_passwords set hash = hash"),
        ("console", "delete from storehook.staff_passwords"),
        ("console", "update storehook.console_sessions set member_id = 1"),
        ("console", "update storehook.staff_logins set at = now()"),
        ("console", "select * from storehook.proxied_staff"), ("console", "delete from storehook.proxied_tries"),
        ("console", "update storehook.proxied_staff set role = 'admin'"),
        ("ops", "insert into storehook.console_sessions (digest, member_id) values (sha256('x'), 1)"),
        ("ops", "select storehook.note_proxied_staff('x', 'admin', null)"),
        ("api", "select * from storehook.staff_passwords"), ("worker", "select * from storehook.console_sessions"),
        ("ops", "select storehook.note_forbidden_try(1, 'x')"), ("api", "select * from storehook.staff_tokens"),
        ("worker", "select * from storehook.server_keys"), ("receiver", "select * from storehook.server_keys"),
        ("monitor", "select * from storehook.server_keys"), ("bi", "select * from storehook.booked_orders"),
        ("bi", "select * from storehook.account_lines"), ("bi", "select * from storehook.subscriptions"),
        ("bi", "select * from storehook.accounts"), ("bi", "select * from storehook.transactions"),
        ("bi", "select * from storehook.subscription_status"), ("bi", "delete from storehook.booked_orders"),
        ("monitor", "select * from storehook.orders"),
    ]

    @Test("show reports orders, their sums and their transactions, and no column with an account")
    func reports() async throws {
        try await withRoles { site in
            let columns = try await site.pool.withTransaction { session in
                try session.query("set local role storehook_bi")
                for view in ["orders", "order_totals", "order_transactions"] {
                    try session.query("select * from storehook.\(unescaped: view)")
                }
                return try session.query(
                    """
                    select a.attname::text from pg_attribute a
                     where a.attrelid in ('storehook.orders'::regclass, 'storehook.order_totals'::regclass,
                                          'storehook.order_transactions'::regclass) and a.attnum > 0
                    """
                ).map { try $0.decode(0, as: String.self) }
            }
            #expect(columns.contains("number") && columns.contains("paid"))
            #expect(!columns.contains { $0.contains("account") || $0.contains("token") }, "\(columns)")
        }
    }

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
            let line = subscriber.buy(.premiumMonthly, at: Site.now)
            let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
            subscriber.requestRefund(of: subscriber.latest(of: line), at: now - 3_600_000)
            let signed = subscriber.takeNotifications().map { $0.signed(by: site.authority) }
            let bodies = (signed + ["first.junk.x", "other.junk.y"])
                .map { ByteBuffer(bytes: UnsignedNotification.postBody($0)) }
            try await withUser(in: "storehook_receiver", site) { receiver in
                try await site.with(["receive", "--port", "0", "--metrics-port", "0"], receiver) { program in
                    let address = "http://127.0.0.1:\(try #require(program.port))"
                    for body in bodies {
                        var request = HTTPClientRequest(url: "\(address)/webhooks/apple")
                        request.method = .POST
                        request.body = .bytes(body)
                        #expect(try await client.execute(request, timeout: .seconds(60)).status == .ok)
                    }
                    let operations = "http://127.0.0.1:\(try await program.metricsPort())"
                    #expect(try await fetch(operations + "/readyz").status == 200)
                }
                for command in [["queue"], ["dead-letters", "list"], ["work"]] {
                    let program = try site.start(command, receiver)
                    #expect(await program.end() == .exited(1), "\(command)")
                    #expect(program.errors.contains("42501"), "\(command): \(program.errors)")
                    await program.discard()
                }
            }
            try await withUser(in: "storehook_worker", site) { worker in
                try await site.with(["work"], worker) { _ in
                    try await site.untilDone()
                    // Of a refund request it makes a row, key or no key.
                    try await eventually("the request is noted") {
                        try await site.value("select count(*) = 1 from storehook.consumption_answers")
                    }
                }
            }
            #expect(try await site.outbox.conservation().applied == 2)
            // A transaction that was tried again takes other numbers.
            let letters = try await site.pool.query("select id from storehook.dead_letters order by id").map {
                "\(try $0.decode(0, as: Int64.self))"
            }
            try #require(letters.count == 2)
            try await withUser(in: "storehook_ops", site) { ops in
                for command in [
                    ["list"], ["show", letters[0]], ["replay", "--all", "--dry-run"], ["replay", letters[0]],
                    ["discard", letters[1], "--why", "a test"],
                ] {
                    let program = try site.start(["dead-letters"] + command, ops)
                    let ending = await program.end()
                    // Each letter would die again, which the dry run says.
                    let isRefused = command.contains("--dry-run") && program.errors.contains("mend first")
                    #expect(ending == .exited(isRefused ? 1 : 0), "\(command): \(program.errors)")
                    await program.discard()
                }
                #expect(try await site.run("queue", "--conservation", with: ops).ending == .exited(0))
                let consent = try await site.run("consent", "a", "--grant", "--text", "yes", with: ops)
                #expect(consent.ending == .exited(0), "\(consent.errors)")
                let requests = try await site.run("consumption", "list", "--days", "3650", with: ops)
                #expect(requests.ending == .exited(0) && requests.output.contains("no_policy"), "\(requests.errors)")
                try await site.pool.query(
                    """
                    insert into storehook.purchase_attempts (token, kind, outcome)
                    values (gen_random_uuid(), 'restore', 'nothing')
                    """)
                let reported = [
                    try await site.run("purchases", "list", with: ops),
                    try await site.run("purchases", "list", "--outcome", "nothing", with: ops),
                ]
                for run in reported {
                    #expect(run.ending == .exited(0) && run.output.contains("restore"), "\(run.errors)")
                }
                let theirs = try await site.run("purchases", "list", "--account", "a", with: ops)
                #expect(theirs.ending == .exited(0) && !theirs.output.contains("restore"), "\(theirs.errors)")
            }
            #expect(try await site.outbox.conservation().pending == 1)
            #expect(try await site.outbox.conservation().discarded == 1)
            try await withUser(in: "storehook_monitor", site) { monitor in
                let queue = try await site.run("queue", "--conservation", "--format", "table", with: monitor)
                #expect(queue.ending == .exited(0), "\(queue.errors)")
                #expect(queue.output.contains("received 4, pending 1, applied 2"), "\(queue.output)")
                let letters = try await site.run("dead-letters", "list", with: monitor)
                let replay = try await site.run("dead-letters", "replay", "--all", with: monitor)
                let reported = try await site.run("purchases", "list", with: monitor)
                for refused in [letters, replay, reported] {
                    #expect(refused.ending == .exited(1) && refused.errors.contains("42501"), "\(refused)")
                    #expect(refused.errors.contains("sql/roles.sql"), "\(refused)")
                }
                #expect(try await site.outbox.conservation().pending == 1)
            }
        }
    }
}
