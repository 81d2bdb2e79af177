import Postgres
import Schema
import TestSupport
import Testing

@Suite("The right to delete what was bought once")
struct MovedPurchaseRightTests {
    private struct RollBack: Error {}

    @Test("is granted by the migration to roles that may delete subscriptions, and to no others")
    func granted() async throws {
        let migration = try #require(Schema.migrations.first { $0.name == "moved_purchases" })
        try await withSchema { connection, _ in
            _ = await #expect(throws: RollBack.self) {
                try await connection.withTransaction { session in
                    for statement in [
                        "create role \"may delete\"", "create role \"may read\"",
                        "grant delete on storehook.subscriptions to \"may delete\"",
                        "grant select, update on storehook.subscriptions to \"may read\"", migration.sql,
                    ] {
                        try session.query(PostgresQuery("test.statement", unescaped: statement))
                    }
                    let rights = try session.query(
                        """
                        select r.rolname from pg_roles r
                         where r.rolname like 'may %'
                           and has_table_privilege(r.rolname, 'storehook.one_time_purchases', 'DELETE')
                        """
                    ).map { try $0.decode(0, as: String.self) }
                    #expect(rights == ["may delete"])
                    throw RollBack()
                }
            }
        }
    }
}
