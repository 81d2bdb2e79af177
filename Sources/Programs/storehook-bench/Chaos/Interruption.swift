import Glibc
import Synchronization

/// A request to end a run early: the run still stops what it started and restores what it changed.
enum Interruption {
    private static let isWanted = Atomic(false)

    /// Cancels `task` once SIGINT or SIGTERM comes.
    static func cancelling<T: Sendable>(_ task: Task<T, any Error>) async throws -> T {
        handleSignals()
        let watch = Task {
            while !isWanted.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(100)) }
            task.cancel()
        }
        defer { watch.cancel() }
        return try await task.value
    }

    /// By a handler: what is ignored would be ignored by the programs that this one starts as well, and a handler is not
    /// inherited.
    private static func handleSignals() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Interruption.isWanted.store(true, ordering: .relaxed) }
        }
    }
}
