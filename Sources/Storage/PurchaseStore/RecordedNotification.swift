import AppStorePayloads
public import Base
public import Foundation
import Postgres
public import Subscriptions

/// A recorded notification.
public struct RecordedNotification: Sendable, Hashable {
    /// Its notificationUUID.
    public var uuid: UUID
    /// What happened, in Apple's word.
    public var type: String
    /// More about it, in Apple's word.
    public var subtype: String?
    /// Apple's name of the environment.
    public var environment: String
    /// The app.
    public var bundleID: String
    /// The purchase it is about; nil where there is none.
    public var originalTransactionID: String?
    /// Which way it came the first time.
    public var source: EvidenceSource
    /// Applied, or parked.
    public var outcome: LedgerOutcome
    /// When Apple signed it.
    public var signedAt: Timestamp
    /// When it was stored.
    public var receivedAt: Timestamp
    /// When it took effect.
    public var appliedAt: Timestamp
    /// Where the bytes that Apple signed are stored, until retention drops them.
    public var evidence: EvidenceReference

    init(_ row: PostgresRow) throws {
        uuid = try row.decode("notification_uuid")
        type = try row.decode("type")
        subtype = try row.decode("subtype")
        environment = try row.decode("environment")
        bundleID = try row.decode("bundle_id")
        source = try row.decode("source", among: EvidenceSource.self)
        outcome = try row.decode("outcome", among: LedgerOutcome.self)
        originalTransactionID = try row.decode("original_transaction_id")
        signedAt = Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self))
        receivedAt = Timestamp(try row.decode("received_at", as: PostgresTimestamp.self))
        appliedAt = Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self))
        evidence = EvidenceReference(
            outboxID: try row.decode("outbox_id"), receivedAt: try row.decode("received_at"))
    }
}
