package import Postgres

/// One claimed row, how often it was tried, and its content.
package struct ClaimedRow<Content: Sendable>: Sendable {
    /// The row's number.
    package var id: Int64
    /// When the work came up.
    package var receivedAt: PostgresTimestamp
    /// Claims so far, this one included.
    package var attempts: Int
    /// Whether the previous lease ran out unsettled: its worker died, hung, or was killed by this very row.
    package var lapsed: Bool
    /// How many of the earlier claims ended with their lease running out.
    package var lapses: Int
    /// Why the previous attempt was put off; nil for the first.
    package var lastReason: String?
    /// What the queue's owner read with the claim.
    package var content: Content

    /// A row as a claim brings it.
    package init(
        id: Int64, receivedAt: PostgresTimestamp, attempts: Int, lapsed: Bool, lapses: Int = 0, lastReason: String?,
        content: Content
    ) {
        self.id = id
        self.receivedAt = receivedAt
        self.attempts = attempts
        self.lapsed = lapsed
        self.lapses = lapses
        self.lastReason = lastReason
        self.content = content
    }
}
