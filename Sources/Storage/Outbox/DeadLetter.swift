public import Foundation
public import Postgres

/// What could not be done, and what became of it.
public struct DeadLetter: Sendable, Hashable {
    /// The letter's number.
    public var id: Int64
    /// The stored notification it is about.
    public var outboxID: Int64
    /// As the letter itself says; nobody vouches for it if the letter is unverified.
    public var notificationUUID: UUID?
    /// As the letter itself says.
    public var type: String?
    /// As the letter itself says.
    public var subtype: String?
    /// `unverified` or `unprocessable`.
    public var category: String
    /// The code.
    public var reason: String
    /// One line for people.
    public var message: String
    /// Claims it took.
    public var attempts: Int
    /// When the notification was stored.
    public var receivedAt: PostgresTimestamp
    /// When it was buried.
    public var deadAt: PostgresTimestamp
    /// `open`, `replayed` or `discarded`.
    public var resolution: String
    /// When somebody replayed or discarded it.
    public var resolvedAt: PostgresTimestamp?
    /// Who did.
    public var resolvedBy: String?
    /// Why, in their words.
    public var resolvedWhy: String?
}
