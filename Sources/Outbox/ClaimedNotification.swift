public import Postgres

/// One row that a worker has claimed: Apple's bytes, and how often they were tried.
public struct ClaimedNotification: Sendable, Hashable {
    /// The row's number, in the order of storing.
    public var id: Int64
    /// When it was stored.
    public var receivedAt: PostgresTimestamp
    /// Claims so far, this one included.
    public var attempts: Int
    /// Whether the lease before this one ran out unsettled: its worker died, hung, or was killed by this very row.
    public var lapsed: Bool
    /// Why the attempt before this one was put off; nil for the first.
    public var lastReason: String?
    /// The JWS; nil if its partition is gone.
    public var body: [UInt8]?

    init(
        id: Int64, receivedAt: PostgresTimestamp, attempts: Int, lapsed: Bool, lastReason: String?, body: [UInt8]?
    ) {
        self.id = id
        self.receivedAt = receivedAt
        self.attempts = attempts
        self.lapsed = lapsed
        self.lastReason = lastReason
        self.body = body
    }

    /// A dead letter as its next claim would bring it, for rehearsing a replay.
    public init(_ letter: DeadLetter, _ body: [UInt8]?) {
        self.init(
            id: letter.outboxID, receivedAt: letter.receivedAt, attempts: 1, lapsed: false, lastReason: letter.reason,
            body: body)
    }
}
