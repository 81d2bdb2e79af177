package import Base
import Postgres

/// What was deleted of deliveries.
package struct DeliveryUpkeep: Sendable, Hashable {
    /// Records of deliveries.
    package var deliveries = 0
    /// Removed endpoints, with all their pending deliveries.
    package var endpoints = 0

    /// Nothing.
    package init() {}
}

/// The state of an endpoint.
package struct EndpointStanding: Sendable, Hashable {
    /// The most that is counted at a glance: see ``EndpointStore/glance(at:)``.
    package static let mostCounted: Int64 = 10_000

    /// The endpoint's number.
    package var endpointID: Int64
    /// Whether it is called.
    package var state: Endpoint.State
    /// Why it is disabled.
    package var reason: String?
    /// Calls that failed since the last one that succeeded.
    package var failures: Int
    /// How the last failed call ended.
    package var lastFailure: String?
    /// Accounts with pending deliveries.
    package var lanes: Int64
    /// Whether there are more than were counted.
    package var hasMoreLanes: Bool
    /// Events that are not fanned out to it yet.
    package var behind: Int64
    /// Dead deliveries that were not put back.
    package var dead: Int64
    /// Whether there are more than were counted.
    package var hasMoreDead: Bool
    /// The age of the oldest pending event; zero where there is none.
    package var oldestAge: Duration

    /// - Parameter bound: the most that was counted; one more stands for more than that.
    init(_ row: PostgresRow, upTo bound: Int64 = .max) throws {
        endpointID = try row.decode("endpoint_id")
        state = try row.decode("state", among: Endpoint.State.self)
        reason = try row.decode("reason")
        failures = Int(try row.decode("failures", as: Int32.self))
        lastFailure = try row.decode("last_failure")
        let (lanes, dead): (Int64, Int64) = (try row.decode("lanes"), try row.decode("dead"))
        (self.lanes, hasMoreLanes) = (min(lanes, bound), lanes > bound)
        behind = try row.decode("behind")
        (self.dead, hasMoreDead) = (min(dead, bound), dead > bound)
        oldestAge = .seconds(max(0, try row.decode("oldest_age_seconds", as: Double.self)))
    }
}

extension EndpointStore: MonitoredStore {
    /// See ``standings()``.
    package static let monitored = "delivery_status"

    /// What waits for each endpoint, and whether it is called.
    package func samples() async throws -> [MetricSample] {
        try await standings().flatMap { standing in
            let endpoint = [(name: "endpoint", value: "\(standing.endpointID)")]
            return [
                MetricSample("storehook_deliveries_oldest_age_seconds", endpoint, standing.oldestAge),
                MetricSample("storehook_deliveries_waiting", endpoint, Double(standing.lanes)),
                MetricSample("storehook_deliveries_dead", endpoint, Double(standing.dead)),
                MetricSample("storehook_endpoint_up", endpoint, standing.state == .enabled ? 1 : 0),
            ]
        }
    }

    /// What a check reads: see ``glance(at:)``.
    package static let glanced = "delivery_glance"

    /// The state of endpoints by reads whose cost has a bound: nothing is counted beyond ``EndpointStanding/mostCounted``.
    /// - Parameter ids: of these, by their numbers; nil for all.
    /// - Throws: `PostgresError`.
    package func glance(at ids: [Int64]? = nil) async throws -> [EndpointStanding] {
        try await pool.query(
            PostgresQuery(
                "delivery.glance",
                """
                select * from storehook.delivery_glance
                 where \(ids)::bigint[] is null or endpoint_id = any (\(ids)) order by endpoint_id
                """)
        ).map { try EndpointStanding($0, upTo: EndpointStanding.mostCounted) }
    }

    /// The state of each endpoint, counted whole: for monitoring.
    package func standings() async throws -> [EndpointStanding] {
        try await pool.query(
            PostgresQuery("delivery.status", "select * from storehook.delivery_status order by endpoint_id")
        ).map { try EndpointStanding($0) }
    }
}

extension EndpointStore {
    /// Deletes the records of deliveries that ended longer ago, what was answered longer ago, and removed endpoints; in portions, so that nothing
    /// waits for long.
    package func dropOld(keeping days: Int) async throws -> DeliveryUpkeep {
        var upkeep = DeliveryUpkeep()
        upkeep.deliveries = try await repeating(
            PostgresQuery(
                "delivery.drop_old",
                """
                delete from storehook.deliveries
                 where ctid = any (array(select ctid from storehook.deliveries
                                          where ended_at < now() - make_interval(days => \(Int32(clamping: days))) limit 10000))
                """))
        _ = try await repeating(
            PostgresQuery(
                "delivery.drop_old_attempts",
                """
                delete from storehook.delivery_attempts
                 where ctid = any (array(select ctid from storehook.delivery_attempts
                                          where attempted_at < now() - make_interval(days => \(Int32(clamping: days))) limit 10000))
                """))
        let removed = try await pool.query(
            PostgresQuery("endpoint.removed", "select id from storehook.endpoints where state = 'removed'")
        ).map { try $0.decode(0, as: Int64.self) }
        for id in removed {
            for (name, table) in [
                ("endpoint.purge_queue", "delivery_queue"), ("endpoint.purge_pending", "deliveries_pending"),
                ("endpoint.purge_lanes", "delivery_lanes"),
            ] {
                _ = try await repeating(
                    PostgresQuery(
                        name,
                        """
                        delete from storehook.\(unescaped: table)
                         where ctid = any (array(select ctid from storehook.\(unescaped: table)
                                                  where endpoint_id = \(id) limit 10000))
                        """))
            }
            try await pool.query(
                PostgresQuery("endpoint.purge", "delete from storehook.endpoints where id = \(id)"))
            upkeep.endpoints += 1
        }
        // A worker that held one of its lanes may have put it back meanwhile.
        for (name, table) in [
            ("endpoint.purge_left_queue", "delivery_queue"), ("endpoint.purge_left_pending", "deliveries_pending"),
        ] {
            _ = try await repeating(
                PostgresQuery(
                    name,
                    """
                    delete from storehook.\(unescaped: table)
                     where ctid = any (array(select q.ctid from storehook.\(unescaped: table) q
                                              where not exists (select from storehook.endpoints e where e.id = q.endpoint_id)
                                              limit 10000))
                    """))
        }
        return upkeep
    }

    private func repeating(_ query: PostgresQuery) async throws -> Int {
        var count = 0
        while true {
            let affected = try await pool.query(query).affectedRows
            count += affected
            if affected == 0 { return count }
        }
    }
}
