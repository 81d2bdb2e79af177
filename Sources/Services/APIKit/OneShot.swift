import Synchronization

/// A result that several may set and one waits for: the first that is set counts.
package final class OneShot<T: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<T, any Error>)
        case set(Result<T, any Error>)
    }

    private let state = Mutex(State.open)

    /// Not set yet.
    package init() {}

    /// Sets the result, unless it is set already.
    package func set(_ result: Result<T, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<T, any Error>? in
            switch state {
            case .open:
                state = .set(result)
                return nil
            case .awaited(let continuation):
                state = .set(result)
                return continuation
            case .set: return nil
            }
        }
        continuation?.resume(with: result)
    }

    /// Waits until the result is set; to be called once.
    package func wait() async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state -> Result<T, any Error>? in
                if case .set(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
