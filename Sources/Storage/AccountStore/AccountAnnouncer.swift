import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Synchronization

/// Tells listeners which accounts changed, beside the transactions that changed them: a hint, which may fail or come late.
///
/// It may not be a part of those: while one session that listens reads nothing, PostgreSQL's queue of notifications fills up, and
/// when it is full every transaction that notifies fails. Many accounts at once are told in one statement, and very many as "any".
final class AccountAnnouncer: Sendable {
    static let channel = "storehook_accounts"

    private struct State {
        var waiting: Set<UniqueIdentifier> = []
        var isRunning = false
    }

    private let pool: PostgresPool
    private let state = Mutex(State())

    /// The most that are named one by one.
    private static let limit = 1000
    private static let interval = Duration.milliseconds(10)
    private static let deadline = Duration.seconds(2)

    init(_ pool: PostgresPool) { self.pool = pool }

    /// Sends hints soon, and does not wait for them.
    func announce(_ accounts: some Collection<UniqueIdentifier>) {
        guard !accounts.isEmpty else { return }
        let begins = state.withLock { state in
            // One more than is named says that there were more.
            for account in accounts where state.waiting.count <= Self.limit { state.waiting.insert(account) }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { Task { await run() } }
    }

    /// Says that any account may have changed, and waits until that is out, or has failed.
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

    /// Its commit waits neither for the disk nor for a standby: there is nothing in it to be kept.
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
