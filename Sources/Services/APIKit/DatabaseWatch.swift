import Base
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// Notices that the database has fallen silent, so that no request waits for it for longer than about a second.
///
/// A statement's duration shows nothing: waiting for a lock or a disk takes as long as a server that has vanished. So
/// while requests wait, the watch sends a trivial query on a connection of its own. As long as that is answered,
/// requests wait up to the limits of their statements; once it is not, all of them fail with ``Silence``.
package final class DatabaseWatch: Service {
    /// The database did not answer. What a request has begun may have taken effect all the same.
    package struct Silence: Error {
        /// It is silent.
        package init() {}
    }

    private struct Waiting {
        let since: ContinuousClock.Instant
        let stop: @Sendable () -> Void
    }

    private struct State {
        var waiting: [UInt64: Waiting] = [:]
        var lastID: UInt64 = 0
        var isSilent = false
    }

    /// How long a request waits before the database is asked.
    private static let patience = Duration.milliseconds(200)
    /// How long the answer may take.
    private static let limit = Duration.milliseconds(500)
    /// How often the watch looks whether requests wait.
    private static let interval = Duration.milliseconds(50)

    private let ask: @Sendable () async throws -> Void
    private let logger: Logger
    private let state = Mutex(State())

    /// A watch of no requests yet.
    /// - Parameter ask: asks the database for nothing; must end soon after it is cancelled.
    package init(logger: Logger, ask: @escaping @Sendable () async throws -> Void) {
        self.logger = logger
        self.ask = ask
    }

    /// Runs an operation that may wait for the database.
    /// - Throws: ``Silence`` where the database does not answer; then the operation is cancelled, and not waited for.
    package func watching<T: Sendable>(_ operation: @escaping @Sendable () async throws -> T) async throws -> T {
        let result = OneShot<T>()
        let task = Task {
            do { result.set(.success(try await operation())) } catch { result.set(.failure(error)) }
        }
        let waiting = Waiting(since: .now) {
            result.set(.failure(Silence()))
            task.cancel()
        }
        let id = state.withLock { state in
            state.lastID += 1
            state.waiting[state.lastID] = waiting
            return state.lastID
        }
        defer { state.withLock { state in state.waiting[id] = nil } }
        return try await withTaskCancellationHandler {
            try await result.wait()
        } onCancel: {
            task.cancel()
        }
    }

    /// Watches until graceful shutdown.
    package func run() async throws {
        await repeatUntilShutdown(pause: { Self.interval }) {
            guard let oldest = self.oldest, .now - oldest >= Self.patience else { return }
            let answers = (try? await withDeadline(.now + Self.limit) { try await self.ask() }) != nil
            if Task.isCancelled { return }
            self.heed(answers)
            // The database has just answered: no further query for a while.
            if answers { try? await Task.sleep(for: Self.patience - Self.interval) }
        }
    }

    private var oldest: ContinuousClock.Instant? { state.withLock { $0.waiting.values.map(\.since).min() } }

    private func heed(_ answers: Bool) {
        let (isNews, stopped) = state.withLock { state in
            let isNews = state.isSilent == answers
            state.isSilent = !answers
            guard !answers else { return (isNews, [Waiting]()) }
            // A request that came just now is left to the next question.
            return (isNews, state.waiting.values.filter { .now - $0.since >= Self.patience })
        }
        for waiting in stopped { waiting.stop() }
        guard isNews else { return }
        if answers {
            logger.notice("The database answers again")
        } else {
            logger.warning("The database does not answer; callers that wait for it get 503")
        }
    }
}
