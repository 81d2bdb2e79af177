import Base
import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// What a program has to see of the database before it begins. A database that is away or starts is waited for; whatever else is wrong
/// ends the program.
///
/// Its states:
/// - waiting: the database has not answered yet. Can transition to: begun.
/// - begun: all of it was seen. Final.
final class DatabaseStart: Service {
    private struct State {
        var isBegun = false
        var lastID = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private static let pause = RetrySchedule.doubling(from: .milliseconds(200), upTo: .seconds(2))

    private let steps: @Sendable () async throws -> Void
    private let state = Mutex(State())

    /// Tries once.
    /// - Parameter steps: what is to be seen; they are repeated from the first one on while the database is away.
    /// - Throws: what `steps` throws, unless it is waited for.
    init(_ steps: @escaping @Sendable () async throws -> Void) async throws {
        self.steps = steps
        if let failure = try await attempt() {
            StandardError.line("storehook: the database is unavailable, beginning once it is back: \(failure)")
        }
    }

    /// Whether all was seen.
    var hasBegun: Bool { state.withLock(\.isBegun) }

    /// Tries until all was seen, then waits for graceful shutdown.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            var failures = 1
            while !self.hasBegun, !Task.isCancelled {
                try? await Task.sleep(for: Self.pause.pause(afterFailures: failures))
                if Task.isCancelled { break }
                if try await self.attempt() != nil { failures += 1 }
            }
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        }
    }

    /// A service that begins when all was seen.
    func before(_ service: any Service) -> any Service { Later(service: service, start: self) }

    /// Returns what kept it from beginning; nil if nothing does.
    private func attempt() async throws -> PostgresError? {
        do {
            try await steps()
        } catch let error as PostgresError where error.isAway || error.kind == .timeout {
            return error
        }
        let waiting = state.withLock { state in
            state.isBegun = true
            defer { state.waiting.removeAll() }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: true) }
        return nil
    }

    /// Waits until all was seen; false if the task is cancelled before.
    private func begun() async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Bool? = state.withLock { state in
                    if state.isBegun { return true }
                    if Task.isCancelled { return false }
                    state.waiting[id] = continuation
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: false)
        }
    }

    private struct Later: Service {
        let service: any Service
        let start: DatabaseStart

        func run() async throws {
            guard await cancelWhenGracefulShutdown({ await start.begun() }) else { return }
            try await service.run()
        }
    }
}
