import Postgres

/// What became of an endpoint's deliveries in the last 24 hours.
package struct RecentDeliveries: Sendable, Hashable {
    /// How many arrived.
    package var delivered: Int64
    /// How many were given up.
    package var dead: Int64
    /// Whether there are more than were looked through.
    package var isMore: Bool

    /// How many of them arrived, in thousandths of a percent; nil without any.
    package var share: Int64? {
        let all = delivered + dead
        return all == 0 ? nil : delivered * 100_000 / all
    }
}

extension EndpointStore {
    /// How many deliveries of all endpoints are looked through, the latest first.
    private static let mostRecent: Int64 = 20_000

    /// What became of an endpoint's deliveries in the last 24 hours.
    /// - Throws: `PostgresError`.
    package func recent(of endpointID: Int64) async throws -> RecentDeliveries {
        let row = try await pool.query(
            PostgresQuery(
                "delivery.recent",
                """
                select count(*) filter (where d.endpoint_id = \(endpointID) and d.outcome = 'delivered') as delivered,
                       count(*) filter (where d.endpoint_id = \(endpointID) and d.outcome = 'dead') as dead,
                       count(*) > \(Self.mostRecent) as is_more
                  from (select endpoint_id, outcome, ended_at from storehook.deliveries
                         order by id desc limit \(Self.mostRecent + 1)) d
                 where d.ended_at > now() - interval '24 hours'
                """)
        ).one()
        return RecentDeliveries(
            delivered: try row.decode("delivered"), dead: try row.decode("dead"), isMore: try row.decode("is_more"))
    }
}
