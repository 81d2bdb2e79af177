package import Base
import Postgres

extension OverviewStore {
    /// The row that was the latest at an instant: a row of five seconds within the last hour, else one of five minutes within the last day.
    /// None before the ring begins.
    /// - Parameter instant: nil for now.
    /// - Throws: `PostgresError`.
    package func latest(at instant: Timestamp?) async throws -> Latest {
        guard let instant else { return try await latest() }
        let then = PostgresTimestamp.end(of: instant)
        let row = try await pool.query(
            PostgresQuery(
                "overview.then",
                """
                select clock_timestamp() as clock, (select min(b.at) from storehook.overview_ring b) as begins,
                       \(unescaped: PostgresQuery.overviewColumns)
                  from (select) one
                  left join lateral (
                    select * from storehook.overview_ring o where o.at <= \(then) order by o.at desc, o.seconds limit 1) r on true
                """)
        ).one()
        let hasSample = try row.decode("at", as: PostgresTimestamp?.self) != nil
        return Latest(
            now: try row.decode("clock"), sample: hasSample ? try OverviewSample(row) : nil, jobs: [],
            members: [:], instant: then, begins: try row.decode("begins"))
    }
}
