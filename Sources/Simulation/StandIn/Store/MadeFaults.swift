import Synchronization

/// What is broken on purpose between the stand-in and who asks it, until it is mended or the stand-in ends.
struct MadeFaults: Sendable, Hashable {
    /// Apple's word for each attempt to post, which is then not made; nil where posts are made.
    var postResult: String?
    /// Where no key is taken.
    var keyRefusedIn: Set<SimulatedApp.Environment> = []
    /// How far the clock that tokens are judged by, and that answers name, is ahead of the machine's; in seconds.
    var clockAheadSeconds: Int64 = 0

    /// Apple's words for an attempt (`sendAttemptResult`) that is not made.
    static let postResults: Set<String> = [
        "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE", "UNSUPPORTED_CHARSET",
        "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "OTHER",
    ]
}

/// How far answers' clock is ahead of the machine's; shared by the shop and the connections.
final class AnswerClock: Sendable {
    private let seconds = Atomic<Int64>(0)

    var secondsAhead: Int64 {
        get { seconds.load(ordering: .relaxed) }
        set { seconds.store(newValue, ordering: .relaxed) }
    }
}
