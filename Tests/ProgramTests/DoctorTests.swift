import EvidenceStore
import Foundation
import Postgres
import Schema
import Simulation
import TestSupport
import Testing

@Suite("storehook doctor")
struct DoctorTests {
    private struct Line: Decodable {
        var check: String
        var status: String
        var message: String
    }

    /// Production as it should be: Apple's root, an app with its number, a port that is free.
    private static let sound = [
        "STOREHOOK_TRUSTED_ROOTS": "", "STOREHOOK_APPS": "com.example.app=1234567890",
    ]

    /// What the doctor finds to be done, by check. How full this machine's disk is, is not the tests' business.
    private func faults(
        _ site: Site, _ more: [String: String] = [:], _ arguments: [String] = [], port: Int? = nil
    ) async throws -> [String: String] {
        let port = try port ?? freePort()
        let program = try site.start(
            ["doctor", "--format", "json", "--port", "\(port)"] + arguments,
            Self.sound.merging(more) { _, own in own })
        let ending = await program.end()
        let (output, errors) = (program.output, program.errors)
        await program.discard()
        let lines = try JSONDecoder().decode([Line].self, from: Data(output.utf8))
        let failed = lines.filter { $0.status == "failed" }
        #expect(ending == .exited(failed.isEmpty ? 0 : 1))
        #expect(errors.isEmpty, "\(errors)")
        #expect(lines.count == 41 && lines.allSatisfy { !$0.message.isEmpty && !$0.message.contains("\n") })
        return Dictionary(uniqueKeysWithValues: failed.filter { $0.check != "disk" }.map { ($0.check, $0.message) })
    }

