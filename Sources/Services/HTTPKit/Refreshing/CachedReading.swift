import Base
import Synchronization

/// What probes and scrapes ask, of the database mostly: asked once at a time however many scrapers wait for it, not again before a while has
/// passed, and never waited for longer than a scraper can.
///
/// An answer that took long is kept twenty times as long as it took: what one process asks here costs the database a
/// twentieth of one of its cores at most, however long the queue has become.
public final class CachedReading<Value: Sendable>: Sendable {
    /// The last answer that has come.
    public struct Answer: Sendable {
        /// What was read last; nil if nothing was, or too long ago.
        public var value: Value?
        /// Whether the last question that came to an end was answered.
        public var isAnswered: Bool
    }

    private struct State {
        var value: (value: Value, at: ContinuousClock.Instant)?
        var isAnswered = false
        /// Before this nobody asks again.
        var askAgainAt: ContinuousClock.Instant?
        var isAsking = false
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let interval: Duration
    private let maxWait: Duration
    private let maxAge: Duration
    private let read: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// A question, not asked yet.
    /// - Parameters:
    ///   - interval: The shortest time between two questions.
    ///   - maxWait: The longest that a scraper is kept waiting.
    ///   - maxAge: How old an answer may become if no newer one is to be had.
    ///   - read: Asks; must come to an end by itself.
    public init(
        every interval: Duration, maxWait: Duration, maxAge: Duration,
        _ read: @escaping @Sendable () async throws -> Value
    ) {
        self.interval = interval
        self.maxWait = maxWait
        self.maxAge = maxAge
        self.read = read
    }

    /// The answer of now, or else the last one.
    public func answer() async -> Answer {
        if let stream = join() {
            _ = try? await withDeadline(.now + maxWait) { for await _ in stream {} }
        }
        return state.withLock { state in
            let isFresh = state.value.map { ContinuousClock.now - $0.at < maxAge } ?? false
            return Answer(value: isFresh ? state.value?.value : nil, isAnswered: state.isAnswered)
        }
    }

    /// Begins to ask, or joins who waits already; nil if the last answer is new enough.
    private func join() -> AsyncStream<Never>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let (begins, joins) = state.withLock { state in
            if !state.isAsking, let again = state.askAgainAt, again > .now { return (false, false) }
            state.waiting.append(continuation)
            defer { state.isAsking = true }
            return (!state.isAsking, true)
        }
        // On its own: who asked first may be gone before the answer comes, and others wait for it too.
        if begins { Task { await ask() } }
        return joins ? stream : nil
    }

    private func ask() async {
        let began = ContinuousClock.now
        let value = try? await read()
        let end = ContinuousClock.now
        let waiting = state.withLock { state in
            if let value { state.value = (value, end) }
            state.isAnswered = value != nil
            state.isAsking = false
            // A server that does not answer has no work of it, and its return should be noticed soon.
            state.askAgainAt = end + (value == nil ? interval : max(interval, (end - began) * 20))
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }
}
