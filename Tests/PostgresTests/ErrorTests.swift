import Postgres
import TestSupport
import Testing

@Suite("An error")
struct ErrorTests {
    @Test("of the server names operation, code and objects, and repeats no value")
    func carriesNoValues() async throws {
        try await withConnection { connection in
            try await connection.query(
                "create table accounts (id bigint, owner text constraint owner_once unique check (owner <> 'evil-value'))"
            )
            let secret = "secret-value"
            try await connection.query("insert into accounts values (1, \(secret))")
            let unique = try #require(
                await failure {
                    try await connection.query(
                        PostgresQuery("accounts.add", "insert into accounts values (2, \(secret))"))
                })
            #expect(unique.sqlState == .uniqueViolation)
            #expect(unique.kind == .server(.uniqueViolation))
            #expect(unique.constraint == "owner_once")
            #expect(unique.table == "public.accounts")
            #expect("\(unique)".hasPrefix("accounts.add: ERROR: duplicate key"))
            #expect(!"\(unique)".contains("secret"))

            // These repeat the value in the message itself, not only in DETAIL.
            let cast = try #require(await failure { try await connection.query("select \(secret)::int8") })
            #expect(cast.sqlState == "22P02")
            #expect(!"\(cast)".contains("secret"))
            #expect(!String(reflecting: cast).contains("secret"))
            let raised = try #require(
                await failure {
                    try await connection.withTransaction { session in
                        try session.executeScript("do $$ begin raise exception 'it was secret-value'; end $$")
                    }
                })
            #expect(raised.sqlState == "P0001")
            #expect(!String(reflecting: raised).contains("secret"))

            let check = try #require(
                await failure { try await connection.query("insert into accounts values (3, \("evil-value"))") })
            #expect(check.sqlState == .checkViolation)
            #expect(!String(reflecting: check).contains("evil-value"))
        }
    }

    @Test("in a script tells where")
    func position() async throws {
        try await withConnection { connection in
            let error = await failure {
                try await connection.withTransaction { session in
                    try session.executeScript("select 1; selekt 2", name: "migration 1")
                }
            }
            #expect(error?.position == 11)
            #expect(error?.operation == "migration 1")
        }
    }

    @Test("is transient by its SQLSTATE's class, after Appendix A of PostgreSQL's manual")
    func transience() {
        let transient: [SQLState] = [
            "08006", "08P01", "40001", "40P01", "53100", "53200", "53300", "55P03", "55006", "57014", "57P01", "57P02",
            "57P03", "57P05", "58000", "58030", "25006", "25P03", "72000",
        ]
        let permanent: [SQLState] = [
            "22001", "22021", "22P02", "23502", "23505", "23514", "25P02", "42501", "42601", "42P01", "57P04", "0A000",
            "P0001", "XX000", "XX001", "28P01", "3D000", "54000",
        ]
        for state in transient { #expect(PostgresError(.server(state), "").isTransient, "\(state)") }
        for state in permanent { #expect(!PostgresError(.server(state), "").isTransient, "\(state)") }
        #expect(PostgresError(.connection, "", sqlState: "28P01").isTransient)
        #expect(PostgresError(.timeout, "").isTransient)
        #expect(PostgresError(.cancelled, "").isTransient)
        #expect(!PostgresError(.decoding, "").isTransient)
        #expect(!PostgresError(.configuration, "").isTransient)
        #expect(!PostgresError(.unsupported, "").isTransient)
    }

    @Test("is transient where a partition is made for a row that is on its way to another one")
    func partition() async throws {
        try await withTestDatabase { database in
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            for statement: PostgresQuery in [
                "create table days (day int check (day < 9)) partition by range (day)",
                "create table days_default partition of days default", "create table days_1 (like days including all)",
            ] {
                try await connection.query(statement)
            }
            let attaching = try await HeldTransaction(
                in: database, "alter table days attach partition days_1 for values from (1) to (2)")
            async let refused = failure { try await connection.query("insert into days values (1)") }
            let observer = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            try await eventually("it waits") {
                try await !observer.query(
                    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into days%'"
                ).isEmpty
            }
            try await attaching.release()
            let error = try #require(await refused)
            #expect(error.sqlState == .checkViolation && error.isTransient)
            try await connection.query("insert into days values (1)")
            // What it checks by itself stays as it is.
            let checked = await failure { try await connection.query("insert into days values (9)") }
            #expect(checked?.sqlState == .checkViolation && checked?.isTransient == false)
            await connection.close()
            await observer.close()
        }
    }

    @Test("about COPY is clear, and nothing hangs")
    func copy() async throws {
        for statement in ["copy (select 1) to stdout", "copy pg_temp.t from stdin"] {
            try await withConnection { connection in
                let error = await failure {
                    try await connection.withTransaction { session in
                        try session.executeScript("create temp table t (a int)")
                        try session.query(PostgresQuery(unescaped: statement))
                    }
                }
                #expect(error?.kind == .unsupported)
                #expect(error?.message.contains("COPY") == true)
            }
        }
    }

    @Test("of a refused connection tells the server's code and never the password")
    func refusedConnection() async throws {
        try await withTestDatabase { database in
            let configuration = database.configuration.withDatabase("nowhere_at_all")
            let error = await failure {
                _ = try await PostgresConnection.connect(to: configuration, logger: quiet)
            }
            #expect(error?.kind == .connection)
            #expect(error?.sqlState == "3D000")
        }
        // Port 1 on this host: no server listens there.
        let configuration = try PostgresConfiguration(url: "postgresql://me:hunter2@127.0.0.1:1/db")
        let error = try #require(
            await failure { _ = try await PostgresConnection.connect(to: configuration, logger: quiet) })
        #expect(error.kind == .connection)
        #expect("\(error)".contains("127.0.0.1"))
        #expect(!String(reflecting: error).contains("hunter2"))
    }
}
