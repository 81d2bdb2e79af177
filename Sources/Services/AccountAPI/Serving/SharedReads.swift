package import AccountStore
import Postgres
import Synchronization

/// Reads accounts for whoever asks about them.
package typealias AccountReads = SharedReads<AccountStore.ViewKey, AccountView>

/// Reads from the database for requests, those that ask at the same time in one statement.
///
/// Most of what reading one account costs is what any statement costs: the way to the server and back, and ten relations that are
/// opened before the first row comes. So only a few statements are under way at a time; whoever asks meanwhile is read by the next
/// one, together with all others who wait. Where few ask, nobody waits. A read begins after it was asked for, so that it shows all
/// that was committed before.
package final class SharedReads<Key: Sendable, Value: Sendable>: Sendable {
    private struct Waiting {
        let key: Key
        let continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var waiting: [Waiting] = []
        var statements = 0

        /// Those to read next, in the order in which they came.
        mutating func take(_ most: Int) -> [Waiting] {
            let taken = Array(waiting.prefix(most))
            waiting.removeFirst(taken.count)
            return taken
        }
    }

    private let most: Int
    private let mostStatements: Int
    private let read: @Sendable ([Key]) async throws -> [Value]
    private let state = Mutex(State())

    /// Shared reads.
    /// - Parameters:
    ///   - most: how many one statement reads at most: beyond 64 there is little left to share.
    ///   - mostStatements: how many statements are under way at most. Few, so that there are others to be read with; more than one,
    ///     so that nobody waits for a single slow one.
    ///   - read: reads many, each in its place; must come to an end by itself.
    package init(
        most: Int = 64, mostStatements: Int = 2, read: @escaping @Sendable ([Key]) async throws -> [Value]
    ) {
        self.most = most
        self.mostStatements = mostStatements
        self.read = read
    }

    /// Reads one.
    ///
    /// Whoever is cancelled waits all the same, as long as a statement may take.
    /// - Throws: what reading throws; an error that would not pass by itself concerns nobody else.
    package func value(of key: Key) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let batch = state.withLock { state -> [Waiting] in
                state.waiting.append(Waiting(key: key, continuation: continuation))
                guard state.statements < mostStatements else { return [] }
                state.statements += 1
                return state.take(most)
            }
            // On its own: it is nobody's request in particular.
            if !batch.isEmpty { Task.detached { await self.serve(startingWith: batch) } }
        }
    }

    /// Reads until nobody waits.
    private func serve(startingWith first: [Waiting]) async {
        var batch = first
        while !batch.isEmpty {
            await serve(batch)
            batch = state.withLock { state in
                if state.waiting.isEmpty { state.statements -= 1 }
                return state.take(most)
            }
        }
    }

    private func serve(_ batch: [Waiting]) async {
        do {
            let values = try await read(batch.map(\.key))
            guard values.count == batch.count else {
                throw PostgresError(.decoding, "wanted \(batch.count) values, got \(values.count)")
            }
            for (waiting, value) in zip(batch, values) { waiting.continuation.resume(returning: value) }
        } catch let silence as DatabaseWatch.Silence {
            // Nor would it answer those who wait for their turn.
            let others = state.withLock { state in
                defer { state.waiting.removeAll() }
                return state.waiting
            }
            for waiting in batch + others { waiting.continuation.resume(throwing: silence) }
        } catch {
            guard batch.count > 1, (error as? PostgresError)?.isTransient != true else {
                for waiting in batch { waiting.continuation.resume(throwing: error) }
                return
            }
            // What is wrong with one of them is no concern of the others.
            for waiting in batch { await serve([waiting]) }
        }
    }
}

extension SharedReads where Key == AccountStore.ViewKey, Value == AccountView {
    /// Reads accounts in a database; whoever waits for it is told to come back once it is silent.
    package convenience init(_ accounts: AccountStore, watch: DatabaseWatch) {
        self.init { keys in try await watch.watching { try await accounts.views(keys) } }
    }
}
