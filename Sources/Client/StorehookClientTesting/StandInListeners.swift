import Foundation
import StorehookClient

/// The readers of a source's `updates`, what each of them has got, and what was bought and waits for approval.
final class StandInListeners: @unchecked Sendable {
    // The lock guards all of `state`.

    /// When each transaction was revoked, as a reader has got it last; `Date?.none` where it was not.
    private typealias Seen = [String: Date?]

    private struct Listener {
        let continuation: AsyncStream<StoreResult>.Continuation
        var seen: Seen
        var looking: Task<Void, Never>?
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var count = 0
        /// What was the result of a purchase.
        var noted: Seen = [:]
        var postponed: [(productID: String, token: UUID)] = []
    }

    private let lock = NSLock()
    private var state = State()
    private let interval: TimeInterval?

    init(interval: TimeInterval?) { self.interval = interval }

    /// A stream of its own for a reader.
    func stream(_ look: @escaping @Sendable () async -> Void) -> AsyncStream<StoreResult> {
        let (stream, continuation) = AsyncStream<StoreResult>.makeStream()
        let number = change { state in
            state.count += 1
            state.listeners[state.count] = Listener(continuation: continuation, seen: state.noted)
            return state.count
        }
        continuation.onTermination = { [weak self] _ in self?.end(number) }
        guard let interval else { return stream }
        let looking = Task {
            while !Task.isCancelled {
                await look()
                try? await Task.sleep(nanoseconds: UInt64(max(0.01, interval) * 1_000_000_000))
            }
        }
        let isThere = change { state in
            state.listeners[number]?.looking = looking
            return state.listeners[number] != nil
        }
        if !isThere { looking.cancel() }
        return stream
    }

    /// Hands a transaction to every reader that has not received this version of it.
    func hand(_ result: StoreResult, of transaction: StoreTransaction) {
        let waiting = change { state in
            var waiting: [AsyncStream<StoreResult>.Continuation] = []
            for (number, listener) in state.listeners
            where listener.seen[transaction.id] != .some(transaction.revokedAt) {
                state.listeners[number]?.seen[transaction.id] = .some(transaction.revokedAt)
                waiting.append(listener.continuation)
            }
            return waiting
        }
        for continuation in waiting { continuation.yield(result) }
    }

    /// A transaction has gone to who bought it.
    func note(_ transaction: StoreTransaction) {
        change { state in
            state.noted[transaction.id] = .some(transaction.revokedAt)
            for number in state.listeners.keys {
                state.listeners[number]?.seen[transaction.id] = .some(transaction.revokedAt)
            }
        }
    }

    func postpone(_ productID: String, _ token: UUID) { change { $0.postponed.append((productID, token)) } }

    func takePostponed() -> [(productID: String, token: UUID)] {
        change { state in
            defer { state.postponed = [] }
            return state.postponed
        }
    }

    private func end(_ number: Int) {
        let listener = change { $0.listeners.removeValue(forKey: number) }
        listener?.looking?.cancel()
    }

    @discardableResult
    private func change<T>(_ body: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }
}
