package import Queue

/// One notification that a worker has claimed, with what was posted; nil where that is gone.
package typealias ClaimedNotification = ClaimedRow<OpenedBody?>
/// What one claim of the outbox's queue brought.
package typealias ClaimedNotifications = ClaimedBatch<OpenedBody?>

extension ClaimedNotification {
    /// A dead letter as its next claim would bring it, for rehearsing a replay.
    package init(_ letter: DeadLetter, _ stored: OpenedBody?) {
        self.init(
            id: letter.outboxID, receivedAt: letter.receivedAt, attempts: 1, lapsed: false, lastReason: letter.reason,
            content: stored)
    }

    /// The JWS; nil if its partition is gone, or if it is ``unreadable``.
    package var body: [UInt8]? { try? content?.get() }

    /// Why what is stored cannot be read; nil if it can.
    package var unreadable: UnreadableBody? {
        if case .failure(let why) = content { why } else { nil }
    }
}
