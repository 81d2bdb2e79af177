import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import Foundation
import Pipeline
import Postgres

/// What a duty does about a failure: a code, and when to try again. Nothing is given up: what Apple lists stays to be asked.
package struct Postponement: Sendable, Hashable {
    /// What would fail the same way.
    enum Scope: Sendable, Hashable {
        /// What was asked for, and nothing else.
        case one
        /// Every request for this app in this environment: its key, or Apple's limit for it.
        case appEnvironment
        /// Everything.
        case all
    }

    /// For people: why.
    let reason: String
    /// When to try again.
    let delay: Duration
    /// What would fail the same way.
    let scope: Scope
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
                scope = .appEnvironment
                delay = Self.lasting
            case .rateLimited(let until):
                scope = .appEnvironment
                delay = min(max(.milliseconds(until.milliseconds(since: now)), .seconds(1)), .seconds(3600))
            default:
                scope = failure.isTransient ? .all : .one
                delay = failure.isTransient ? Self.passing.pause(afterFailures: attempts) : Self.lasting
            }
        case let trouble as UnusableAnswer:
            reason = trouble.rawValue
            scope = .one
            delay = Self.passing.pause(afterFailures: attempts)
        case is TooMuchPending:
            reason = "too_much_pending"
            scope = .all
            delay = .seconds(30)
        default:
            reason = "database"
            scope = .all
            delay = Self.passing.pause(afterFailures: attempts)
        }
    }

    /// Whether everything else that is due would fail the same way.
    var isGeneral: Bool { scope == .all }

    /// An operator has to act: a key, an app that is not there.
    private static let lasting = Duration.seconds(900)
    private static let passing = RetrySchedule.doubling(
        from: .seconds(5), upTo: .seconds(300), jitter: RetrySchedule.halfJitter)
}

extension ScopedQueue {
    /// Puts a row off for what a failure asks for, and with it all of its app and environment where they would fail the same way.
    func putOff(_ claim: ScopedClaim, _ postponement: Postponement) async throws {
        try await putOff(
            claim, by: postponement.delay, reason: postponement.reason, isItsOwn: postponement.scope == .one)
        if postponement.scope == .appEnvironment {
            try await putOff(allOf: claim.scope, by: postponement.delay, reason: postponement.reason)
        }
    }
}

extension Timestamp {
    fileprivate init(_ date: Date) { self.init(millisecondsSince1970: Int64(date.timeIntervalSince1970 * 1000)) }
}
