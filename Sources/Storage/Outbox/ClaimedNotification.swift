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
    /// The JWS; nil if its partition is gone, or if it is ``unreadable``.
    public var body: [UInt8]?
    /// Why what is stored cannot be read; nil if it can.
    public var unreadable: UnreadableBody?

    init(
        id: Int64, receivedAt: PostgresTimestamp, attempts: Int, lapsed: Bool, lastReason: String?,
        stored: Result<[UInt8], UnreadableBody>?
    ) {
        self.id = id
        self.receivedAt = receivedAt
        self.attempts = attempts
        self.lapsed = lapsed
        self.lastReason = lastReason
        switch stored {
        case .success(let body): self.body = body
        case .failure(let why): unreadable = why
        case nil: break
        }
    }

    /// A dead letter as its next claim would bring it, for rehearsing a replay.
    public init(_ letter: DeadLetter, _ stored: Result<[UInt8], UnreadableBody>?) {
        self.init(
            id: letter.outboxID, receivedAt: letter.receivedAt, attempts: 1, lapsed: false, lastReason: letter.reason,
            stored: stored)
    }
}
