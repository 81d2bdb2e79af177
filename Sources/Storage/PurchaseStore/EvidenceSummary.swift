package import AppStorePayloads
package import Base
package import Postgres
package import Subscriptions

/// The part of an entry that events need; an entry is large.
package struct EvidenceSummary: Sendable {
    /// Which way it came.
    package var source: EvidenceSource
    /// When it was stored.
    package var receivedAt: PostgresTimestamp
    /// A notification's type. For a record that came by itself this is nil, and so are subtype and UUID.
    package var type: NotificationType?
    /// Its subtype.
    package var subtype: NotificationSubtype?
    /// Its UUID.
    package var uuid: UniqueIdentifier?
    /// When the notification was signed.
    package var notifiedAt: Timestamp?
    /// When the first of its parts was signed.
    package var asOf: Timestamp
    /// The transaction that it is about.
    package var transactionID: String?
    /// When that was taken back, by this evidence.
    package var refundedAt: Timestamp?
    /// The notification's UUID; of a record that came by itself one made of its digest.
    package var id: UniqueIdentifier
    /// Why a customer wants the money back, where Apple asks for data about a refund.
    package var refundReason: String?
}

extension LedgerEntry {
    /// The part that events need.
    var summary: EvidenceSummary {
        var asOf = min(
            notification?.signedDate ?? .distantFuture, transaction?.payload.signedDate ?? .distantFuture,
            renewal?.payload.signedDate ?? .distantFuture)
        if asOf == .distantFuture { asOf = .distantPast }
        var refundReason: String?
        if notification?.notificationType == .consumptionRequest, case .data(let data) = notification?.part {
            refundReason = data.consumptionRequestReason?.rawValue
        }
        return EvidenceSummary(
            source: source, receivedAt: receivedAt, type: notification?.notificationType,
            subtype: notification?.subtype,
            uuid: notification?.uuid, notifiedAt: notification?.signedDate, asOf: asOf,
            transactionID: transaction?.payload.transactionId, refundedAt: transaction?.payload.revocationDate,
            id: identity.uuid, refundReason: refundReason)
    }
}

extension LedgerEntry.Identity {
    /// A UUID that stands for it: of a record version 8 (RFC 9562, section 5.8), made of the first 128 bits of its digest.
    fileprivate var uuid: UniqueIdentifier {
        switch self {
        case .notification(let uuid): return uuid
        case .record(_, let digest):
            func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
            return UniqueIdentifier(
                high: half(digest.prefix(8)) & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
                low: half(digest.dropFirst(8).prefix(8)) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
        }
    }
}
