import Postgres
import TestSupport
import Testing

@Suite("While all tables are published, for a copy of the data or an upgrade")
struct ReplicaIdentityTests {
    private static let tables: PostgresQuery = """
        select c.relname::text from pg_class c
         where c.relnamespace = 'storehook'::regnamespace and c.relkind in ('r', 'p') order by 1
        """

    @Test("every table has a primary key or a replica identity, partitions that are made later too")
    func catalog() async throws {
        try await withSchema { connection, _ in
            try await connection.query(
                "select storehook.ensure_outbox_partitions(3), storehook.ensure_event_partitions(3)")
            let without = try await connection.query(
                """
                select c.relname::text from pg_class c
                 where c.relnamespace = 'storehook'::regnamespace and c.relkind in ('r', 'p')
                   and case c.relreplident
                            when 'f' then false
                            when 'd' then not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
                            when 'i' then not exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident)
                            else true
                       end
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(without == [])
            #expect(try await connection.query(Self.tables).count > 80)
        }
    }

    @Test("no update and no delete is refused, in any table")
    func published() async throws {
        try await withSchema { connection, _ in
            try await connection.query(
                "select storehook.ensure_outbox_partitions(1), storehook.ensure_event_partitions(1)")
            // A publication can be made without wal_level: PostgreSQL warns, and refuses all the same.
            try await connection.query("create publication everything for all tables")
            // Since 18 PostgreSQL refuses to change a row whose key has a generated column that is not published. Rows of this table are
            // never changed, and a subscriber computes the digest anew.
            let names = try await connection.query(Self.tables).map { try $0.decode(0, as: String.self) }
                .filter { $0 != "signature_headers" }
            func refused() async throws -> [String] {
                var refused: [String] = []
                for name in names {
                    let column = try await connection.value(
                        "select quote_ident(attname) from pg_attribute where attrelid = \("storehook." + name)::text::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity <> 'a' limit 1",
                        as: String.self)
                    for sql in [
                        "delete from storehook.\(name) where ctid is null",
                        "update storehook.\(name) set \(column) = \(column) where ctid is null",
                    ] where await connection.refusal(of: sql) != nil { refused.append(sql) }
                }
                return refused
            }
            #expect(try await refused() == [])
            // This test sees a table without.
            try await connection.query("alter table storehook.outbox_stored replica identity nothing")
            #expect(try await refused().count == 2)
            try await connection.query("alter table storehook.outbox_stored replica identity full")
            try await connection.query(
                "insert into storehook.outbox_stored (stored_at, rows) values (now() - interval '1 day', 3)")
            #expect(await connection.refusal(of: "select storehook.sum_outbox_stored()") == nil)
            #expect(try await connection.value("select count(*) from storehook.outbox_stored", as: Int64.self) == 0)
        }
    }
}
