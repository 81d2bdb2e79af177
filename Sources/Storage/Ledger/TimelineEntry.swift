public import AppStorePayloads
public import Foundation
import Postgres

/// One notification in a line's timeline, and what it changed.
public struct TimelineEntry: Sendable, Hashable {
    /// Apple's name of the environment.
    public var environment: String
    /// The app.
    public var bundleID: String
    /// The notification.
    public var notificationUUID: UUID
    /// What happened, in Apple's word.
    public var type: String
    /// More about it, in Apple's word.
    public var subtype: String?
    /// The transaction it speaks of.
    public var transactionID: String?
    /// When Apple signed it.
    public var signedAt: Timestamp
    /// When it was stored.
    public var receivedAt: Timestamp
    /// When it took effect.
    public var appliedAt: Timestamp
    /// `applied` or `parked`.
    public var outcome: String
    /// The line's status before; nil where there was none.
    public var statusBefore: String?
    /// The line's status after; nil for what is no subscription.
    public var statusAfter: String?
    /// What changed: column name to [before, after], as JSON; nil for what is no subscription.
    public var changesJSON: String?

    init(_ row: PostgresRow) throws {
        environment = try row.decode("environment")
        bundleID = try row.decode("bundle_id")
        notificationUUID = try row.decode("notification_uuid")
        type = try row.decode("type")
        subtype = try row.decode("subtype")
        transactionID = try row.decode("transaction_id")
        signedAt = Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self))
        receivedAt = Timestamp(try row.decode("received_at", as: PostgresTimestamp.self))
        appliedAt = Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self))
        outcome = try row.decode("outcome")
        statusBefore = try row.decode("status_before")
        statusAfter = try row.decode("status_after")
        changesJSON = try row.decode("changes", as: PostgresJSON?.self)?.text
    }
}
