import Base
import Logging
import Operations
import Postgres
import ServiceLifecycle
import Synchronization

/// What a program has to see of the database before it begins. A database that is away or starts is waited for; every other fault ends
/// the program.
///
/// Its states:
/// - waiting: the database has not answered yet. Can transition to: begun.
/// - begun: all of it was seen. Final.
final class DatabaseStart: Service {
    private static let pause = RetrySchedule.doubling(from: .milliseconds(200), upTo: .seconds(2))
    /// Between two looks of a service that waits for the start.
    private static let look = Duration.milliseconds(100)

    private let steps: @Sendable () async throws -> Void
    private let isBegun = Atomic(false)

    /// Tries once.
    /// - Parameter steps: what is to be seen; they are repeated from the first one on while the database is away.
    /// - Throws: what `steps` throws, unless it is waited for.
    init(_ steps: @escaping @Sendable () async throws -> Void) async throws {
        self.steps = steps
        if let failure = try await attempt() {
            StandardError.line(
                "storehook: the database is unavailable, beginning once it is back: \(failure)\(failure.advice)")
        }
    }

    /// Whether all was seen.
    var hasBegun: Bool { isBegun.load(ordering: .acquiring) }

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
            isBegun.store(true, ordering: .releasing)
            return nil
        } catch let error as PostgresError where error.isAway || error.kind == .timeout {
            return error
        }
    }

    private struct Later: Service {
        let service: any Service
        let start: DatabaseStart

        func run() async throws {
            await cancelWhenGracefulShutdown { [start] in
                while !start.hasBegun, !Task.isCancelled { try? await Task.sleep(for: DatabaseStart.look) }
            }
            guard start.hasBegun else { return }
            try await service.run()
        }
    }
}
