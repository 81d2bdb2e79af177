/// Whether connections to one address are kept for further requests.
///
///     fresh ──the first answer──▶ unproven ◀──a trial proves nothing── trying ──a second answer on a connection──▶ proven
///                                    └──────────a request begins─────────▲ │                                        │
///                                                                        │ └──a request is lost to a close─▶ lost ◀─┘
///                                                                        └──a minute later, a request begins──┘
///
/// A server that closes connections without a word may first leave a request on them unread for as long as it likes. So until it has
/// answered two requests on one connection, a single request at a time, the trial, uses a connection that was used before.
/// All others have connections of their own, with two exceptions, so that a server that keeps connections sees no more of them than
/// there are requests at once: what begins before the first answer needs a new connection anyway, which is kept; and what begins
/// during the first trial waits for its end, for a moment.
struct ConnectionKeeping {
    /// How a request goes on.
    enum Turn {
        /// Over a connection that is kept.
        case kept
        /// The same, as the only one.
        case trial
        /// Over a connection of its own.
        case own
        /// Not yet: it asks again after a few milliseconds.
        case wait
    }

    private enum State {
        case fresh
        case unproven
        case trying(othersWaitUntil: ContinuousClock.Instant)
        case proven
        case lost(until: ContinuousClock.Instant)
    }

    private var state = State.fresh
    /// For how long other requests wait for the next trial.
    private var patience = Self.firstPatience

    /// For how long other requests wait for the first trial. They wait for no later one.
    static let firstPatience = Duration.milliseconds(250)
    /// For how long no connection is kept after a request was lost.
    static let rest = Duration.seconds(60)

    /// How a request goes on. Unless it waits, or has a connection of its own, ``end(_:isLost:at:)`` has to follow.
    mutating func begin(at now: ContinuousClock.Instant) -> Turn {
        switch state {
        case .fresh, .proven: return .kept
        case .trying(let end): return now < end ? .wait : .own
        case .lost(let end) where now < end: return .own
        case .unproven, .lost:
            state = .trying(othersWaitUntil: now + patience)
            patience = .zero
            return .trial
        }
    }

    /// A request is over that could use a kept connection.
    /// - Parameter isLost: whether it was lost to the connection's close.
    mutating func end(_ turn: Turn, isLost: Bool, at now: ContinuousClock.Instant) {
        if isLost {
            state = .lost(until: now + Self.rest)
        } else if turn == .trial, case .trying = state {
            state = .unproven
        }
    }

    /// An answer is complete.
    /// - Parameter isFurther: whether it is not the first one of its connection.
    mutating func answer(isFurther: Bool) {
        switch state {
        case .fresh: state = isFurther ? .proven : .unproven
        case .unproven, .trying: if isFurther { state = .proven }
        case .proven, .lost: break
        }
    }
}
