import Base
import Synchronization

/// Where an idle worker waits for a wake-up (something was stored), for its next poll, or for the stop. A wake-up that
/// comes while no worker waits is kept, once.
package final class WorkSignal: Sendable {
    private struct State {
        var isWoken = false
        var stopped = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// A signal without a wake-up or stop.
    package init() {}

    /// Whether ``stop()`` was called.
    package var isStopped: Bool { state.withLock(\.stopped) }

    /// Whether a wake-up came that no wait has taken yet.
    package var isWoken: Bool { state.withLock(\.isWoken) }

    /// Wakes the worker: there may be something to do.
    package func wake() { update { $0.isWoken = true } }

    /// Stops the worker: every wait from now on ends at once.
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
            // A worker that waits has taken the wake-up.
            if state.waiter != nil { state.isWoken = false }
            return state.waiter
        }
        waiter?.resume()
    }
}
