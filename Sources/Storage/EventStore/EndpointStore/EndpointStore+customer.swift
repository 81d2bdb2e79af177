package import Base
import Foundation
import Postgres

extension EndpointStore {
    /// The most deliveries that are returned, and how many of each endpoint that wait are looked through.
    private static let (mostOfCustomer, mostWaiting): (Int64, Int64) = (1000, 200)

    /// Where some events of one account were delivered, each by an index: what waits for other accounts is not looked at.
    /// - Parameters:
    ///   - events: their numbers.
    ///   - environment: in which they are.
    ///   - instant: as they stood then; nil for now.
    /// - Returns: by event and endpoint; the event's kind, account, app and environment are left out.
    /// - Throws: `PostgresError`.
    package func deliveries(
        of events: [Int64], about account: UniqueIdentifier, in environment: String, at instant: Timestamp? = nil
    ) async throws -> [DeliveryRecord] {
        guard !events.isEmpty else { return [] }
        let lane = "\(environment)/\(account)"
        let found = try await pool.query(
            PostgresQuery(
                "delivery.of_customer",
                """
                select x.*, null::text as kind, null::uuid as token, null::text as account,
                       null::text as original_transaction_id, null::text as bundle_id, null::text as environment
                  from ((select d.id, d.endpoint_id, d.event_id, d.told_at, d.sequence, d.outcome, d.attempts, d.status,
                                d.reason, d.ended_at, null::timestamptz as due_at, d.resent_at
                           from storehook.deliveries d
                          where d.event_id = any(\(events)) order by d.id desc limit \(Self.mostOfCustomer))
                         union all
                        select p.id, p.endpoint_id, p.event_id, p.told_at, p.sequence, 'waiting', coalesce(q.attempts, 0),
                               null, q.last_reason, null, q.due_at, null
                          from storehook.endpoints e
                         cross join lateral (
                            select l.id from storehook.delivery_lanes l
                             where l.endpoint_id = e.id and l.subject = \(lane) offset 0) l
                         cross join lateral (
                            select p.id, p.endpoint_id, p.event_id, p.told_at, p.sequence
                              from storehook.deliveries_pending p
                             where p.lane_id = l.id order by p.id desc limit \(Self.mostWaiting)) p
                          left join storehook.delivery_queue q on q.id = l.id
                         where p.event_id = any(\(events))) x
                 order by x.event_id, x.endpoint_id, x.id
                 limit \(Self.mostOfCustomer)
                """)
        ).map { try DeliveryRecord($0) }
        guard let instant else { return found }
        return try await standing(of: found, at: PostgresTimestamp.end(of: instant))
    }
}
