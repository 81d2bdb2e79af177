public import AppStorePayloads
public import Foundation
public import Postgres

/// Reads what the ledger holds, for people who ask why.
public struct LedgerReader: Sendable {
    let pool: PostgresPool

    /// A reader.
    public init(_ pool: PostgresPool) { self.pool = pool }

    /// The subscriptions of this original transaction, at an instant: more than one only where two apps or environments
    /// share the number.
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

    /// What each notification said of the purchases of this original transaction, in the order they were signed.
    public func timeline(of originalTransactionID: String) async throws -> [TimelineEntry] {
        try await pool.query(
            PostgresQuery(
                "ledger.timeline",
                """
                select n.environment, n.bundle_id, n.notification_uuid, n.type, n.subtype, n.transaction_id, n.signed_at,
                       n.received_at, n.applied_at, n.outcome
                  from storehook.notifications n
                 where n.original_transaction_id = \(originalTransactionID)
                 order by n.environment, n.bundle_id, n.signed_at, n.notification_uuid
                """)
        ).map { try TimelineEntry($0) }
    }

    /// How many purchases there are, about.
    public func purchaseCount() async throws -> Int64 {
        try await pool.query(
            PostgresQuery("ledger.purchase_count", "select count(*) from storehook.purchase_lines")
        ).one().decode(0)
    }

    /// One notification; nil if it is not recorded.
    public func notification(_ uuid: UUID) async throws -> RecordedNotification? {
        let rows = try await pool.query(
            PostgresQuery(
                "ledger.notification",
                """
                select original_transaction_id, outcome, signed_at, outbox_id, received_at, applied_at
                  from storehook.notifications
                 where notification_uuid = \(uuid)
                """))
        return try rows.first.map { try RecordedNotification($0) }
    }
}
