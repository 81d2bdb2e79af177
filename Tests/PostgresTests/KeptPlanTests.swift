import Postgres
import TestSupport
import Testing

@Suite("A statement that keeps its plan")
struct KeptPlanTests {
    private func double(_ number: Int64) -> PostgresQuery {
        PostgresQuery("test.double", "select 2 * \(number)").keepingPlan()
    }

    private static let kept: PostgresQuery =
        "select count(*), coalesce(sum(generic_plans + custom_plans), 0)::bigint from pg_prepared_statements"

    @Test("is made once by a connection, and used with other values")
    func once() async throws {
        try await withConnection { connection in
            for number in 1...7 {
                let answer: Int64 = try await connection.query(double(Int64(number))).one().decode(0)
                #expect(answer == Int64(2 * number))
            }
            try await connection.withTransaction { session in
                let answer: Int64 = try session.query(double(21)).one().decode(0)
                #expect(answer == 42)
            }
            let row = try await connection.query(Self.kept).one()
            let (statements, uses): (Int64, Int64) = (try row.decode(0), try row.decode(1))
            #expect(statements == 1 && uses == 8)
        }
    }

    @Test("is never planned for its values in a transaction whose statements all keep theirs, and only in that one")
    func general() async throws {
        try await withConnection { connection in
            try await connection.query("create table things (a bigint primary key)")
            try await connection.query("insert into things select generate_series(1, 10000)")
            try await connection.query("analyze things")
            for number in 1...8 {
                try await connection.withTransaction(TransactionOptions(keepsPlans: true)) { session in
                    let wanted: PostgresQuery =
                        "select count(*) from unnest(\([Int64(number)])) as wanted (a) join things using (a)"
                    let found: Int64 = try session.query(wanted).one().decode(0)
                    #expect(found == 1)
                }
            }
            let row = try await connection.query(
                """
                select sum(custom_plans)::bigint, sum(generic_plans)::bigint, current_setting('plan_cache_mode')
                  from pg_prepared_statements where statement like '%things%'
                """
            ).one()
            let (custom, generic, mode) = try row.values(Int64.self, Int64.self, String.self)
            #expect(custom == 0 && generic == 8 && mode == "auto")
        }
    }

    @Test(
        "is answered as if planned anew after its table was changed or its plan discarded, and begins anew in a transaction"
    )
    func changed() async throws {
        try await withConnection { connection in
            let all = PostgresQuery("test.all", "select * from things").keepingPlan()
            try await connection.query("create table things (a bigint)")
            try await connection.query("insert into things values (1)")
            #expect(try await connection.query(all).one().decode("a") as Int64 == 1)
            try await connection.query("alter table things add column b bigint")
            for _ in 1...2 { #expect(try await connection.query(all).one().decode("b") as Int64? == nil) }
            try await connection.query("deallocate all")
            for _ in 1...2 { #expect(try await connection.query(all).one().decode("b") as Int64? == nil) }
            try await connection.query("alter table things add column c bigint")
            let error = await failure {
                try await connection.withTransaction { session in _ = try session.query(all) }
            }
            #expect(error?.isTransient == true && !connection.isUsable)
        }
    }

    @Test("is no trap for its errors, which come out as they are and leave the connection as it was")
    func errors() async throws {
        try await withConnection { connection in
            let wrong = PostgresQuery("test.wrong", "select * from nothing").keepingPlan()
            for _ in 1...2 {
                let error = await failure { try await connection.query(wrong) }
                #expect(error?.sqlState == .undefinedTable && error?.operation == "test.wrong")
            }
            let divide = PostgresQuery("test.divide", "select 1 / \(Int64(0))").keepingPlan()
            for _ in 1...2 {
                let error = await failure { try await connection.query(divide) }
                #expect(error?.sqlState == "22012")
            }
            let answer: Int64 = try await connection.query(double(4)).one().decode(0)
            #expect(answer == 8)
        }
    }

    @Test("is sent whole behind a pooler, whose next statement may be another session's")
    func pooled() async throws {
        try await withTestDatabase { database in
            let pooler = try await TransactionPooler.start(before: database, sessions: 2)
            do {
                let configuration = try PostgresConfiguration(url: pooler.url)
                let pool = PostgresPool(configuration: configuration, size: 8, logger: quiet)
                try await withThrowingTaskGroup { group in
                    for number in 1...200 {
                        group.addTask {
                            let answer: Int64 = try await pool.query(self.double(Int64(number))).one().decode(0)
                            #expect(answer == Int64(2 * number))
                        }
                    }
                    try await group.waitForAll()
                }
                let statements: Int64 = try await pool.query(Self.kept).one().decode(0)
                #expect(statements == 0)
                await pool.close()
                await pooler.stop()
            } catch {
                await pooler.stop()
                throw error
            }
        }
    }
}
