package import AppStorePayloads
package import Base
package import Subscriptions

/// What one piece of evidence says of itself: events need no more of it, and an entry is large.
package struct EvidenceSummary: Sendable {
    /// Which way it came.
    package var source: EvidenceSource
    /// A notification's type; nil for a record that came by itself, as its subtype and name.
    package var type: NotificationType?
    /// Its subtype.
    package var subtype: NotificationSubtype?
    /// Its name.
    package var uuid: UniqueIdentifier?
    /// When the notification was signed.
    package var notifiedAt: Timestamp?
    /// When the first of its parts was signed.
    package var asOf: Timestamp
    /// The transaction that it speaks of.
    package var transactionID: String?
    /// Why a customer wants the money back, where Apple asks for data about that.
    package var refundReason: String?
}

extension LedgerEntry {
    /// What it says of itself.
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
            source: source, type: notification?.notificationType, subtype: notification?.subtype,
            uuid: notification?.uuid, notifiedAt: notification?.signedDate, asOf: asOf,
            transactionID: transaction?.payload.transactionId, refundReason: refundReason)
    }
}
