public import AppStoreVerification

/// A notification in Apple's list, and how posting it went.
public struct ListedNotification: Sendable {
    /// The notification.
    public let record: SignedRecord<VerifiedNotification>
    /// Each attempt, at most six.
    public let sendAttempts: [SendAttempt]
}
