import Foundation
import Postgres
import TestSupport
import Testing

/// On a server of their own: users and roles are the whole server's. Its superuser needs no password, and every other user needs one.
@Suite("The files that give rights: sql/roles.sql, deploy/logins.sql, deploy/passwords.sql")
struct RightsFileTests {
    private static let roles = "sql/roles.sql"
    private static let logins = "deploy/logins.sql"
    private static let passwords = "deploy/passwords.sql"

    /// What psql says to these files, and its status.
    private func psql(
        _ server: PrivateServer, _ user: String, _ files: [String], _ environment: [String: String] = [:]
    ) async throws -> Outcome {
        let arguments = files.flatMap { ["-f", packageRoot.appending(path: $0).path] }
        let program = try ChildProgram(
            "/usr/bin/env", ["psql", "-X", "postgresql://\(user):x@127.0.0.1:\(server.port)/managed"] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/tmp"].merging(environment) { $1 })
        let outcome = Outcome(
            ending: await program.end(), output: program.output, errors: program.errors, outputBytes: [])
        await program.discard()
        return outcome
    }

    /// The user cannot do what the files should: one line, with these words, and a status that is not 0.
    private func expectRefusal(
        _ server: PrivateServer, _ user: String, _ files: [String], _ environment: [String: String] = [:],
        _ words: String..., location: SourceLocation = #_sourceLocation
    ) async throws {
        let said = try await psql(server, user, files, environment)
        // What psql says of a script that failed.
        #expect(said.ending == .exited(3), "\(said.errors)", sourceLocation: location)
        let lines = said.errors.split(separator: "\n").filter { !$0.contains("WARNING:  storehook-ops sees no other") }
        #expect(lines.count == 1, "\(said.errors)", sourceLocation: location)
        for word in words { #expect(said.errors.contains(word), "\(said.errors)", sourceLocation: location) }
    }

    private func expectDone(
        _ server: PrivateServer, _ user: String, _ files: [String], _ environment: [String: String] = [:],
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let said = try await psql(server, user, files, environment)
        let lines = said.errors.split(separator: "\n").filter { !$0.contains("WARNING:  storehook-ops sees no other") }
        #expect(said.ending == .exited(0) && lines.isEmpty, "\(said.errors)", sourceLocation: location)
    }

    /// As a managed PostgreSQL gives it: a database, and an owner who may create databases and roles and is no superuser.
    private func withManaged(
        isolation: isolated (any Actor)? = #isolation, _ body: (PrivateServer) async throws -> Void
    ) async throws {
        let access = """
            host all storehook 127.0.0.1/32 trust
            host all all 127.0.0.1/32 scram-sha-256

            """
        try await PrivateServer.with(files: ["pg_hba.conf": access]) { server in
            try await server.run("create role manager login createdb createrole password 'x'")
            try await server.run("create database managed owner manager")
            try await body(server)
        }
    }

    private func migrate(_ server: PrivateServer) async throws {
        _ = try await ChildProgram.run(
            Executable.path, ["migrate"],
            environment: ["DATABASE_URL": "postgresql://manager:x@127.0.0.1:\(server.port)/managed", "HOME": "/tmp"])
    }

    @Test(
        "say in one line what is missing and what to do, and end with an error; what they cannot do whole they do not begin"
    )
    func refusals() async throws {
        try await withManaged { server in
            try await server.run("create role other login createrole password 'x'")
            try await expectRefusal(
                server, "manager", [Self.roles], [:], "managed has no storehook schema", "storehook migrate")
            try await migrate(server)
            try await expectRefusal(
                server, "other", [Self.roles], [:], "other may not give rights on schema storehook",
                "belongs to manager")
            try await server.run("alter role manager nocreaterole")
            try await expectRefusal(
                server, "manager", [Self.roles], [:], "alter role manager createrole",
                "create role storehook_receiver; create role storehook_worker")
            try await server.run("alter role manager createrole")
            try await expectRefusal(server, "manager", [Self.logins], [:], "storehook_receiver", "sql/roles.sql first")
            #expect(try await server.run("select count(*)::text from pg_roles where rolname ~ '^storehook.'") == ["0"])

            try await expectDone(server, "manager", [Self.roles])
            // A user who may read all of it is warned by PostgreSQL alone, where he tries to give rights.
            try await server.run("grant storehook_ops to other")
            try await expectRefusal(server, "other", [Self.roles], [:], "belongs to manager")
            try await server.run("alter role manager nocreaterole")
            try await expectDone(server, "manager", [Self.roles])
            try await expectRefusal(server, "manager", [Self.logins], [:], "alter role manager createrole")
            try await server.run("alter role manager createrole")
            let all = [
                "RECEIVER_PASSWORD": "it's \\ 1", "WORKER_PASSWORD": "2", "OPS_PASSWORD": "3", "API_PASSWORD": "4",
                "CONSOLE_PASSWORD": "5",
            ]
            try await expectRefusal(server, "manager", [Self.passwords], all, "deploy/logins.sql first")
            let files = [Self.roles, Self.logins, Self.passwords]
            try await expectRefusal(
                server, "manager", files, all.merging(["OPS_PASSWORD": ""]) { $1 }.filter { $0.key != "API_PASSWORD" },
                "psql: OPS_PASSWORD API_PASSWORD; export")
            try await expectDone(server, "manager", files, all)
            let users = "select count(*)::text from pg_authid where rolname ~ '^storehook-' and rolpassword ~ '^SCRAM'"
            #expect(try await server.run("\(unescaped: users)") == ["5"])
            // Who may not change them takes none away.
            try await server.run("create role poor login password 'x'")
            try await expectRefusal(
                server, "poor", [Self.passwords], all, "poor may not change the password of storehook-receiver")
            #expect(try await server.run("\(unescaped: users)") == ["5"])
        }
    }

    @Test("are what a program's error names where the server refuses a password, a missing one, or the database")
    func refusedLogins() async throws {
        try await withManaged { server in
            try await server.run("create role alice login password 'x'")
            try await server.run("revoke connect on database managed from public")
            let place = "127.0.0.1:\(server.port)/managed"
            for (url, words) in [
                ("postgresql://manager:wrong@\(place)", "correct the password in DATABASE_URL or ~/.pgpass"),
                ("postgresql://manager@\(place)", "put it into DATABASE_URL or ~/.pgpass"),
                ("postgresql://alice:x@\(place)", #"may not connect to database "managed"; run deploy/logins.sql"#),
            ] {
                let program = try ChildProgram(
                    Executable.path, ["queue"], environment: ["DATABASE_URL": url, "HOME": "/tmp", "PATH": "/usr/bin"])
                #expect(await program.end() == .exited(1))
                #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
                #expect(program.errors.contains(words), "\(program.errors)")
                #expect(!program.errors.contains("is the server running"), "\(program.errors)")
                await program.discard()
            }
        }
    }

    @Test("name what is not of their release, and leave the rights as they were")
    func otherRelease() async throws {
        try await withManaged { server in
            try await migrate(server)
            try await expectDone(server, "manager", [Self.roles])
            let said = try await psql(server, "manager", [])
            #expect(said.ending == .exited(0))
            let older = FileManager.default.temporaryDirectory.appending(path: "older-\(UUID().uuidString).sql")
            try Data("alter function storehook.note_old_post() rename to another;".utf8).write(to: older)
            defer { try? FileManager.default.removeItem(at: older) }
            _ = try await ChildProgram.run(
                "/usr/bin/env",
                [
                    "psql", "-qX", "-v", "ON_ERROR_STOP=1", "postgresql://manager:x@127.0.0.1:\(server.port)/managed",
                    "-f", older.path,
                ])
            try await expectRefusal(
                server, "manager", [Self.roles], [:], "another release", "note_old_post", "storehook migrate")
            let kept = try await ChildProgram.run(
                "/usr/bin/env",
                [
                    "psql", "-qAtX", "postgresql://manager:x@127.0.0.1:\(server.port)/managed", "-c",
                    "select has_function_privilege('storehook_receiver', 'storehook.another()', 'execute')",
                ])
            #expect(kept == "t\n")
        }
    }

    @Test(
        "say what a superuser types where somebody else made the roles, which since PostgreSQL 16 an owner may not grant"
    )
    func foreignRoles() async throws {
        try await withManaged { server in
            for role in ["receiver", "worker", "ops", "monitor", "api", "bi", "console"] {
                try await server.run("create role \(unescaped: "storehook_\(role)")")
            }
            try await migrate(server)
            let version = try await server.run("select current_setting('server_version_num')")
            guard (version[0].flatMap { Int($0) } ?? 0) >= 160_000 else {
                return try await expectDone(server, "manager", [Self.roles, Self.logins])
            }
            try await expectRefusal(
                server, "manager", [Self.roles], [:], "grant storehook_worker to manager with admin option")
            try await server.run("grant storehook_worker to manager with admin option")
            try await expectDone(server, "manager", [Self.roles])
            let granted = "storehook_receiver, storehook_worker, storehook_ops, storehook_api, storehook_console"
            try await expectRefusal(
                server, "manager", [Self.logins], [:], "grant \(granted) to manager with admin option")
            try await server.run("grant \(unescaped: granted) to manager with admin option")
            try await expectDone(server, "manager", [Self.logins])
        }
    }

    @Test("are what the README says to type, up to a receiver and a worker that run with users of their own")
    func readme() async throws {
        let block = try #require(Document("README.md").blocks.first { $0.lines.contains { $0.contains(Self.roles) } })
        let folder = FileManager.default.temporaryDirectory.appending(path: "storehook-first-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["sql", "deploy"] {
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: name), withDestinationURL: packageRoot.appending(path: name))
        }
        try await withManaged { server in
            let port = try freePort()
            let typed = block.lines.joined(separator: "\n")
                .replacing("db.example.com/storehook", with: "127.0.0.1:\(server.port)/managed")
                .replacing("storehook@$", with: "manager@$").replacing("PGPASSWORD=PASSWORD", with: "PGPASSWORD=x")
                .replacing("8080", with: "\(port)")
            #expect(typed.ranges(of: "127.0.0.1:").count == 1 && typed.ranges(of: " \(port) ").count == 1, "\(typed)")
            let programs = URL(fileURLWithPath: Executable.path).deletingLastPathComponent().path
            let terminal = try ChildProgram(
                "/bin/bash", ["-uc", "trap 'kill $(jobs -p)' TERM\ncd '\(folder.path)'\n\(typed)\nwait"],
                environment: ["PATH": "\(programs):/usr/bin:/bin", "HOME": folder.path])
            func end() async {
                terminal.signal(SIGTERM)
                await terminal.end()
                await terminal.discard()
            }
            do {
                try await eventually("the receiver answers") {
                    if let ending = terminal.ending { throw NeverHappened("it goes on: \(ending) \(terminal.errors)") }
                    return (try? await fetch("http://127.0.0.1:\(port)/healthz").status) == 200
                }
                try await eventually("both are at the database, each as itself") {
                    try await server.run(
                        """
                        select count(distinct usename)::text from pg_stat_activity
                         where usename in ('storehook-receiver', 'storehook-worker')
                        """) == ["2"]
                }
            } catch {
                print("what the terminal said:\n\(terminal.output)\n\(terminal.errors)")
                await end()
                throw error
            }
            #expect(terminal.output.contains("storehook-ops may be ops"), "\(terminal.output)")
            await end()
        }
    }
}
