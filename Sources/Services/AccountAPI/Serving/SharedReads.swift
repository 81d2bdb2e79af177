package import APIKit
package import AccountStore
package import Accounts
package import Base
import Postgres
import Synchronization

/// Account reads of all requests.
package typealias AccountReads = SharedReads<AccountStore.ViewKey, AccountView>

/// Reads from the database for requests, and combines those that arrive at the same time into one statement.
///
/// Most of the cost of reading one account is that of any statement: the round trip, and ten relations that are opened
/// before the first row. So one statement runs at a time, and a second one while a dozen keys wait. Requests that
/// arrive meanwhile are read together by the next statement; those for the same key share its result. Under low load no
/// request waits longer than that. If statements are slow (the database reads from disk or is far away), more of them
/// run.
///
/// A read begins after it was asked for, so that it shows all that was committed before.
package final class SharedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct Waiting {
        let key: Key
        let since: ContinuousClock.Instant
        var waiters: [Waiter]
    }

    private struct State {
        /// In the order in which they were first asked for.
        var order: [Key] = []
        var waiting: [Key: Waiting] = [:]
        var waiters = 0
        var statements = 0
        var begunAt: ContinuousClock.Instant
        /// Whether a ``lookAgain()`` is scheduled, which checks whether the waiting keys wait for a slow statement.
        var isLookedAfter = false
        /// How many one statement reads at most now.
        var most: Int

        /// Those to read next.
        mutating func take(at now: ContinuousClock.Instant) -> [Waiting] {
            let taken = order.prefix(most).compactMap { waiting.removeValue(forKey: $0) }
            order.removeFirst(taken.count)
            waiters -= taken.reduce(0) { $0 + $1.waiters.count }
            begunAt = now
            return taken
        }

        mutating func takeAll() -> [Waiting] {
            let taken = order.compactMap { waiting.removeValue(forKey: $0) }
            (order, waiters) = ([], 0)
            return taken
        }
    }

    /// What comes next for the waiting keys.
    private enum Step {
        case read([Waiting])
        /// A running statement's task reads them next; ``lookAgain()`` may check later whether it is slow.
        case wait(lookingAgain: Bool)
    }

    /// What came of a statement.
    private enum Outcome {
        case ended
        case silent(DatabaseWatch.Silence)
    }

    private let most: Int
    private let fewStatements: Int
    private let dozen: Int
    private let mostStatements: Int
    private let mostWaiters: Int
    private let slow: Duration
    private let limit: Duration
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let read: @Sendable ([Key]) async throws -> [Value]
    private let state: Mutex<State>

    /// Shared reads.
    /// - Parameters:
    ///   - most: how many one statement reads at most: beyond 64 there is little left to share.
    ///   - fewStatements: how many statements are under way at most as long as they are fast.
    ///   - dozen: how many keys have to wait for that; while fewer do, one statement runs.
    ///   - mostStatements: how many run at most while statements are slow.
    ///   - mostWaiters: how many requests wait at most; the next one is refused.
    ///   - slow: a statement that takes longer than this is slow.
    ///   - limit: the longest wait for a statement to begin; a request over it is refused when the next one begins.
    ///   - read: reads many, each in its place; must come to an end by itself.
    package init(
        most: Int = 64, fewStatements: Int = 2, dozen: Int = 12, mostStatements: Int = 6, mostWaiters: Int = 2048,
        slow: Duration = .milliseconds(10), limit: Duration = .milliseconds(800),
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        read: @escaping @Sendable ([Key]) async throws -> [Value]
    ) {
        self.most = most
        self.fewStatements = fewStatements
        self.dozen = dozen
        self.mostStatements = max(fewStatements, mostStatements)
        self.mostWaiters = mostWaiters
        self.slow = slow
        self.limit = limit
        self.clock = clock
        self.read = read
        state = Mutex(State(begunAt: clock(), most: most))
    }

    /// Reads one. A cancelled caller still waits: for a statement or two, each as long as it may take.
    /// - Throws: what reading throws; a permanent error of one key does not fail other keys; `PostgresError` with
    ///   `.timeout` where too many wait, or too long.
    package func value(of key: Key) async throws -> Value {
        try await withCheckedThrowingContinuation { waiter in
            let now = clock()
            let step = state.withLock { state -> Step? in
                guard state.waiters < mostWaiters else { return nil }
                state.waiters += 1
                if state.waiting[key]?.waiters.append(waiter) == nil {
                    state.waiting[key] = Waiting(key: key, since: now, waiters: [waiter])
                    state.order.append(key)
                }
                return nextStep(&state, at: now)
            }
            guard let step else {
                waiter.resume(throwing: PostgresError(.timeout, "as many wait for the database as may"))
                return
            }
            take(step)
        }
    }

    private func nextStep(_ state: inout State, at now: ContinuousClock.Instant) -> Step {
        if state.statements < mayBe(state, at: now) {
            state.statements += 1
            return .read(state.take(at: now))
        }
        let isFirst = !state.isLookedAfter
        state.isLookedAfter = true
        return .wait(lookingAgain: isFirst)
    }

    private func take(_ step: Step) {
        switch step {
        // A detached task: it serves many requests, not one in particular.
        case .read(let batch): Task.detached { await self.serve(startingWith: batch) }
        case .wait(lookingAgain: true):
            Task.detached { [weak self, slow] in
                try? await Task.sleep(for: slow)
                self?.lookAgain()
            }
        case .wait(lookingAgain: false): break
        }
    }

    /// Starts another statement beside a slow one for the keys that wait, even if no further request comes.
    private func lookAgain() {
        let now = clock()
        let step = state.withLock { state -> Step in
            state.isLookedAfter = false
            return state.waiting.isEmpty ? .wait(lookingAgain: false) : nextStep(&state, at: now)
        }
        take(step)
    }

    /// How many statements may be under way.
    private func mayBe(_ state: State, at now: ContinuousClock.Instant) -> Int {
        if now - state.begunAt > slow { return mostStatements }
        return state.waiting.count >= dozen ? fewStatements : 1
    }

    /// Reads until no key waits, or too few for one more statement: those are left to a statement that is running.
    private func serve(startingWith first: [Waiting]) async {
        var batch = first
        while !batch.isEmpty {
            if case .silent(let silence) = await serve(batch) {
                // The silent database would not answer the waiting requests either.
                Self.end(state.withLock { $0.takeAll() }, with: silence)
            }
            let now = clock()
            let step = state.withLock { state -> Step in
                state.statements -= 1
                return state.waiting.isEmpty ? .wait(lookingAgain: false) : nextStep(&state, at: now)
            }
            guard case .read(let next) = step else { return take(step) }
            batch = next
        }
    }

    private func serve(_ all: [Waiting]) async -> Outcome {
        let late = clock() - limit
        Self.end(
            all.filter { $0.since < late },
            with: PostgresError(.timeout, "no statement could begin within \(limit): others take too long"))
        let batch = all.filter { $0.since >= late }
        guard !batch.isEmpty else { return .ended }
        do {
            let values = try await read(batch.map(\.key))
            guard values.count == batch.count else {
                throw PostgresError(.decoding, "wanted \(batch.count) values, got \(values.count)")
            }
            for (waiting, value) in zip(batch, values) {
                for waiter in waiting.waiters { waiter.resume(returning: value) }
            }
            state.withLock { if batch.count >= $0.most { $0.most = min(most, $0.most * 2) } }
            return .ended
        } catch let silence as DatabaseWatch.Silence {
            Self.end(batch, with: silence)
            return .silent(silence)
        } catch let error as PostgresError where error.isTransient || batch.count == 1 {
            // So many were too many for the time that a statement has.
            if error.kind == .timeout { state.withLock { $0.most = max(1, batch.count / 2) } }
            Self.end(batch, with: error)
            return .ended
        } catch {
            guard batch.count > 1 else {
                Self.end(batch, with: error)
                return .ended
            }
            // What is wrong with one of them is no concern of the others.
            let middle = batch.count / 2
            if case .silent(let silence) = await serveAgain(Array(batch[..<middle])) {
                Self.end(Array(batch[middle...]), with: silence)
                return .silent(silence)
            }
            return await serveAgain(Array(batch[middle...]))
        }
    }

    /// Reads a part of what could not be read together; how long they have waited counts anew.
    private func serveAgain(_ part: [Waiting]) async -> Outcome {
        let now = clock()
        return await serve(part.map { Waiting(key: $0.key, since: now, waiters: $0.waiters) })
    }

    private static func end(_ all: [Waiting], with error: any Error) {
        for waiting in all {
            for waiter in waiting.waiters { waiter.resume(throwing: error) }
        }
    }
}

extension SharedReads where Key == AccountStore.ViewKey, Value == AccountView {
    /// Reads accounts in a database; waiting requests are asked to retry once it is silent.
    /// - Parameters:
    ///   - connections: how many the store's pool has; some are left to other work.
    ///   - now: the present; nil, as by default, for the database's clock.
    package convenience init(
        _ accounts: AccountStore, connections: Int, watch: DatabaseWatch,
        now: @escaping @Sendable () -> Timestamp? = { nil }
    ) {
        self.init(mostStatements: connections * 3 / 4) { keys in
            try await watch.watching { try await accounts.views(keys, at: now()) }
        }
    }
}
