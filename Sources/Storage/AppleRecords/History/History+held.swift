import AppStorePayloads
package import Base
import EvidenceStore
import Foundation
import Postgres
package import Subscriptions

extension History {
    /// Which of these are in no place: neither pending nor applied, duplicate, parked, dead or discarded, nor remembered.
    ///
    /// What is pending is looked at before what is recorded, so that one that is settled meanwhile is seen in one of them.
    /// - Throws: ``TooMuchPending``, or `PostgresError`.
    package func missing(_ letters: [HistoryPage.Letter]) async throws -> [HistoryPage.Letter] {
        var missing = try await notHeld(letters)
        guard !missing.isEmpty else { return [] }
        let payloads = Dictionary(missing.map { (PayloadDigest(of: $0.bytes), $0) }) { first, _ in first }
        let pending = try await pending.digests(among: Set(payloads.keys), outbox, pool)
        missing.removeAll { pending.contains(PayloadDigest(of: $0.bytes)) }
        guard !missing.isEmpty else { return [] }
        missing = try await notHeld(missing)
        guard !missing.isEmpty else { return [] }
        let buried = try await buried(missing)
        missing.removeAll { buried.contains($0) }
        return missing
    }

    /// The purchases that are known well enough: those with a transaction at or after the given date, or with any where none is given.
    /// - Parameter purchases: each with the date of the last payment that is known.
    package func held(_ purchases: [PurchaseKey: Timestamp?]) async throws -> Set<PurchaseKey> {
        guard !purchases.isEmpty else { return [] }
        let asked = purchases.sorted { $0.key < $1.key }
        let instants = asked.map { $0.value.map { PostgresTimestamp(millisecondsSince1970: $0.millisecondsSince1970) } }
        return try await Set(
            pool.query(
                PostgresQuery(
                    "history.held_purchases",
                    """
                    select w.environment, w.bundle_id, w.id
                      from unnest(\(asked.map(\.key.environment)), \(asked.map(\.key.bundleID)),
                                  \(asked.map(\.key.originalTransactionID)), \(instants))
                           as w (environment, bundle_id, id, bought_at)
                     where exists (
                           select from storehook.transactions t
                            where t.original_transaction_id = w.id and t.bundle_id = w.bundle_id
                              and t.environment = w.environment
                              and (w.bought_at is null or t.purchased_at >= w.bought_at))
                    """)
            ).map {
                PurchaseKey(
                    environment: try $0.decode(0), bundleID: try $0.decode(1), originalTransactionID: try $0.decode(2))
            })
    }

    private func notHeld(_ letters: [HistoryPage.Letter]) async throws -> [HistoryPage.Letter] {
        guard !letters.isEmpty else { return [] }
        let held = try await Set(
            pool.query(.held(letters.map(\.notificationUUID))).map { try $0.decode(0, as: UUID.self) })
        return letters.filter { !held.contains($0.notificationUUID) }
    }

    static func held(_ uuids: [UUID], _ session: borrowing PostgresSession) throws -> [UUID] {
        try session.query(.held(uuids)).map { try $0.decode(0) }
    }

    /// Which of these are among the dead letters that could not be trusted. A dead letter's own UUID proves nothing, so
    /// its bytes are compared: one that was damaged on its way is still missing.
    private func buried(_ letters: [HistoryPage.Letter]) async throws -> [HistoryPage.Letter] {
        let rows = try await pool.query(
            PostgresQuery(
                "history.unverified_letters",
                """
                select w.uuid, d.outbox_id, d.received_at
                  from unnest(\(letters.map(\.notificationUUID))) as w (uuid)
                 cross join lateral (
                       select outbox_id, received_at from storehook.dead_letters
                        where notification_uuid = w.uuid and category = 'unverified' and kind = 'notification'
                        order by id limit 20) d
                """))
        guard !rows.isEmpty else { return [] }
        let places = try rows.map { row in
            (
                try row.decode("uuid", as: UUID.self), try row.decode("outbox_id", as: Int64.self),
                try row.decode("received_at", as: PostgresTimestamp.self)
            )
        }
        let found = try await pool.withTransaction { session in
            try outbox.evidence(of: places.map { ($0.1, $0.2) }, session)
        }
        var buried: [UUID: Set<[UInt8]>] = [:]
        for (place, evidence) in zip(places, found) {
            guard let bytes = try? evidence?.body.get() else { continue }
            buried[place.0, default: []].insert(bytes)
        }
        return letters.filter { buried[$0.notificationUUID]?.contains($0.bytes) ?? false }
    }
}

extension PostgresQuery {
    /// Which of these are known by their UUID. Scalar subqueries: each can only be an index lookup.
    fileprivate static func held(_ uuids: [UUID]) -> PostgresQuery {
        PostgresQuery(
            "history.held",
            """
            select w.uuid
              from unnest(\(uuids)) as w (uuid)
             where coalesce(
                (select true from storehook.notifications n where n.notification_uuid = w.uuid),
                (select true from storehook.history_letters l where l.notification_uuid = w.uuid),
                (select true from storehook.dead_letters d
                  where d.notification_uuid = w.uuid and d.category <> 'unverified' limit 1),
                false)
            """)
    }
}
