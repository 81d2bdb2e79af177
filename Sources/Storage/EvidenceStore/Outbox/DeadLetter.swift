package import Foundation
package import Postgres
package import Subscriptions

/// What could not be done, and what became of it.
package struct DeadLetter: Sendable, Hashable {
    /// The letter's number.
    package var id: Int64
    /// The stored evidence it is about.
    package var outboxID: Int64
    /// As the letter itself says; nobody vouches for it if the letter is unverified.
    package var notificationUUID: UUID?
    /// As the letter itself says.
    package var type: String?
    /// As the letter itself says.
    package var subtype: String?
    /// Whom it is for.
    package var category: DeadLetterCategory
    /// The code, a ``ReasonCode`` unless another release wrote it.
    package var reason: String
    /// One line for people.
    package var message: String
    /// Claims it took.
    package var attempts: Int
    /// When the notification was stored.
    package var receivedAt: PostgresTimestamp
    /// When it was buried.
    package var deadAt: PostgresTimestamp
    /// What became of it.
    package var resolution: DeadLetterResolution
    /// When somebody replayed or discarded it.
    package var resolvedAt: PostgresTimestamp?
    /// Who did.
    package var resolvedBy: String?
    /// Why, in their words.
    package var resolvedWhy: String?
    /// What the bytes were stored as.
    package var kind = EvidenceKind.notification
    /// Which way they came.
    package var source = EvidenceSource.webhook
}
