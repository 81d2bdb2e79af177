import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

/// What an account was before the phases that its row keeps: rows of `storehook.account_history`.
struct AccountPast: Sendable {
    let token: UniqueIdentifier
    let environment: String
    /// From when on its rows are replaced.
    let from: Timestamp
    /// Whether there may be such rows: none where the row of `account_status` began before, until now.
    let replaces: Bool
    /// In order; the last one ends where the row begins.
    let phases: [AccountPhase]
    let end: Timestamp

    /// Nil where there is nothing to write.
    init?(_ account: LoadedAccount, _ state: AccountState, before row: StoredAccount) {
        guard let writtenFrom = account.writtenFrom else { return nil }
        let end = row.knownFrom ?? .distantPast
        let stored = account.storedFrom ?? .distantPast
        let from = min(writtenFrom, end)
        guard from < end || from < stored else { return nil }
        token = account.token
        environment = account.environment
        self.from = from
        self.end = end
        replaces = from < stored
        phases = state.from(from).phases.filter { $0.startsAt < end }
    }

    /// Each phase with its end.
    var ended: [(phase: AccountPhase, end: Timestamp)] {
        zip(phases, phases.dropFirst().map(\.startsAt) + [end]).map { ($0, $1) }
    }
}

extension AccountStore {
    /// Writes what accounts were. The accounts are locked.
    func write(_ history: [AccountPast], _ session: borrowing PostgresSession) throws {
        guard !history.isEmpty else { return }
        let replaced = history.filter(\.replaces)
        if !replaced.isEmpty { try session.query(.forget(replaced)) }
        let rows = history.flatMap { past in past.ended.map { (past: past, phase: $0.phase, end: $0.end) } }
        guard !rows.isEmpty else { return }
        try session.query(
            PostgresQuery(
                "accounts.write_history",
                """
                insert into storehook.account_history
                       (token, environment, starts_at, ends_at, status, tier, source, product_id, bundle_id,
                        original_transaction_id, act, expires_at, will_renew, in_trial)
                select * from unnest(
                       \(rows.map { UUID($0.past.token) }), \(rows.map(\.past.environment)),
                       \(rows.map { PostgresTimestamp($0.phase.startsAt) }), \(rows.map { PostgresTimestamp($0.end) }),
                       \(rows.map(\.phase.status.rawValue)), \(rows.map(\.phase.tier)),
                       \(rows.map(\.phase.source.rawValue)), \(rows.map(\.phase.productID)),
                       \(rows.map { $0.phase.purchase?.bundleID }),
                       \(rows.map { $0.phase.purchase?.originalTransactionID }), \(rows.map(\.phase.act)),
                       \(rows.map { $0.phase.expiresAt.map { PostgresTimestamp($0) } }),
                       \(rows.map(\.phase.willRenew)), \(rows.map(\.phase.inTrial)))
                    on conflict (token, environment, starts_at) do update
                   set ends_at = excluded.ends_at, status = excluded.status, tier = excluded.tier,
                       source = excluded.source, product_id = excluded.product_id, bundle_id = excluded.bundle_id,
                       original_transaction_id = excluded.original_transaction_id, act = excluded.act,
                       expires_at = excluded.expires_at, will_renew = excluded.will_renew, in_trial = excluded.in_trial
                """
            ).keepingPlan())
    }

    /// What is stored of what accounts were, in order.
    func past(
        of accounts: [UniqueIdentifier], _ session: borrowing PostgresSession
    ) throws -> [AccountStore.ViewKey: [(phase: AccountPhase, end: Timestamp)]] {
        try session.query(
            PostgresQuery(
                "accounts.past",
                """
                select token, environment, starts_at, ends_at, status, tier, source, product_id, bundle_id,
                       original_transaction_id, act, expires_at, will_renew, in_trial
                  from storehook.account_history where token = any(\(accounts.map { UUID($0) }))
                 order by token, environment, starts_at
                """)
        ).reduce(into: [:]) { past, row in
            let environment: String = try row.decode("environment")
            let key = ViewKey(UniqueIdentifier(try row.decode("token", as: UUID.self)), in: environment)
            let end = Timestamp(try row.decode("ends_at", as: PostgresTimestamp.self))
            past[key, default: []].append((try AccountPhase(history: row, in: environment), end))
        }
    }
}

extension PostgresQuery {
    /// Takes away what accounts were from an instant on.
    fileprivate static func forget(_ history: [AccountPast]) -> PostgresQuery {
        PostgresQuery(
            "accounts.forget_history",
            """
            with gone as (
                select * from unnest(
                       \(history.map { UUID($0.token) }), \(history.map(\.environment)),
                       \(history.map { PostgresTimestamp($0.from) }))
                       as gone (token, environment, since)
            ), cut as (
                update storehook.account_history h set ends_at = gone.since from gone
                 where h.token = gone.token and h.environment = gone.environment
                   and h.starts_at < gone.since and h.ends_at > gone.since
            )
            delete from storehook.account_history h using gone
             where h.token = gone.token and h.environment = gone.environment and h.starts_at >= gone.since
            """)
    }
}

extension AccountPhase {
    /// Reads a row of `account_history`.
    fileprivate init(history row: PostgresRow, in environment: String) throws {
        guard let status = AccountStatus(rawValue: try row.decode("status")),
            let source = AccountSource(rawValue: try row.decode("source"))
        else {
            throw PostgresError(
                .decoding, "account_history: a status or source that this release does not know", operation: "decode")
        }
        var purchase: PurchaseKey?
        if let bundle = try row.decode("bundle_id", as: String?.self),
            let id = try row.decode("original_transaction_id", as: String?.self)
        {
            purchase = PurchaseKey(environment: environment, bundleID: bundle, originalTransactionID: id)
        }
        self.init(
            startsAt: Timestamp(phaseStart: try row.decode("starts_at", as: PostgresTimestamp.self)), status: status,
            tier: try row.decode("tier"), source: source, productID: try row.decode("product_id"), purchase: purchase,
            act: try row.decode("act"),
            expiresAt: try row.decode("expires_at", as: PostgresTimestamp?.self).map { Timestamp($0) },
            willRenew: try row.decode("will_renew"), inTrial: try row.decode("in_trial"))
    }
}
