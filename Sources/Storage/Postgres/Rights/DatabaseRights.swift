/// Which of the rights that it was asked for the connected user has in schema storehook: one question for all of them.
package struct DatabaseRights: Sendable {
    private let held: Set<DatabaseRight>

    /// Asks for all that these roles need, and for reading these tables and views.
    ///
    /// Read from the catalogues by name, so that it answers also where the user may not even see the schema, and so that no refusal
    /// stands in the server's log.
    /// - Throws: `PostgresError`.
    package init(
        of roles: [DatabaseRole] = [], reading relations: some Sequence<String> = [], on pool: PostgresPool
    ) async throws {
        let wanted = Array(
            roles.reduce(into: Set(relations.map { DatabaseRight(.select, on: $0) })) { $0.formUnion($1.needs) }
                .union([.schemaUsage]))
        let rows = try await pool.query(
            PostgresQuery(
                "rights.survey",
                """
                with schema as (
                    select oid from pg_namespace where nspname = 'storehook'
                ), relation as (
                    select c.oid, c.relname, c.relkind from pg_class c join schema s on c.relnamespace = s.oid
                     where c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
                ), wanted as (
                    select *
                      from unnest(\(wanted.map(\.object)), \(wanted.map { $0.column ?? "" }),
                                  \(wanted.map(\.privilege.rawValue))) with ordinality as n (object, part, privilege, place)
                )
                select n.place from wanted n
                 where coalesce(
                    case when n.object = \(DatabaseRight.schemaUsage.object) then
                             -- Where there is no schema, that is not what is missing.
                             coalesce((select has_schema_privilege(oid, n.privilege) from schema), true)
                         when n.object = \(DatabaseRight.everyRelation) then
                             (select bool_and(has_table_privilege(r.oid, n.privilege)) from relation r where r.relkind <> 'S')
                         when n.privilege = 'execute' then
                             (select bool_and(has_function_privilege(f.oid, n.privilege))
                                from pg_proc f join schema s on f.pronamespace = s.oid where f.proname = n.object)
                         when n.part <> '' then
                             (select bool_and(has_column_privilege(r.oid, a.attnum, n.privilege))
                                from relation r join pg_attribute a on a.attrelid = r.oid
                               where r.relname = n.object and a.attname = n.part)
                         else
                             (select bool_and(case when r.relkind = 'S' then has_sequence_privilege(r.oid, n.privilege)
                                                   else has_table_privilege(r.oid, n.privilege) end)
                                from relation r where r.relname = n.object)
                    end, false)
                """))
        held = try Set(rows.map { wanted[Int(try $0.decode(0, as: Int64.self)) - 1] })
    }

    /// What the user lacks to do a role's part, in an order that stays; the role is among those that were asked for.
    package func lacking(for role: DatabaseRole) -> [DatabaseRight] {
        let missing = role.needs.subtracting(held).sorted {
            ($0.object, $0.privilege.rawValue, $0.column ?? "") < ($1.object, $1.privilege.rawValue, $1.column ?? "")
        }
        return held.contains(.schemaUsage) ? missing : [.schemaUsage] + missing
    }

    /// Whether the user may read a table or view, one of those that were asked for.
    package func mayRead(_ relation: String) -> Bool {
        held.isSuperset(of: [.schemaUsage, DatabaseRight(.select, on: relation)])
    }
}
