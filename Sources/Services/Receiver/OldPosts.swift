import Base
import HTTPKit
import Logging
import ServiceLifecycle
import Synchronization

/// Says that notifications of version 1 are posted: where App Store Connect is set to it, Apple refuses nothing and nothing arrives.
///
/// Nothing that was posted is kept. Posts are noted in memory, so that a stranger who sends many costs nothing: one line an hour is logged, and
/// the database records at most once an interval that there were some.
final class OldPosts: Service {
    private struct State {
        /// Whether there were some that the database has not recorded.
        var isNews = false
        var loggedAt: ContinuousClock.Instant?
    }

    private static let quiet = Duration.seconds(3600)

    private let state = Mutex(State())
    private let interval: Duration
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let note: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - interval: the time between two notes for the database, give or take a quarter.
    ///   - note: records them in the database.
    init(
        every interval: Duration, logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        note: @escaping @Sendable () async throws -> Void
    ) {
        self.interval = interval
        self.logger = logger
        self.clock = clock
        self.note = note
    }

    /// Notes a post.
    func saw() {
        let now = clock()
        let isLogged = state.withLock { state in
            state.isNews = true
            if let loggedAt = state.loggedAt, now - loggedAt < Self.quiet { return true }
            state.loggedAt = now
            return false
        }
        guard !isLogged else { return }
        logger.warning(
            """
            Somebody posts notifications of version 1, which are refused and kept nowhere: if it is Apple, App Store \
            Connect is set to version 1, and nothing arrives until it is set to version 2
            """)
    }

    /// Records in the database that there were posts, if there were. Where it does not answer, the next call records them.
    func record() async {
        guard state.withLock({ $0.isNews }) else { return }
        do {
            try await note()
            state.withLock { $0.isNews = false }
        } catch {
            logger.debug("Could not note that posts of version 1 came", metadata: ["error": "\(error)"])
        }
    }

    func run() async throws {
        await repeatUntilShutdown(pause: { [interval] in interval.jittered }) { await self.record() }
    }
}
