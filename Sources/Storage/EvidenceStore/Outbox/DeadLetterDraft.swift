package import Foundation
package import Postgres
package import Subscriptions

/// A piece of evidence about to be buried, mostly a notification, and why.
package struct DeadLetterDraft: Sendable, Hashable {
    /// The row it was.
    package var outboxID: Int64
    /// When it was stored.
    package var receivedAt: PostgresTimestamp
    /// As the letter itself says; nobody vouches for it if it is unverified.
    package var notificationUUID: UUID?
    /// As the letter itself says; shortened to what the schema takes.
    package var type: String?
    /// As the letter itself says; shortened to what the schema takes.
    package var subtype: String?
    /// Why it is buried.
    package var reason: ReasonCode
    /// Whom it is for.
    package var category: DeadLetterCategory { reason.category ?? .unprocessable }
    /// What it was stored as.
    package var kind: EvidenceKind
    /// Which way it came.
    package var source: EvidenceSource
    /// One line for people; never contents of the payload.
    package var message: String
    /// Claims it took.
    package var attempts: Int

    /// A draft of a claimed row's letter; `attempts` are the row's unless told otherwise.
    package init(
        _ claimed: ClaimedNotification, reason: ReasonCode, message: String,
        notificationUUID: UUID? = nil, type: String? = nil, subtype: String? = nil, attempts: Int? = nil
    ) {
        outboxID = claimed.id
        receivedAt = claimed.receivedAt
        kind = claimed.kind
        source = claimed.source
        self.notificationUUID = notificationUUID
        self.type = type.map { Self.shortened($0, to: 100) }
        self.subtype = subtype.map { Self.shortened($0, to: 100) }
        self.reason = reason
        self.message = Self.shortened(message, to: 1000)
        self.attempts = attempts ?? claimed.attempts
    }

    /// Text as a dead letter takes it: PostgreSQL's text holds no NUL, and the schema bounds lengths in code points.
    package static func shortened(_ text: String, to length: Int) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(length) where scalar.value != 0 { scalars.append(scalar) }
        return String(scalars)
    }
}
