import Base
import Synchronization

/// Where a worker with nothing to do waits: for a wake-up that something was stored, for the time to look anyway, or for the
/// end. A wake-up that comes while nobody waits is kept, once.
package final class WorkSignal: Sendable {
    private struct State {
        var isWoken = false
        var stopped = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Nobody was woken or told to stop.
    package init() {}

    /// Whether the worker has been told to stop.
    package var isStopped: Bool { state.withLock(\.stopped) }

    /// Whether somebody was woken, or is to be, and has not waited since.
    package var isWoken: Bool { state.withLock(\.isWoken) }

    /// Says that there may be something to do.
    package func wake() { update { $0.isWoken = true } }

    /// Says that it is time to stop; every wait from now on ends at once.
    package func stop() { update { $0.stopped = true } }

    /// Waits for a wake-up, for `longest`, or for the stop.
    package func wait(atMost longest: Duration) async {
        _ = try? await withDeadline(.now + longest) { await self.waitForWakeUp() }
    }

    /// Waits for `duration` or for the stop, whatever is stored meanwhile.
    package func rest(for duration: Duration) async {
        let end = ContinuousClock.now + duration
        while !isStopped, !Task.isCancelled, end > .now { await wait(atMost: end - .now) }
    }

    private func waitForWakeUp() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if state.isWoken || state.stopped || Task.isCancelled {
                        state.isWoken = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            update { _ in }
        }
    }

    private func update(_ change: @Sendable (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            // Who is woken has had the wake-up.
            if state.waiter != nil { state.isWoken = false }
            return state.waiter
        }
        waiter?.resume()
    }
}
