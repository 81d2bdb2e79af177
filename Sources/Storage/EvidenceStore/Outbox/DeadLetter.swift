package import Foundation
package import Postgres
package import Subscriptions

/// Evidence that could not be processed, and how that was resolved.
package struct DeadLetter: Sendable, Hashable {
    /// The letter's number.
    package var id: Int64
    /// The stored evidence it is about.
    package var outboxID: Int64
    /// As the payload says; without proof if the letter is unverified.
    package var notificationUUID: UUID?
    /// As the payload says.
    package var type: String?
    /// As the payload says.
    package var subtype: String?
    /// What kind of failure it is.
    package var category: DeadLetterCategory
    /// The code, a ``ReasonCode`` unless another release wrote it.
    package var reason: String
    /// One line for people.
    package var message: String
    /// How many claims it took.
    package var attempts: Int
    /// When the notification was stored.
    package var receivedAt: PostgresTimestamp
    /// When it became a dead letter.
    package var deadAt: PostgresTimestamp
    /// How it was resolved.
    package var resolution: DeadLetterResolution
    /// When an operator replayed or discarded it.
    package var resolvedAt: PostgresTimestamp?
    /// The operator.
    package var resolvedBy: String?
    /// The operator's reason.
    package var resolvedWhy: String?
    /// What the bytes were stored as.
    package var kind = EvidenceKind.notification
    /// Which way they came.
    package var source = EvidenceSource.webhook
    /// The app, as the payload says; without proof if the letter is unverified.
    package var bundleID: String?
    /// The job that resolved it; nil where a person did so letter by letter.
    package var jobID: Int64?
}
