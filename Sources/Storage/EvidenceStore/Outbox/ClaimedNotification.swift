package import Subscriptions

/// One piece of evidence that a worker has claimed, mostly a notification, with what was stored; nil where that is gone.
package typealias ClaimedNotification = ClaimedRow<OpenedEvidence?>
/// What one claim of the outbox's queue brought.
package typealias ClaimedNotifications = ClaimedBatch<OpenedEvidence?>

extension ClaimedNotification {
    /// The JWS, of a receipt its SHA-256; nil if its partition is gone, or if it is ``unreadable``.
    package var body: [UInt8]? { try? content?.body.get() }

    /// What it is; taken for a notification where that is gone.
    package var kind: EvidenceKind { content?.kind ?? .notification }

    /// Which way it came; taken for Apple's where that is gone.
    package var source: EvidenceSource { content?.source ?? .webhook }
}
