import Synchronization

/// Where a worker with nothing to do waits: for a hint that something was stored, for the time to look anyway, or for the
/// end. A hint that comes while nobody waits is kept, once.
final class WorkSignal: Sendable {
    private struct State {
        var hinted = false
        var stopped = false
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Whether the worker has been told to stop.
    var isStopped: Bool { state.withLock(\.stopped) }

    /// Says that there may be something to do.
    func hint() { wake { $0.hinted = true } }

    /// Says that it is time to stop; every wait from now on ends at once.
    func stop() { wake { $0.stopped = true } }

    /// Waits for a hint, for `longest`, or for the stop.
    func wait(atMost longest: Duration) async {
        await withTaskGroup { group in
            group.addTask { await self.waitForHint() }
            group.addTask { try? await Task.sleep(for: longest) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForHint() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if state.hinted || state.stopped || Task.isCancelled {
                        state.hinted = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
    }

    private func wake(_ change: @Sendable (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            // Who is woken has had the hint.
            if state.waiter != nil { state.hinted = false }
            return state.waiter
        }
        waiter?.resume()
    }
}
