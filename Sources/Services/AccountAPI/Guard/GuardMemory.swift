import APIKit
import Accounts
import AppStorePayloads
import AppleRecords
package import Base
package import Logging
import Synchronization

/// The accounts that a guard remembers: each for a second at most or until a notification says that it has changed; for a minute
/// while the database does not answer.
package final class GuardMemory: Sendable {
    /// What is known of an account.
    struct Knowledge: Sendable {
        /// The account.
        var account: AccountView
        /// The database's clock as it must be now.
        var now: Timestamp
        /// How old it is, where that is more than it should be: the database does not answer.
        var stale: Duration?
    }

    /// How an account has changed since it was read.
    private enum Change {
        /// A notification of the database has reported it.
        case heard
        /// This process has changed it, and its answer has reported that: the guard's next answer must show it.
        case made
    }

    private struct Entry {
        var account: AccountEnvironments
        var readAt: ContinuousClock.Instant
        var change: Change?
    }

    private struct Flight {
        var waiting: [AsyncStream<Never>.Continuation] = []
        /// How it changed while it was read.
        var change: Change?
    }

    private struct State {
        var entries: BoundedTable<UniqueIdentifier, Entry>
        var flights: [UniqueIdentifier: Flight] = [:]
        /// Before this the database is not asked again: it has just not answered.
        var askAgainAt: ContinuousClock.Instant?
        var isFailing = false
    }

    /// How old it may be while the database answers.
    private static let freshness = Duration.seconds(1)
    /// How old while it does not.
    package static let patience = Duration.seconds(60)
    /// How long a caller waits that could be answered from memory.
    private static let wait = Duration.milliseconds(400)

    private let load: @Sendable (Caller) async throws -> AccountEnvironments
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// An empty memory.
    /// - Parameters:
    ///   - most: how many accounts are remembered, at some 500 bytes each.
    ///   - load: reads an account; must come to an end by itself.
    package init(
        most: Int = 100_000, logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        load: @escaping @Sendable (Caller) async throws -> AccountEnvironments
    ) {
        state = Mutex(State(entries: BoundedTable(most: most)))
        self.logger = logger
        self.clock = clock
        self.load = load
    }

    /// An empty memory, which reads accounts as everybody does.
    package convenience init(
        logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        reading reads: AccountEnvironmentReads
    ) {
        self.init(logger: logger, clock: clock) { caller in
            try await reads.environments(of: caller, for: Self.patience).remembered
        }
    }

    /// An account has changed, by the payload of a notification: its token, or anything else, which means any.
    package func change(_ payload: String) {
        if let token = UniqueIdentifier(payload) { return note(.heard, of: token) }
        state.withLock { state in
            state.entries.removeAll()
            for token in state.flights.keys where state.flights[token]?.change == nil {
                state.flights[token]?.change = .heard
            }
        }
    }

    /// This process has changed an account, and its answer reports that: while the database answers, the guard gives no older answer.
    package func change(_ token: UniqueIdentifier) { note(.made, of: token) }

    private func note(_ change: Change, of token: UniqueIdentifier) {
        state.withLock { state in
            if state.flights[token]?.change != .made { state.flights[token]?.change = change }
            guard var entry = state.entries.value(of: token), entry.change != .made else { return }
            entry.change = change
            state.entries.put(entry, for: token)
        }
    }

    /// What is known of an account; nil if it is neither remembered nor to be read.
    func knowledge(of caller: Caller) async -> Knowledge? {
        let token = caller.token
        if let known = known(token, within: Self.freshness, evenChanged: false) { return known }
        // With something to go by, this does not wait for a database that may be away.
        let deadline = maySuffice(token) ? ContinuousClock.now + Self.wait : nil
        // A reading that was joined may have begun before the change; the second begins after it.
        for _ in 0..<2 {
            guard let stream = join(caller) else { break }
            _ = try? await withDeadline(deadline) { for await _ in stream {} }
            if let known = known(token, within: Self.freshness, evenChanged: false) { return known }
        }
        if let known = known(token, within: Self.freshness, evenChanged: true) { return known }
        guard var known = known(token, within: Self.patience, evenChanged: true) else { return nil }
        known.stale = age(of: token)
        return known
    }

    /// Whether what is remembered may be answered where the database is slow to answer.
    private func maySuffice(_ token: UniqueIdentifier) -> Bool {
        let now = clock()
        return state.withLock { state in
            guard let entry = state.entries.value(of: token) else { return false }
            return entry.change != .made && now - entry.readAt < Self.patience
        }
    }

    private func age(of token: UniqueIdentifier) -> Duration? {
        let now = clock()
        return state.withLock { state in state.entries.value(of: token).map { now - $0.readAt } }
    }

    private func known(
        _ token: UniqueIdentifier, within age: Duration, evenChanged: Bool
    ) -> Knowledge? {
        let now = clock()
        return state.withLock { state in
            guard let entry = state.entries.value(of: token), now - entry.readAt < age,
                evenChanged || entry.change == nil
            else { return nil }
            let passed = Int64((now - entry.readAt) / .milliseconds(1))
            let now = entry.account.production.instant.adding(milliseconds: passed)
            return Knowledge(account: entry.account.answering(at: now), now: now)
        }
    }

    /// Begins to read an account, or joins the reading under way; nil if the database has just not answered.
    private func join(_ caller: Caller) -> AsyncStream<Never>? {
        let token = caller.token
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let now = clock()
        let (begins, joins) = state.withLock { state in
            if state.flights[token] != nil {
                state.flights[token]?.waiting.append(continuation)
                return (false, true)
            }
            if let again = state.askAgainAt, again > now { return (false, false) }
            state.flights[token] = Flight(waiting: [continuation])
            return (true, true)
        }
        // In a task of its own: the first caller may be gone before the answer comes, and others wait for it too.
        if begins { Task { await read(caller) } }
        return joins ? stream : nil
    }

    private func read(_ caller: Caller) async {
        let token = caller.token
        // The age counts from before the question.
        let began = clock()
        let result: Result<AccountEnvironments, any Error>
        do { result = .success(try await load(caller)) } catch { result = .failure(error) }
        let (waiting, isNews) = state.withLock { state in
            let flight = state.flights.removeValue(forKey: token)
            var isNews = false
            switch result {
            case .success(let account):
                state.entries.put(Entry(account: account, readAt: began, change: flight?.change), for: token)
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
            logger.warning("The guard goes on with what it knows", metadata: ["error": "\(error)"])
        }
    }
}
