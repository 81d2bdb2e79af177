import Synchronization

/// How an operation has ended, whoever says so first.
package final class End<T: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<T, any Error>)
        case reached(Result<T, any Error>)
    }

    private let state = Mutex(State.open)

    /// Nobody has said so yet.
    package init() {}

    /// The end has come; what comes later counts for nothing.
    package func reach(_ result: Result<T, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<T, any Error>? in
            switch state {
            case .open:
                state = .reached(result)
                return nil
            case .awaited(let continuation):
                state = .reached(result)
                return continuation
            case .reached: return nil
            }
        }
        continuation?.resume(with: result)
    }

    /// Waits until it has come; for one who waits.
    package func wait() async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<T, any Error>? in
                if case .reached(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
