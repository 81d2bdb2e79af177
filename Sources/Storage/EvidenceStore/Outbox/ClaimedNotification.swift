package import Subscriptions

/// One claimed piece of evidence, mostly a notification, with its stored bytes; nil where these are gone.
package typealias ClaimedNotification = ClaimedRow<OpenedEvidence?>
/// The result of one claim of the outbox's queue.
package typealias ClaimedNotifications = ClaimedBatch<OpenedEvidence?>

extension ClaimedNotification {
    /// The JWS, or a receipt's SHA-256; nil if its partition is gone, or if it is ``unreadable``.
    package var body: [UInt8]? { try? content?.body.get() }

    /// Its kind; a notification where the bytes are gone.
    package var kind: EvidenceKind { content?.kind ?? .notification }

    /// Which way it came; from Apple where the bytes are gone.
    package var source: EvidenceSource { content?.source ?? .webhook }
}
