/// Whether connections to one address are kept for further requests.
///
///     unproven ──an answer came over a kept one──▶ proven
///      ▲    │                                        │
///      │    └──────a request was lost to a close─────┤
///      │                                             ▼
///      └───────────────a minute later───────────── lost
///
/// A server that closes connections without a word may first leave a request on them unread for as long as it likes. So until it has
/// answered over a kept connection, one request at a time uses such a connection, and all others have connections of their own.
struct ConnectionKeeping {
    private enum State {
        case unproven(isTried: Bool)
        case proven
        case lost(until: ContinuousClock.Instant)
    }

    private var state = State.unproven(isTried: false)

    /// For how long no connection is kept after a request was lost.
    static let rest = Duration.seconds(60)

    /// Whether a request that begins now may use a connection that is kept. If so, ``end()`` is called when it is over.
    mutating func mayBegin(at now: ContinuousClock.Instant) -> Bool {
        switch state {
        case .proven: return true
        case .unproven(isTried: true): return false
        case .lost(let until) where now < until: return false
        case .unproven, .lost:
            state = .unproven(isTried: true)
            return true
        }
    }

    /// A request is over that was allowed to use a kept connection.
    mutating func end() {
        if case .unproven = state { state = .unproven(isTried: false) }
    }

    /// A further answer came over a kept connection.
    mutating func prove() {
        if case .unproven = state { state = .proven }
    }

    /// A request was lost to the close of a kept connection.
    mutating func lose(at now: ContinuousClock.Instant) { state = .lost(until: now + Self.rest) }
}