    private func expect(_ faults: [String: String], only check: String, saying words: String...) {
        #expect(Set(faults.keys) == [check], "\(faults)")
        for word in words { #expect(faults[check]?.contains(word) == true, "\(faults)") }
    }

    /// The site's connection string with more parameters; what comes last wins.
    private func url(_ site: Site, _ parameters: String) -> String {
        site.database.url + (site.database.url.contains("?") ? "&" : "?") + parameters
    }

    @Test("names an extension that is not finished after a day, and none that Apple works through")
    func extensions() async throws {
        try await withSite { site in
            try await site.pool.query(
                """
                insert into storehook.extensions
                       (bundle_id, environment, request_identifier, product_id, days, reason_code, requested_by, state,
                        asked_at, accepted_at)
                values ('org.example', 'Sandbox', 'all', 'pro', 1, 0, 'somebody', 'accepted', now(), now() - interval '2 days')
                """)
            #expect(try await faults(site).isEmpty)
            try await site.pool.query(
                """
                insert into storehook.extensions
                       (bundle_id, environment, request_identifier, original_transaction_id, days, reason_code, requested_by,
                        requested_at)
                values ('org.example', 'Sandbox', 'one', '1', 1, 0, 'somebody', now() - interval '25 hours')
                """)
            expect(
                try await faults(site), only: "extensions", saying: "1 requested", "storehook extensions list --open")
        }
    }

    @Test("names App Store Connect where somebody posts bodies of version 1, and no longer after a day without one")
    func oldPosts() async throws {
        try await withSite { site in
            try await site.pool.query("select storehook.note_old_post()")
            expect(
                try await faults(site), only: "version 1", saying: "somebody posts version 1 bodies, last seen 20",
                "App Store Connect is set to version 1")
            try await site.pool.query("update storehook.old_posts set seen_at = now() - interval '25 hours'")
            #expect(try await faults(site).isEmpty)
        }
    }

    @Test("finds nothing to do where all is well, and tells so line by line")
    func sound() async throws {
        try await withSite { site in
            let found = try await faults(site)
            #expect(found.isEmpty, "\(found)")
            let port = try freePort()
            let table = try await site.run("doctor", "--port", "\(port)", "--format", "table", with: Self.sound)
            #expect(table.output.split(separator: "\n").count == 42, "\(table.output)")
        }
    }

    @Test("names a database that is not there")
    func noDatabase() async throws {
        try await withSite { site in
            let nowhere = try freePort()
            let gone = "postgresql://me:s3cr3t@127.0.0.1:\(nowhere)/storehook"
            let found = try await faults(site, ["DATABASE_URL": gone])
            expect(found, only: "database", saying: "\(nowhere)")
            #expect(found["database"]?.contains("s3cr3t") == false)
            expect(try await faults(site, ["DATABASE_URL": ""]), only: "configuration", saying: "DATABASE_URL")
        }
    }

    @Test("names a user who lacks the rights of its role, and what is lacking")
    func wrongRole() async throws {
        try await withSite { site in
            // Roles are the server's, so one of the test's own.
            let name = "doctor_\(UUID().uuidString.prefix(8).lowercased())"
            try await site.pool.query("create role \(unescaped: name) login password 'pw'")
            let there = ["DATABASE_URL": url(site, "user=\(name)&password=pw")]
            do {
                let stranger = try await faults(site, there)
                expect(stranger, only: "rights", saying: name, "sql/roles.sql")
                try await site.pool.withTransaction { session in
                    try session.executeScript(
                        """
                        grant usage on schema storehook to \(name);
                        grant usage on sequence storehook.outbox_id to \(name);
                        grant select on storehook.schema_migrations, storehook.schema_expansions to \(name);
                        grant insert on storehook.outbox to \(name);
                        """)
                }
                expect(
                    try await faults(site, there, ["--role", "receiver"]), only: "rights",
                    saying:
                        "lacks insert on outbox_queue, insert on outbox_stored, execute on refused_senders and 1 more;"
                )
                try await site.pool.query("grant insert on storehook.outbox_queue to \(unescaped: name)")
                try await site.pool.query("grant insert on storehook.outbox_stored to \(unescaped: name)")
                try await site.pool.query("grant select on storehook.signature_headers to \(unescaped: name)")
                try await site.pool.query(
                    "grant execute on function storehook.refused_senders() to \(unescaped: name)")
                let receiver = try await faults(site, there, ["--role", "receiver"])
                #expect(receiver.isEmpty, "\(receiver)")
                expect(try await faults(site, there, ["--role", "worker"]), only: "rights", saying: "worker")
            } catch {
                try await drop(name, site)
                throw error
            }
            try await drop(name, site)
        }
    }

    private func drop(_ role: String, _ site: Site) async throws {
        try await site.pool.withTransaction { try $0.executeScript("drop owned by \(role); drop role \(role);") }
    }

    @Test("names a schema that is older than the program")
    func oldSchema() async throws {
        try await withSite { site in
            let last = try #require(Schema.migrations.map(\.version).max())
            for table in ["schema_migrations", "schema_expansions"] {
                try await site.pool.query(
                    "delete from storehook.\(unescaped: table) where version = \(Int32(last))")
            }
            expect(try await faults(site), only: "schema", saying: "storehook migrate")
        }
    }

    @Test("names a clock that is off by a minute, ahead or behind", arguments: [60, -60])
    func clock(seconds: Int) async throws {
        try await withSite { site in
            // The doctor asks clock_timestamp() of whatever schema the connection's search path names first.
            try await site.pool.withTransaction { session in
                try session.executeScript(
                    """
                    create schema wrong;
                    create function wrong.clock_timestamp() returns timestamptz language sql as
                        'select pg_catalog.clock_timestamp() + interval ''\(seconds) s''';
                    """)
            }
            let found = try await faults(
                site, ["DATABASE_URL": url(site, "options=-c%20search_path%3Dwrong,pg_catalog")])
            expect(
                found, only: "clock", saying: seconds > 0 ? "s behind the database" : "s ahead of the database", "NTP")
        }
    }

    @Test("names settings without an app, and an app without the number that Production needs")
    func noApps() async throws {
        try await withSite { site in
            expect(try await faults(site, ["STOREHOOK_APPS": ""]), only: "apps", saying: "STOREHOOK_APPS")
            #expect(try await faults(site, ["STOREHOOK_APPS": ""], ["--role", "receiver"]).isEmpty)
            expect(
                try await faults(site, ["STOREHOOK_APPS": "com.example.app"]), only: "apps", saying: "com.example.app",
                "App Apple ID")
            let one = ["STOREHOOK_APPS": "", "APPLE_BUNDLE_ID": "com.example.app"]
            expect(try await faults(site, one), only: "apps", saying: "com.example.app", "APPLE_APP_ID")
            #expect(try await faults(site, one.merging(["APPLE_APP_ID": "1234567890"]) { $1 }).isEmpty)
            expect(
                try await faults(site, ["APPLE_BUNDLE_ID": "com.example.other"]), only: "configuration",
                saying: "APPLE_BUNDLE_ID", "STOREHOOK_APPS")
        }
    }

    @Test("names a root that is not Apple's, beside Apple's or instead of it")
    func unknownRoot() async throws {
        try await withSite { site in
            let apple = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
            let own = site.authority.rootFingerprint
            expect(
                try await faults(site, ["STOREHOOK_TRUSTED_ROOTS": own]), only: "roots", saying: "leaves out Apple",
                apple)
            expect(try await faults(site, ["STOREHOOK_TRUSTED_ROOTS": "\(apple),\(own)"]), only: "roots", saying: own)
            let xcode = try await faults(
                site, ["STOREHOOK_TRUSTED_ROOTS": "Xcode:\(own)", "STOREHOOK_ENVIRONMENTS": "Xcode"])
            #expect(xcode.isEmpty, "\(xcode)")
        }
    }

    @Test("names a setting of the receiver's that cannot be read")
    func receiverSettings() async throws {
        try await withSite { site in
            for name in ["TRUSTED_PROXIES", "CONNECTIONS_PER_ADDRESS", "JUNK_PER_MINUTE", "JUNK_MIB_PER_DAY"] {
                let name = "STOREHOOK_" + name
                expect(try await faults(site, [name: "many"]), only: "configuration", saying: name)
            }
        }
    }

    @Test("names a certificate that must be renewed, or cannot be read")
    func certificate() async throws {
        try await withSite { site in
            // Valid for a day.
            try await CertificateFiles.with(try ServerCertificate()) { files in
                let own = ["STOREHOOK_TLS_CERTIFICATE": files.certificateFile, "STOREHOOK_TLS_KEY": files.keyFile]
                expect(try await faults(site, own), only: "certificate", saying: "renew it", files.certificateFile)
            }
            let gone = ["STOREHOOK_TLS_CERTIFICATE": "/no/such/file", "STOREHOOK_TLS_KEY": "/no/such/file"]
            expect(try await faults(site, gone), only: "certificate", saying: "cannot read /no/such/file")
        }
    }

    @Test("names the session that pins the vacuum horizon")
    func horizon() async throws {
        try await withSite { site in
            let held = try await HeldTransaction(
                in: site.database, "select pg_current_xact_id()::text, set_config('application_name', 'sleeper', false)"
            )
            try await eventually("the transaction is more than a second old") {
                try await site.value(
                    """
                    select coalesce(bool_or(now() - xact_start > interval '1 s'), false) from pg_stat_activity
                     where application_name = 'sleeper' and datname = current_database()
                    """, as: Bool.self)
            }
            let pid = try await site.value(
                "select pid from pg_stat_activity where application_name = 'sleeper' and datname = current_database()",
                as: Int32.self)
            expect(
                try await faults(site, [:], ["--transaction-age", "1"]), only: "vacuum horizon", saying: "sleeper",
                "pg_terminate_backend(\(pid))")
            let patient = try await faults(site, [:], ["--transaction-age", "3600"])
            #expect(patient.isEmpty, "\(patient)")
            try await held.release()
        }
    }

    @Test("names who has taken the port, unless it is a receiver")
    func port() async throws {
        try await withSite { site in
            let (socket, port) = try TCPSocket.listening(port: 0)
            let found = try await faults(site, port: port)
            socket.close()
            expect(
                found, only: "port", saying: "\(port), which is taken by", "--port",
                "process \(ProcessInfo.processInfo.processIdentifier)")
            try await site.with(["receive", "--port", "0"]) { receiver in
                let found = try await faults(site, port: receiver.port)
                #expect(found.isEmpty, "\(found)")
            }
        }
    }

    @Test("names a date style that is not ISO, and headers that stored bytes name and the database lacks")
    func misreadable() async throws {
        try await withSite { site in
            expect(
                try await faults(site, ["DATABASE_URL": url(site, "options=-c%20datestyle%3DSQL,DMY")]),
                only: "date style", saying: "SQL, DMY")
            let body = Array(site.authority.sign("{}").utf8)
            try await site.outbox.keepHeaders(of: [body])
            try await site.outbox.store([body])
            #expect(try await faults(site).isEmpty)
            try await site.pool.query("delete from storehook.signature_headers")
            expect(try await faults(site), only: "evidence", saying: "1 headers are missing")
        }
    }

    @Test("names a synchronous standby that is away or too slow a deadline for it, and hosts that take no writes")
    func replication() async throws {
        try await withSite { site in
            try await PrivateServer.with { primary in
                func found(_ url: String, _ check: String) async throws -> String? {
                    try await faults(site, ["DATABASE_URL": url])[check]
                }
                #expect(try await found(primary.url, "replication") == nil)
                // Nor does the doctor take its word for it, where sessions do not wait unless they are told to. Set before commits wait.
                try await primary.run("alter database postgres set synchronous_commit = off")
                try await primary.set("synchronous_standby_names", "standby")
                #expect(
                    try await found(primary.url, "replication")?.contains("synchronous_commit is off, which holds")
                        == true)
                try await primary.run("alter database postgres reset synchronous_commit")
                #expect(try await found(primary.url, "replication")?.contains("none of them is connected") == true)
                try await primary.withStandby { standby in
                    try await eventually("the standby is synchronous") {
                        try await primary.run("select sync_state from pg_stat_replication") == ["sync"]
                    }
                    #expect(try await found(primary.url, "replication") == nil)
                    try await primary.set("statement_timeout", "2s")
                    #expect(try await found(primary.url, "replication")?.contains("statement_timeout") == true)
                    let both = "postgresql://storehook@127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)/postgres"
                    #expect(try await found(both, "hosts") == nil)
                    #expect(
                        try await found(both + "?target_session_attrs=any", "hosts")?
                            .contains("target_session_attrs=any") == true)
                    #expect(try await found(standby.url, "hosts")?.contains("no host takes writes") == true)
                }
                let gone = "postgresql://storehook@127.0.0.1:1,127.0.0.1:\(primary.port)/postgres"
                #expect(try await found(gone, "hosts")?.contains("cannot be reached") == true)
            }
        }
    }

    @Test("names what has been left undone: overdue notifications, dead letters, partitions")
    func undone() async throws {
        try await withSite { site in
            try await site.pool.withTransaction { session in
                try session.executeScript(
                    """
                    insert into storehook.outbox_queue (id, received_at, due_at)
                    values (1, now() - interval '10 min', now() - interval '10 min');
                    insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                    values (2, now(), 'unverified', 'untrusted_root', 'x', 1);
                    do $$ declare name text; begin
                        for name in select inhrelid::regclass::text from pg_inherits
                                     where inhparent = 'storehook.outbox'::regclass
                                       and inhrelid <> 'storehook.outbox_default'::regclass loop
                            execute 'drop table ' || name;
                        end loop;
                    end $$;
                    """)
            }
            let found = try await faults(site)
            #expect(Set(found.keys) == ["queue", "dead letters", "partitions", "evidence"], "\(found)")
            #expect(found["queue"]?.contains("storehook work") == true)
            #expect(found["evidence"]?.contains("1 rows of the queue are without their bytes") == true)
            #expect(found["dead letters"]?.contains("1 untrusted_root") == true)
            #expect(found["partitions"]?.contains("storehook maintain") == true)
            _ = try await site.run("maintain")
            #expect(try await Set(faults(site).keys) == ["queue", "dead letters", "evidence"])
        }
    }

    @Test("names what the database refuses, and who is in the way")
    func refusals() async throws {
        try await withSite { site in
            try await site.pool.withTransaction { session in
                try session.executeScript(
                    """
                    insert into storehook.outbox (id, body) values (nextval('storehook.outbox_id'), 'x');
                    insert into storehook.outbox_queue (id, received_at, due_at, last_reason, refused_at)
                    select id, received_at, now() + interval '1 min', 'sqlstate_23514', now() - interval '5 min' from storehook.outbox;
                    insert into storehook.refusals (reason, table_name, constraint_name, message, last_id)
                    values ('sqlstate_23514', 'storehook.notifications', 'no_sandbox', 'ERROR: new row violates it', 1);
                    """)
            }
            expect(
                try await faults(site), only: "refusals",
                saying: "1 for 5 min, sqlstate_23514 at storehook.notifications, no_sandbox: ERROR: new row violates it"
            )
            try await site.pool.query("update storehook.outbox_queue set refused_at = null")
            #expect(try await faults(site).isEmpty)
        }
    }

    @Test("names what is told late, and events that no reader sees")
    func telling() async throws {
        try await withSite { site in
            try await site.pool.query(
                """
                insert into storehook.purchase_tellings (original_transaction_id, bundle_id, environment, due_at)
                values ('1', 'com.example.storehook', 'Production', now() - interval '4 min')
                """)
            #expect(try await faults(site).isEmpty)
            try await site.pool.query("update storehook.purchase_tellings set due_at = now() - interval '6 min'")
            expect(try await faults(site), only: "events", saying: "6 min", "StorehookTellingBehind")
            try await site.pool.query("update storehook.purchase_tellings set due_at = null")
            try await site.pool.query(
                "insert into storehook.events_unplaced (id, told_at) select n, now() from generate_series(1, 100001) n")
            expect(try await faults(site), only: "events", saying: "100001 events have no place")
        }
    }
}
