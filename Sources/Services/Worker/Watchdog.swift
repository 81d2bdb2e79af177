import Foundation
import Glibc
import Logging
import Synchronization

/// Ends the process when one computation does not end.
///
/// Verifying and applying are pure computation: nothing can interrupt them, and an endless loop would hold a core and
/// its batch until an operator looks. Ending the process does what a crash does: the leases run out, and the rows are
/// processed one by one until the one at fault is a dead letter.
///
/// Time is counted in the process's own CPU seconds, so that a process that is suspended, or starved by others, does
/// not count as looping. The watchdog has a thread of its own, since the loops may hold all the others.
final class Watchdog: Sendable {
    private struct Computation {
        var ids: any Collection<Int64> & Sendable
        /// The process's CPU time when the watch first saw it.
        var seenAt: Duration?
    }
    private struct State {
        var computations: [UInt64: Computation] = [:]
        var number: UInt64 = 0
        var isRunning = false
    }
    private let state = Mutex(State())
    private let limit: Duration
    private let logger: Logger

    /// - Parameter limit: in CPU time of the process.
    init(limit: Duration, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    /// Runs a computation under the watch.
    /// - Parameter ids: the rows it is about, for the log.
    func during<T, Failure: Error>(
        _ ids: some Collection<Int64> & Sendable, _ body: () throws(Failure) -> T
    ) throws(Failure) -> T {
        let number = state.withLock { state in
            state.number += 1
            state.computations[state.number] = Computation(ids: ids)
            return state.number
        }
        defer { state.withLock { _ = $0.computations.removeValue(forKey: number) } }
        return try body()
    }

    /// Watches from now on.
    func start() {
        state.withLock { $0.isRunning = true }
        Thread.detachNewThread { [self] in
            // Four looks within the limit, so that it is exceeded by a quarter at most.
            while state.withLock(\.isRunning) {
                look(at: Self.cpuTime())
                Thread.sleep(forTimeInterval: min(limit / 4, .milliseconds(500)) / .seconds(1))
            }
        }
    }

    /// Watches no longer.
    func stop() { state.withLock { $0.isRunning = false } }

    private func look(at now: Duration) {
        let runaway = state.withLock { state -> Computation? in
            for number in state.computations.keys {
                if let seen = state.computations[number]?.seenAt {
                    if now - seen > limit { return state.computations[number] }
                } else {
                    state.computations[number]?.seenAt = now
                }
            }
            return nil
        }
        guard let runaway else { return }
        let ids = runaway.ids.prefix(3).map(String.init).joined(separator: ",")
        logger.critical(
            "A computation does not end; ending the process, its rows are tried again one by one",
            metadata: ["outbox_id": "\(ids)", "rows": "\(runaway.ids.count)", "cpu_seconds": "\(limit / .seconds(1))"])
        // Not exit(): its handlers would wait for the very threads that hang.
        _exit(1)
    }

    private static func cpuTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
