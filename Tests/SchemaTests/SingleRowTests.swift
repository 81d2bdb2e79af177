import Postgres
import Schema
import TestSupport
import Testing

/// What the planner knows of a new database, in which nothing was analyzed yet.
struct SingleRowTests {
    @Test func `A table of one row is planned as one`() async throws {
        try await withSchema { connection, _ in
            // Tables with a primary key that is always true.
            let tables = try await connection.query(
                """
                select c.oid::regclass::text as name, c.reltuples::bigint as rows
                  from pg_class c
                  join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnatts = 1
                  join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] and a.atttypid = 'boolean'::regtype
                 where c.relnamespace = 'storehook'::regnamespace
                """)
            var counted = 0
            for table in tables {
                let name: String = try table.decode("name")
                guard try await connection.value("select count(*) from \(unescaped: name)", as: Int64.self) == 1 else {
                    continue
                }
                counted += 1
                #expect(try table.decode("rows", as: Int64.self) == 1, "\(name)")
            }
            #expect(counted >= 6)
        }
    }
}
