import Base
import Synchronization

/// What probes and scrapers read, mostly from the database. It is read once at a time however many scrapers wait, not
/// again before a while has passed, and no scraper waits for it too long.
///
/// A slow answer is kept for twenty times its duration: one process costs the database a twentieth of one of its cores
/// at most, however long the queue has become.
public final class CachedReading<Value: Sendable>: Sendable {
    /// The last answer.
    public struct Answer: Sendable {
        /// The last value; nil if there is none, or it is too old.
        public var value: Value?
        /// Whether the last completed read succeeded.
        public var isAnswered: Bool
    }

    private struct State {
        var value: (value: Value, at: ContinuousClock.Instant)?
        var isAnswered = false
        /// The earliest time of the next read.
        var askAgainAt: ContinuousClock.Instant?
        var isAsking = false
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let interval: Duration
    private let pause: Duration
    private let maxWait: Duration
    private let maxAge: Duration
    private let read: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// A cache without a value yet.
    /// - Parameters:
    ///   - interval: The shortest time between two reads.
    ///   - pause: The shortest time to the next read after one that failed; the interval by default.
    ///   - maxWait: The longest time that a scraper waits.
    ///   - maxAge: The greatest age of an answer if there is no newer one.
    ///   - read: Reads the value; must end by itself.
    public init(
        every interval: Duration, afterFailure pause: Duration? = nil, maxWait: Duration, maxAge: Duration,
        _ read: @escaping @Sendable () async throws -> Value
    ) {
        self.interval = interval
        self.pause = pause ?? interval
        self.maxWait = maxWait
        self.maxAge = maxAge
        self.read = read
    }

    /// The current answer, or else the last one.
    public func answer() async -> Answer {
        if let stream = join() {
            _ = try? await withDeadline(.now + maxWait) { for await _ in stream {} }
        }
        return state.withLock { state in
            let isFresh = state.value.map { ContinuousClock.now - $0.at < maxAge } ?? false
            return Answer(value: isFresh ? state.value?.value : nil, isAnswered: state.isAnswered)
        }
    }

    /// Begins a read, or joins one; nil if the last answer is new enough.
    private func join() -> AsyncStream<Never>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let (begins, joins) = state.withLock { state in
            if !state.isAsking, let again = state.askAgainAt, again > .now { return (false, false) }
            state.waiting.append(continuation)
            defer { state.isAsking = true }
            return (!state.isAsking, true)
        }
        // In a task of its own: the first caller may be gone before the answer comes, and others wait for it too.
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
            // A server that does not answer has no load from this, and its return should be noticed soon.
            state.askAgainAt = end + (value == nil ? pause : max(interval, (end - began) * 20))
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }
}
