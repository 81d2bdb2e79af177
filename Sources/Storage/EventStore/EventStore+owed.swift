package import AccountStore
import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension EventStore {
    /// From here on a `due_at` says that a purchase or an account is owed: nothing is reported of it before the first fill of an app's
    /// history is over (`storehook.owed_at`). The transaction that leaves it unreported notes that, so nothing is ever
    /// forgotten, whichever program is killed. 9000-01-01T00:00:00Z.
    static let owed = Timestamp(millisecondsSince1970: 221_845_392_000_000)

    /// Reports what is owed to fills that are over, a portion at a time, as it stands. Any number of workers may do this at once.
    /// - Returns: the events written; nothing taken where nothing is owed that can be reported now.
    /// - Throws: `PostgresError`, ``Untold``, `UnreadableCatalog`.
    package func settleOwed(
        _ due: Due, _ accounts: AccountStore, atMost limit: Int = portion
    ) async throws -> ClockResult {
        let options = TransactionOptions(idleTimeout: Self.idleTimeout, goesByIndexes: true, name: "events.settle_owed")
        return try await pool.withTransaction(options) { session in
            switch due {
            case .purchases:
                let keys = try session.query(.owedPurchases(limit)).map { try PurchaseKey($0) }.sorted()
                guard !keys.isEmpty else { return ClockResult() }
                return try Self.naming(purchases: keys) {
                    let held = try accounts.owners(of: keys, and: [], session)
                    let news = try lines(of: keys, areKnown: true, session)
                    let events = try record(news, held, cause: .reconcile, session)
                    try session.query(.settled(keys))
                    return ClockResult(taken: keys.count, events: events)
                }
            case .accounts:
                let tokens = try session.query(.owedAccounts(limit)).map { row in
                    UniqueIdentifier(try row.decode("token", as: UUID.self))
                }
                guard !tokens.isEmpty else { return ClockResult() }
                return try Self.naming(accounts: tokens) {
                    let held = try accounts.owners(of: [], and: tokens, session)
                    let events = try record([], held, cause: .reconcile, session)
                    try session.query(.settled(tokens))
                    return ClockResult(taken: tokens.count, events: events)
                }
            }
        }
    }

    /// Whether anything is owed, also to fills that are not over: the cheap half of ``settleOwed(_:_:atMost:)``.
    package func isOwed() async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "events.is_owed",
                """
                select exists (select from storehook.purchase_tellings where due_at >= \(PostgresTimestamp(Self.owed)))
                    or exists (select from storehook.access_tellings where due_at >= \(PostgresTimestamp(Self.owed)))
                """)
        ).one().decode(0)
    }
}

extension PostgresQuery {
    fileprivate static func owedPurchases(_ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "events.owed_purchases",
            """
            select p.original_transaction_id, p.bundle_id, p.environment
              from (select t.original_transaction_id, t.bundle_id, t.environment
                      from storehook.filled_apps() f
                     cross join lateral (
                            select t.* from storehook.purchase_tellings t
                             where t.due_at = f.owed_at and t.bundle_id = f.bundle_id and t.environment = f.environment
                             limit \(Int64(limit) * 2)) t) owed
              join storehook.purchase_lines p using (original_transaction_id, bundle_id, environment)
             limit \(Int64(limit))
               for no key update of p skip locked
            """)
    }

    /// An account with an owed purchase is reported with that.
    fileprivate static func owedAccounts(_ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "events.owed_accounts",
            """
            with filled as materialized (select * from storehook.filled_apps())
            select a.token
              from (select distinct owed.token
                      from filled f
                     cross join lateral (
                            select t.token from storehook.access_tellings t
                             where t.due_at = f.owed_at and t.environment = f.environment
                             limit \(Int64(limit) * 2)) owed) owed
              join storehook.accounts a using (token)
             where not exists (
                   select from storehook.account_lines l
                     join storehook.purchase_tellings t using (original_transaction_id, bundle_id, environment)
                    where l.token = a.token and t.due_at in (select f.owed_at from filled f))
             limit \(Int64(limit))
               for no key update of a skip locked
            """)
    }

    /// What is gone, or belongs to no account any more, is owed no longer.
    fileprivate static func settled(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "events.settled_purchases",
            """
            update storehook.purchase_tellings t set due_at = null
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as key (original_transaction_id, bundle_id, environment)
             where (t.original_transaction_id, t.bundle_id, t.environment)
                   = (key.original_transaction_id, key.bundle_id, key.environment)
               and t.due_at >= \(PostgresTimestamp(EventStore.owed))
            """)
    }

    fileprivate static func settled(_ tokens: [UniqueIdentifier]) -> PostgresQuery {
        PostgresQuery(
            "events.settled_accounts",
            """
            update storehook.access_tellings set due_at = null
             where token = any (\(tokens.map { UUID($0) })) and due_at >= \(PostgresTimestamp(EventStore.owed))
            """)
    }
}
