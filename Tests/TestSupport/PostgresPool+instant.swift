public import Postgres

extension PostgresPool {
    /// Makes time stand still in its database, at the instant of ``setInstant(_:)``: `now()`, `statement_timestamp()` and
    /// `clock_timestamp()` are that instant there, for every statement of the program, its functions and its views. Months pass
    /// by a few statements.
    ///
    /// To be called before anything else is asked there: plans that were made before know nothing of it. The planner puts these
    /// bodies in the place of the calls; nothing but this database's copy of the catalog changes.
    public func stopTime(at millisecondsSince1970: Int64) async throws {
        for statement: PostgresQuery in [
            "create schema test_clock",
            "create table test_clock.instant (at timestamptz not null)",
            "insert into test_clock.instant values (to_timestamp(\(millisecondsSince1970)::bigint / 1000.0))",
            """
            create function test_clock.now() returns timestamptz language sql stable parallel safe
                as 'select at from test_clock.instant'
            """,
            """
            create or replace function pg_catalog.now() returns timestamptz language sql stable parallel safe
                as 'select test_clock.now()'
            """,
            """
            create or replace function pg_catalog.statement_timestamp() returns timestamptz language sql stable parallel safe
                as 'select test_clock.now()'
            """,
            """
            create or replace function pg_catalog.clock_timestamp() returns timestamptz language sql volatile parallel safe
                as 'select test_clock.now()'
            """,
        ] { try await query(statement) }
    }

    /// Puts the time of its database to an instant.
    public func setInstant(_ millisecondsSince1970: Int64) async throws {
        try await query(
            "update test_clock.instant set at = to_timestamp(\(millisecondsSince1970)::bigint / 1000.0)")
    }
}
