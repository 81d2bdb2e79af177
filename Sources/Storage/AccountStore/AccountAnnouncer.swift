import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Synchronization

/// Sends hints about changed accounts, outside the transactions that changed them. A hint may fail or be late.
///
/// It must not be part of those transactions: while a listening session reads nothing, PostgreSQL's notification queue
/// fills up, and once it is full every transaction that notifies fails. Many accounts are announced in one statement,
/// and very many as "any".
final class AccountAnnouncer: Sendable {
    static let channel = "storehook_accounts"

    private struct State {
        var waiting: Set<UniqueIdentifier> = []
        var isRunning = false
    }

    private let pool: PostgresPool
    private let state = Mutex(State())

    /// The most accounts that are named one by one.
    private static let limit = 1000
    private static let interval = Duration.milliseconds(10)
    private static let deadline = Duration.seconds(2)

    init(_ pool: PostgresPool) { self.pool = pool }

    /// Sends hints soon; does not wait for them.
    func announce(_ accounts: some Collection<UniqueIdentifier>) {
        guard !accounts.isEmpty else { return }
        let begins = state.withLock { state in
            // One account above the limit records that there were more.
            for account in accounts where state.waiting.count <= Self.limit { state.waiting.insert(account) }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { Task { await run() } }
    }

    /// Announces that any account may have changed; waits until that is sent or has failed.
    func announceAll() async { await send([""]) }

    private func run() async {
        while let accounts = take() {
            await send(accounts.count > Self.limit ? [""] : accounts.map(\.description))
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func take() -> Set<UniqueIdentifier>? {
        state.withLock { state in
            defer { state.waiting = [] }
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning ? state.waiting : nil
        }
    }

    /// Its commit waits neither for the disk nor for a standby: a hint need not survive.
    private func send(_ payloads: [String]) async {
        _ = try? await pool.query(
            PostgresQuery(
                "accounts.announce",
                """
                select set_config('synchronous_commit', 'off', true), count(pg_notify(\(Self.channel), payload)::text)
                  from unnest(\(payloads)) as told (payload)
                """), deadline: Self.deadline)
    }
}
