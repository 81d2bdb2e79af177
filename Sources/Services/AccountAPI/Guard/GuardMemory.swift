import APIKit
package import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
package import Base
package import Logging

/// What a guard remembers: accounts, each for a second at most or until a notification says that it has changed; and, of accounts whose
/// use is asked for, counters, each for a second at most. While the database does not answer, each for a minute.
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

    /// What is known of a counter.
    struct KnownCount: Sendable {
        /// How much is used.
        var used: Int64
        /// As in ``Knowledge/stale``.
        var stale: Duration?
    }

    /// How old what is remembered may be while the database does not answer.
    private static let patience = RememberedReads<UniqueIdentifier, AccountEnvironments>.patience

    /// The log of all that is about the guard.
    let logger: Logger
    private let accounts: RememberedReads<UniqueIdentifier, AccountEnvironments>
    private let counts: RememberedReads<UsageCounter, Int64>
    private let load: @Sendable (Caller) async throws -> AccountEnvironments
    private let count: @Sendable (UsageCounter) async throws -> Int64

    /// An empty memory.
    /// - Parameters:
    ///   - most: how many accounts are remembered, at some 500 bytes each, and how many counters, at some 200.
    ///   - count: reads a counter; must come to an end by itself.
    ///   - load: reads an account; must come to an end by itself.
    package init(
        most: Int = 100_000, logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        counting count: @escaping @Sendable (UsageCounter) async throws -> Int64,
        load: @escaping @Sendable (Caller) async throws -> AccountEnvironments
    ) {
        self.logger = logger
        accounts = RememberedReads(
            most: most, saying: "The guard goes on with what it knows", logger: logger, clock: clock)
        counts = RememberedReads(
            most: most, saying: "The guard goes on with what it knows of use", logger: logger, clock: clock)
        self.load = load
        self.count = count
    }

    /// An empty memory, which reads accounts as everybody does.
    package convenience init(
        logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        reading reads: AccountEnvironmentReads, counting counters: CounterReads
    ) {
        self.init(logger: logger, clock: clock, counting: { try await counters.value(of: $0) }) { caller in
            try await reads.environments(of: caller, for: Self.patience).remembered
        }
    }

    /// An account has changed, by the payload of a notification: its token, or anything else, which means any.
    package func change(_ payload: String) {
        if let token = UniqueIdentifier(payload) {
            accounts.note(.heard, of: token)
        } else {
            accounts.forgetAll()
        }
    }

    /// This process has changed an account, and its answer reports that: while the database answers, the guard gives no older answer.
    package func change(_ token: UniqueIdentifier) { accounts.note(.made, of: token) }

    /// What is known of an account; nil if it is neither remembered nor to be read.
    func knowledge(of caller: Caller) async -> Knowledge? {
        if let known = accounts.fresh(caller.token) { return Knowledge(known) }
        return await accounts.value(of: caller.token) { [load] in try await load(caller) }.map { Knowledge($0) }
    }

    /// What is known of a counter; nil if it is neither remembered nor to be read.
    /// - Parameter reading: whether it may be read now. A database that has just not answered about the account is not waited for again.
    func count(of counter: UsageCounter, reading: Bool) async -> KnownCount? {
        if let known = counts.fresh(counter) { return KnownCount(known) }
        guard reading else { return counts.standIn(counter).map { KnownCount($0) } }
        return await counts.value(of: counter) { [count] in try await count(counter) }.map { KnownCount($0) }
    }
}

extension GuardMemory.Knowledge {
    fileprivate init(_ known: RememberedReads<UniqueIdentifier, AccountEnvironments>.Known) {
        now = known.value.production.instant.adding(milliseconds: Int64(known.age / .milliseconds(1)))
        account = known.value.answering(at: now)
        stale = known.isStale ? known.age : nil
    }
}

extension GuardMemory.KnownCount {
    fileprivate init(_ known: RememberedReads<UsageCounter, Int64>.Known) {
        used = known.value
        stale = known.isStale ? known.age : nil
    }
}
