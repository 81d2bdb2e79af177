/// Hands each value to all who listen.
@MainActor
final class Snapshots<Value: Sendable> {
    private var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    private var next = 0

    /// A stream of a value and all that follow. A reader that is slow gets the newest.
    func stream(from current: Value) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let listener = next
        next += 1
        listeners[listener] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.listeners[listener] = nil }
        }
        continuation.yield(current)
        return stream
    }

    /// Hands a value to all who listen.
    func send(_ value: Value) {
        for listener in listeners.values { listener.yield(value) }
    }

    deinit {
        for listener in listeners.values { listener.finish() }
    }
}
