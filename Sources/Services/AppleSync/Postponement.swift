import AppStoreServerAPI
import History
import Postgres

/// What a duty does about a failure: a code, and when to try again. Nothing is given up: what Apple lists stays to be asked.
struct Postponement: Sendable, Hashable {
    /// For people: why.
    let reason: String
    /// When to try again.
    let delay: Duration
    /// Whether whatever else is due would fail the same way.
    let isGeneral: Bool
    /// For logs: what happened.
    let text: String

    /// What to do about a failure, after so many attempts; nil for a cancellation.
    init?(_ error: any Error, attempts: Int) {
        text = "\(error)"
        switch error {
        case is CancellationError: return nil
        case let error as PostgresError where error.kind == .cancelled: return nil
        case let failure as AppStoreFailure:
            reason = failure.code
            isGeneral = failure.isTransient
            delay = failure.isTransient ? Self.passing.pause(attempts) : Self.lasting
        case let trouble as AnswerTrouble:
            reason = trouble.rawValue
            isGeneral = false
            delay = Self.passing.pause(attempts)
        case is TooMuchPending:
            reason = "too_much_pending"
            isGeneral = true
            delay = .seconds(30)
        default:
            reason = "database"
            isGeneral = true
            delay = Self.passing.pause(attempts)
        }
    }

    /// No key for the app in this process.
    static let noKey = Postponement(reason: "no_key", delay: .seconds(900), isGeneral: false)

    private init(reason: String, delay: Duration, isGeneral: Bool) {
        self.reason = reason
        self.delay = delay
        self.isGeneral = isGeneral
        text = reason
    }

    /// Somebody has to do something: a key, an app that is not there.
    private static let lasting = Duration.seconds(900)
    private static let passing = Backoff(base: .seconds(5), cap: .seconds(300))
}

extension Backoff {
    /// At least half of the limit: a pause by chance alone may be none at all.
    fileprivate func pause(_ attempts: Int) -> Duration {
        limit(afterFailures: attempts) / 2 + pause(afterFailures: attempts) / 2
    }
}
