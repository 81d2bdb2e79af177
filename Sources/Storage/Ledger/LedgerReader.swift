public import AppStorePayloads
public import Foundation
import Outbox
public import Postgres

/// Reads what the ledger holds, for people who ask why.
public struct LedgerReader: Sendable {
    let pool: PostgresPool
    private let headers = SignatureHeaders()

    /// A reader.
    public init(_ pool: PostgresPool) { self.pool = pool }

    /// The lines of this original transaction, at an instant: more than one only where two apps or environments share the
    /// number.
    public func status(of originalTransactionID: String, at instant: Timestamp) async throws -> [PurchaseStatus] {
        try await pool.query(
            PostgresQuery(
                "ledger.status",
                """
                select environment, bundle_id, original_transaction_id, product_id, subscription_group_id,
                       app_account_token, status, access, expires_at, will_renew, renewal_product_id, in_trial,
                       price_increase_pending, apple_status, access_until
                  from storehook.status_at(\(PostgresTimestamp(instant)))
                 where original_transaction_id = \(originalTransactionID)
                 order by environment, bundle_id
                """)
        ).map { try PurchaseStatus($0) }
    }

    /// What each notification did to the lines of this original transaction, in the order they were signed.
    public func timeline(of originalTransactionID: String) async throws -> [TimelineEntry] {
        try await pool.query(
            PostgresQuery(
                "ledger.timeline",
                """
                select n.environment, n.bundle_id, n.notification_uuid, n.type, n.subtype, n.transaction_id, n.signed_at,
                       n.received_at, n.applied_at, n.outcome, c.status_before, c.status_after, c.changes
                  from storehook.notifications n
                  left join storehook.subscription_changes c
                       using (original_transaction_id, bundle_id, environment, notification_uuid)
                 where n.original_transaction_id = \(originalTransactionID)
                 order by n.environment, n.bundle_id, n.signed_at, n.applied_at, c.id, n.notification_uuid
                """)
        ).map { try TimelineEntry($0) }
    }

    /// One notification, with Apple's bytes while the outbox keeps them; nil if it is not recorded.
    public func notification(_ uuid: UUID) async throws -> RecordedNotification? {
        let rows = try await pool.query(
            PostgresQuery(
                "ledger.notification",
                """
                select n.original_transaction_id, n.outcome, n.signed_at, n.received_at, n.applied_at, b.stored
                  from storehook.notifications n
                  left join lateral storehook.outbox_bodies(array[n.outbox_id], array[n.received_at]) b on true
                 where n.notification_uuid = \(uuid)
                """))
        guard let row = rows.first else { return nil }
        return try RecordedNotification(row, body: try await headers.open([row.decode("stored")], pool).first ?? nil)
    }
}
