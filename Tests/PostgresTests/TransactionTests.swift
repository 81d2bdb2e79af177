import Postgres
import Synchronization
import TestSupport
import Testing

@Suite("A transaction")
struct TransactionTests {
    struct Refused: Error {}

    @Test("commits what its body did and hands out the body's value")
    func commits() async throws {
        try await withConnection { connection in
            try await connection.query("create table things (id bigint primary key)")
            let inserted = try await connection.withTransaction { session in
                try session.query("insert into things values (\(1)), (\(2))").affectedRows
            }
            #expect(inserted == 2)
            let count = try await connection.query("select count(*) from things")
            #expect(try count[0].decode(0, as: Int.self) == 2)
        }
    }

    @Test("whose body throws leaves nothing, and the body's error comes out")
    func rollsBack() async throws {
        try await withConnection { connection in
            try await connection.query("create table things (id bigint primary key)")
            await #expect(throws: Refused.self) {
                try await connection.withTransaction { session in
                    try session.query("insert into things values (\(1))")
                    throw Refused()
                }
            }
            #expect(try await connection.query("select id from things").isEmpty)
        }
    }

    @Test("whose body swallows a statement's error does not pretend to have committed")
    func swallowedError() async throws {
        try await withConnection { connection in
            try await connection.query("create table things (id bigint primary key)")
            let error = await failure {
                try await connection.withTransaction { session in
                    try session.query("insert into things values (\(1))")
                    _ = try? session.query("select * from nowhere")
                }
            }
            #expect(error?.sqlState == .inFailedTransaction)
            #expect(error?.mayHaveCommitted == false)
            #expect(try await connection.query("select id from things").isEmpty)
        }
    }

    @Test("that fails only at its COMMIT is an error: a deferred constraint")
    func deferredConstraint() async throws {
        try await withConnection { connection in
            try await connection.query(
                "create table things (id bigint constraint once unique deferrable initially deferred)")
            let error = await failure {
                _ = try await connection.withTransaction { session in
                    try session.query("insert into things values (\(1)), (\(1))")
                }
            }
            #expect(error?.sqlState == .uniqueViolation)
            #expect(error?.constraint == "once")
            #expect(try await connection.query("select id from things").isEmpty)
        }
    }

    @Test("has the connection to itself: callers at the same time take turns")
    func serializesCallers() async throws {
        try await withConnection { connection in
            try await connection.query("create table counter (value bigint not null)")
            try await connection.query("insert into counter values (0)")
            // With transactions mixed up on one connection the reads below would go back on themselves.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await connection.withTransaction { session in
                            let value = try session.query("select value from counter")[0].decode(0, as: Int.self)
                            try session.query("update counter set value = \(value + 1)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let value = try await connection.query("select value from counter")
            #expect(try value[0].decode(0, as: Int.self) == 40)
        }
    }

    @Test("takes isolation and access mode from its options, and leaves no setting behind")
    func options() async throws {
        try await withConnection { connection in
            let settings = """
                select current_setting('transaction_isolation'), current_setting('transaction_read_only')
                """
            let options = TransactionOptions(isolation: .serializable, isReadOnly: true)
            let inside = try await connection.withTransaction(options) { session in
                try session.query(PostgresQuery(unescaped: settings))[0].values(String.self, String.self)
            }
            #expect(inside == ("serializable", "on"))
            let after = try await connection.query(PostgresQuery(unescaped: settings))[0]
                .values(String.self, String.self)
            #expect(after == ("read committed", "off"))
        }
    }

    @Test("cannot be begun by a statement of its own: the connection would keep it open for the next caller")
    func strayBegin() async throws {
        try await withConnection { connection in
            let error = await failure { try await connection.query("begin") }
            #expect(error?.kind == .unsupported)
            #expect(!connection.isUsable)
        }
    }

    @Test("runs scripts of several statements, and refuses one that ends the transaction")
    func scripts() async throws {
        try await withConnection { connection in
            try await connection.withTransaction { session in
                try session.executeScript("create table a (id int); create table b (id int); insert into a values (1)")
            }
            #expect(try await connection.query("select id from a").count == 1)
            let error = await failure {
                try await connection.withTransaction { session in
                    try session.executeScript("insert into a values (2); commit; insert into a values (3)")
                }
            }
            #expect(error?.kind == .unsupported)
        }
    }

    @Test("that lost its connection rolls back, runs its body once, and says that nothing was committed")
    func lostConnection() async throws {
        try await withTestDatabase { database in
            let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
            try await pool.query("create table things (id bigint)")
            let runs = Atomic(0)
            let error = await failure {
                _ = try await pool.withTransaction { session in
                    runs.add(1, ordering: .relaxed)
                    try session.query("insert into things values (\(1))")
                    _ = try? session.query("select pg_terminate_backend(pg_backend_pid())")
                    try session.query("insert into things values (\(2))")
                }
            }
            #expect(error?.kind == .connection)
            #expect(error?.mayHaveCommitted == false)
            #expect(error?.isTransient == true)
            #expect(runs.load(ordering: .relaxed) == 1)
            #expect(try await pool.query("select id from things").isEmpty)
            await pool.close()
        }
    }
}
