package import AccountStore
import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension EventStore {
    /// How many purchases or accounts one portion processes: workers may have to wait for them.
    package static let portion = 100

    /// Goes on with the two walks, by a portion each:
    /// - all accounts, where another catalog became current;
    /// - all purchases that were never reported, once after an upgrade from a release that left some unreported. Those whose app's
    ///   history is being fetched for the first time are noted as owed (``settleOwed(_:_:atMost:)``).
    ///
    /// Any number of workers may call this at once: one holds the walk, the others get an empty result. How far
    /// the walk has come is recorded in the transaction that writes its events, so that a crash loses no event and
    /// repeats none.
    /// - Parameters:
    ///   - limit: the most to process.
    ///   - untold: rows to leave out: those whose events cannot be written must not stop all others.
    /// - Returns: the events written; nothing taken where there is no walk.
    /// - Throws: `PostgresError`, ``Untold``, `UnreadableCatalog`.
    package func walk(
        _ due: Due, _ accounts: AccountStore, atMost limit: Int = portion, goingOver untold: Untold? = nil
    ) async throws -> ClockResult {
        let options = TransactionOptions(idleTimeout: Self.idleTimeout, goesByIndexes: true, name: "events.walk")
        return try await pool.withTransaction(options) { session in
            switch due {
            case .purchases: try walkPurchases(accounts, limit, untold, session)
            case .accounts: try walkAccounts(accounts, limit, untold, session)
            }
        }
    }

    /// Whether a walk is under way, or another catalog has become current: the cheap half of ``walk(_:)``.
    package func isWalking() async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "events.is_walking",
                """
                select exists (
                    select from storehook.telling_walks w cross join storehook.catalog_state c
                     where w.is_under_way
                        or w.what = 'accounts' and c.current_version is not null
                           and w.catalog is distinct from c.current_version)
                """)
        ).one().decode(0)
    }

    private func walkPurchases(
        _ accounts: AccountStore, _ limit: Int, _ untold: Untold?, _ session: borrowing PostgresSession
    ) throws -> ClockResult {
        let row = try session.query(
            PostgresQuery(
                "events.walk_purchases",
                """
                select after_key from storehook.telling_walks
                 where what = 'purchases' and is_under_way
                   for update skip locked
                """)
        ).first
        guard let row else { return ClockResult() }
        let found = try session.query(.untold(after: try row.decode("after_key", as: [String]?.self), limit))
        let keys = try found.map { try PurchaseKey($0) }
        let owed = try found.filter { try $0.decode("is_filling") }.map { try PurchaseKey($0) }
        let end = keys.last.map { [$0.originalTransactionID, $0.bundleID, $0.environment] }
        try session.query(
            PostgresQuery(
                "events.walk_purchases_on",
                """
                update storehook.telling_walks set is_under_way = \(end != nil), after_key = \(end)
                 where what = 'purchases'
                """))
        guard !keys.isEmpty, untold?.purchases != keys else { return ClockResult(taken: keys.count) }
        return try Self.naming(purchases: keys) {
            try Ledger.hold(keys, session)
            try session.query(.owe(owed))
            let present = Set(keys).subtracting(owed).sorted()
            let held = try accounts.owners(of: present, and: [], session)
            let news = try lines(of: present, areKnown: true, session)
            return ClockResult(taken: keys.count, events: try record(news, held, cause: .reconcile, session))
        }
    }

    private func walkAccounts(
        _ accounts: AccountStore, _ limit: Int, _ untold: Untold?, _ session: borrowing PostgresSession
    ) throws -> ClockResult {
        let row = try session.query(
            PostgresQuery(
                "events.walk_accounts",
                """
                select w.after_key, w.next_catalog, c.current_version
                  from storehook.telling_walks w cross join storehook.catalog_state c
                 where w.what = 'accounts' and c.current_version is not null
                   and w.catalog is distinct from c.current_version
                   for update of w skip locked
                """)
        ).first
        guard let row else { return ClockResult() }
        let current: Int64 = try row.decode("current_version")
        let isNew = try row.decode("next_catalog", as: Int64?.self) != current
        let last = isNew ? nil : try row.decode("after_key", as: [String]?.self)?.first.flatMap { UUID(uuidString: $0) }
        let tokens = try session.query(
            PostgresQuery(
                "events.walk_page",
                """
                select a.token from storehook.accounts a
                 where (\(last)::uuid is null or a.token > \(last))
                   -- An account with an unreported subscription is reported with that.
                   and not exists (
                       select from storehook.account_lines l
                         join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
                         left join storehook.purchase_tellings t using (original_transaction_id, bundle_id, environment)
                        where l.token = a.token and t.told is null)
                   -- Likewise one that is owed.
                   and not exists (
                       select from storehook.access_tellings o
                        where o.token = a.token and o.due_at >= \(PostgresTimestamp(Self.owed)))
                 order by a.token limit \(limit)
                """)
        ).map { try $0.decode(0, as: UUID.self) }
        let end = tokens.last.map { [$0.uuidString] }
        try session.query(
            PostgresQuery(
                "events.walk_accounts_on",
                """
                update storehook.telling_walks
                   set is_under_way = \(end != nil), after_key = \(end), next_catalog = \(current),
                       catalog = case when \(end != nil) then catalog else \(current) end
                 where what = 'accounts'
                """))
        let ids = tokens.map { UniqueIdentifier($0) }
        guard !ids.isEmpty, untold?.accounts != ids else { return ClockResult(taken: ids.count) }
        return try Self.naming(accounts: ids) {
            let held = try accounts.owners(of: [], and: ids, session)
            return ClockResult(taken: tokens.count, events: try record([], held, cause: .catalog, session))
        }
    }
}

extension PostgresQuery {
    /// The next subscriptions that were never reported, and whether their apps' history is being fetched for the first time.
    fileprivate static func untold(after last: [String]?, _ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "events.untold",
            """
            with filling as materialized (
                select bundle_id, environment from (select distinct bundle_id, environment from storehook.served_apps) s
                 where storehook.is_filling(bundle_id, environment)
            )
            select s.original_transaction_id, s.bundle_id, s.environment,
                   (s.bundle_id, s.environment) in (select bundle_id, environment from filling) as is_filling
              from storehook.subscriptions s
              left join storehook.purchase_tellings t using (original_transaction_id, bundle_id, environment)
             where t.told is null
               and (\(last)::text[] is null
                    or (s.original_transaction_id, s.bundle_id, s.environment)
                       > ((\(last)::text[])[1], (\(last)::text[])[2], (\(last)::text[])[3]))
             order by 1, 2, 3
             limit \(limit)
            """)
    }

    /// Notes locked purchases that were never reported as owed.
    fileprivate static func owe(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "events.owe",
            """
            insert into storehook.purchase_tellings as known (original_transaction_id, bundle_id, environment, due_at)
            select id, bundle_id, environment, storehook.owed_at(bundle_id, environment)
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as key (id, bundle_id, environment)
                on conflict (original_transaction_id, bundle_id, environment) do update set due_at = excluded.due_at
             where known.told is null
            """)
    }
}
