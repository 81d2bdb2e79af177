import APIKit
import Base
import Logging
import Synchronization

/// Reads that the guard remembers: each value for a second at most or until it is reported to have changed; for a minute while the
/// database does not answer.
///
/// However many requests ask for a value, it is read once a second.
final class RememberedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What is known of a value.
    struct Known: Sendable {
        /// The value, as it was read.
        var value: Value
        /// How long ago it was read.
        var age: Duration
        /// Whether it is older than it should be: the database does not answer.
        var isStale = false
    }

    /// How a value has changed since it was read.
    enum Change {
        /// A notification of the database has reported it.
        case heard
        /// This process has changed it, and its answer has reported that: the next answer must show it.
        case made
    }

    private struct Entry {
        var value: Value
        var readAt: ContinuousClock.Instant
        var change: Change?
    }

    private struct Flight {
        var waiting: [AsyncStream<Never>.Continuation] = []
        /// How it changed while it was read.
        var change: Change?
    }

    private struct State {
        var entries: BoundedTable<Key, Entry>
        var flights: [Key: Flight] = [:]
        /// Before this the database is not asked again: it has just not answered.
        var askAgainAt: ContinuousClock.Instant?
        var isFailing = false
    }

    /// How old a value may be while the database answers.
    private static var freshness: Duration { .seconds(1) }
    /// How old while it does not.
    static var patience: Duration { .seconds(60) }
    /// How long a caller waits that could be answered from memory.
    private static var wait: Duration { .milliseconds(400) }

    private let failure: Logger.Message
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// Nothing is remembered yet.
    /// - Parameters:
    ///   - most: how many values are remembered.
    ///   - failure: what the log says when the database stops answering.
    init(
        most: Int, saying failure: Logger.Message, logger: Logger,
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        state = Mutex(State(entries: BoundedTable(most: most)))
        self.failure = failure
        self.logger = logger
        self.clock = clock
    }

    /// A value has changed.
    func note(_ change: Change, of key: Key) {
        state.withLock { state in
            if state.flights[key]?.change != .made { state.flights[key]?.change = change }
            guard var entry = state.entries.value(of: key), entry.change != .made else { return }
            entry.change = change
            state.entries.put(entry, for: key)
        }
    }

    /// Any value may have changed.
    func forgetAll() {
        state.withLock { state in
            state.entries.removeAll()
            for key in state.flights.keys where state.flights[key]?.change == nil {
                state.flights[key]?.change = .heard
            }
        }
    }

    /// A value that need not be read; nil where it has to be.
    func fresh(_ key: Key) -> Known? { known(key, within: Self.freshness, evenChanged: false) }

    /// A value that may stand in while the database does not answer; nil where none is remembered. Nothing is read.
    func standIn(_ key: Key) -> Known? {
        guard var known = known(key, within: Self.patience, evenChanged: true) else { return nil }
        known.isStale = known.age >= Self.freshness
        return known
    }

    /// A value that is not fresh, read now; nil if it is neither remembered nor to be read.
    /// - Parameter load: reads it; must come to an end by itself. A caller that asks for the same value meanwhile gets this result.
    func value(of key: Key, reading load: @escaping @Sendable () async throws -> Value) async -> Known? {
        // With something to go by, this does not wait for a database that may be away.
        let deadline = maySuffice(key) ? ContinuousClock.now + Self.wait : nil
        // A reading that was joined may have begun before the change; the second begins after it.
        for _ in 0..<2 {
            guard let stream = join(key, load) else { break }
            _ = try? await withDeadline(deadline) { for await _ in stream {} }
            if let known = fresh(key) { return known }
        }
        return standIn(key)
    }

    /// Whether what is remembered may be answered where the database is slow to answer.
    private func maySuffice(_ key: Key) -> Bool {
        let now = clock()
        return state.withLock { state in
            guard let entry = state.entries.value(of: key) else { return false }
            return entry.change != .made && now - entry.readAt < Self.patience
        }
    }

    private func known(_ key: Key, within most: Duration, evenChanged: Bool) -> Known? {
        let now = clock()
        return state.withLock { state in
            guard let entry = state.entries.value(of: key), now - entry.readAt < most,
                evenChanged || entry.change == nil
            else { return nil }
            return Known(value: entry.value, age: now - entry.readAt)
        }
    }

    /// Begins to read a value, or joins the reading under way; nil if the database has just not answered.
    private func join(
        _ key: Key, _ load: @escaping @Sendable () async throws -> Value
    ) -> AsyncStream<Never>? {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let now = clock()
        let (begins, joins) = state.withLock { state in
            if state.flights[key] != nil {
                state.flights[key]?.waiting.append(continuation)
                return (false, true)
            }
            if let again = state.askAgainAt, again > now { return (false, false) }
            state.flights[key] = Flight(waiting: [continuation])
            return (true, true)
        }
        // In a task of its own: the first caller may be gone before the answer comes, and others wait for it too.
        if begins { Task { await read(key, load) } }
        return joins ? stream : nil
    }

    private func read(_ key: Key, _ load: @Sendable () async throws -> Value) async {
        // The age counts from before the question.
        let began = clock()
        let result: Result<Value, any Error>
        do { result = .success(try await load()) } catch { result = .failure(error) }
        let (waiting, isNews) = state.withLock { state in
            let flight = state.flights.removeValue(forKey: key)
            var isNews = false
            switch result {
            case .success(let value):
                state.entries.put(Entry(value: value, readAt: began, change: flight?.change), for: key)
                (state.askAgainAt, state.isFailing) = (nil, false)
            case .failure:
                state.askAgainAt = clock() + Self.freshness
                isNews = !state.isFailing
                state.isFailing = true
            }
            return (flight?.waiting ?? [], isNews)
        }
        for continuation in waiting { continuation.finish() }
        if isNews, case .failure(let error) = result {
            logger.warning(failure, metadata: ["error": "\(error)"])
        }
    }
}
