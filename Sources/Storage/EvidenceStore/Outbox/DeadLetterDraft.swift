package import Foundation
package import Postgres
package import Subscriptions

/// A piece of evidence that is about to become a dead letter, mostly a notification, and why.
package struct DeadLetterDraft: Sendable, Hashable {
    /// Its row in the outbox.
    package var outboxID: Int64
    /// When it was stored.
    package var receivedAt: PostgresTimestamp
    /// As the payload says; without proof if it is unverified.
    package var notificationUUID: UUID?
    /// As the payload says; shortened to what the schema takes.
    package var type: String?
    /// As the payload says; shortened to what the schema takes.
    package var subtype: String?
    /// The app, as the payload says.
    package var bundleID: String?
    /// Why it could not be processed.
    package var reason: ReasonCode
    /// What kind of failure it is.
    package var category: DeadLetterCategory { reason.category ?? .unprocessable }
    /// What it was stored as.
    package var kind: EvidenceKind
    /// Which way it came.
    package var source: EvidenceSource
    /// One line for people; never contents of the payload.
    package var message: String
    /// How many claims it took.
    package var attempts: Int

    /// A draft for a claimed row; `attempts` are by default the row's.
    package init(
        _ claimed: ClaimedNotification, reason: ReasonCode, message: String,
        notificationUUID: UUID? = nil, type: String? = nil, subtype: String? = nil, bundleID: String? = nil,
        attempts: Int? = nil
    ) {
        outboxID = claimed.id
        receivedAt = claimed.receivedAt
        kind = claimed.kind
        source = claimed.source
        self.notificationUUID = notificationUUID
        self.type = type.map { Self.shortened($0, to: 100) }
        self.subtype = subtype.map { Self.shortened($0, to: 100) }
        self.bundleID = bundleID.map { Self.shortened($0, to: 255) }
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
