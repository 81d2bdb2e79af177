import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import Foundation
import Pipeline
import Postgres

/// What a duty does about a failure: a code, and when to try again. Nothing is given up: what Apple lists stays to be asked.
struct Postponement: Sendable, Hashable {
    /// What would fail the same way.
    enum Breadth: Sendable, Hashable {
        /// What was asked for, and nothing else.
        case one
        /// Whatever is asked of this app in this environment: its key, or Apple's limit for it.
        case scope
        /// Everything.
        case all
    }

    /// For people: why.
    let reason: String
    /// When to try again.
    let delay: Duration
    /// What would fail the same way.
    let breadth: Breadth
    /// For logs: what happened.
    let text: String

    /// What to do about a failure, after so many attempts; nil for a cancellation.
    init?(_ error: any Error, attempts: Int, now: Timestamp = Timestamp(Date())) {
        text = "\(error)"
        switch error {
        case is CancellationError: return nil
        case let error as PostgresError where error.kind == .cancelled: return nil
        case let failure as AppStoreFailure:
            reason = failure.code
            switch failure.reason {
            case .unauthorized, .unusableKey:
                breadth = .scope
                delay = Self.lasting
            case .rateLimited(let until):
                breadth = .scope
                delay = min(max(.milliseconds(until.milliseconds(since: now)), .seconds(1)), .seconds(3600))
            default:
                breadth = failure.isTransient ? .all : .one
                delay = failure.isTransient ? Self.passing.pause(afterFailures: attempts) : Self.lasting
            }
        case let trouble as UnusableAnswer:
            reason = trouble.rawValue
            breadth = .one
            delay = Self.passing.pause(afterFailures: attempts)
        case is TooMuchPending:
            reason = "too_much_pending"
            breadth = .all
            delay = .seconds(30)
        default:
            reason = "database"
            breadth = .all
            delay = Self.passing.pause(afterFailures: attempts)
        }
    }

    /// Whether whatever else is due would fail the same way.
    var isGeneral: Bool { breadth == .all }

    /// Somebody has to do something: a key, an app that is not there.
    private static let lasting = Duration.seconds(900)
    private static let passing = RetrySchedule.doubling(
        from: .seconds(5), upTo: .seconds(300), jitter: RetrySchedule.halfJitter)
}

extension Timestamp {
    fileprivate init(_ date: Date) { self.init(millisecondsSince1970: Int64(date.timeIntervalSince1970 * 1000)) }
}
