package import AccountStore
import Accounts
import AppStorePayloads
package import Events
import Foundation
package import Ledger
package import Postgres
import Subscriptions

extension EventStore {
    /// What the clock has told.
    package struct Ticked: Sendable, Hashable {
        /// Purchases and accounts that were due, and that nobody else was at.
        package var taken = 0
        /// Events that were written.
        package var told = 0
    }

    /// Tells what has come to be by itself: of purchases and then of accounts whose instant has come, the first due first. Any number
    /// may do this at once: what one is at, others leave out.
    ///
    /// Purchases are held first and then accounts, as everywhere, so the rows that say what is due are not what is locked. What
    /// was told in between is read after the lock, and not told again. Accounts that are due by themselves have a transaction of their
    /// own, so that no account is waited for beside one that was taken out of the order.
    ///
    /// Who runs this must not be ahead of the workers: what Apple posted while all were away is to be applied first, or an end is told of
    /// what was renewed.
    /// - Throws: `PostgresError`, `UnreadableCatalog`.
    package func tick(_ accounts: AccountStore, atMost limit: Int = 100) async throws -> Ticked {
        let options = TransactionOptions(name: "events.tick")
        var ticked = try await pool.withTransaction(options) { session in
            let keys = try session.query(.duePurchases(limit)).map { row in
                PurchaseKey(
                    environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
                    originalTransactionID: try row.decode("original_transaction_id"))
            }.sorted()
            guard !keys.isEmpty else { return Ticked() }
            let held = try accounts.owners(of: keys, and: [], session)
            return Ticked(taken: keys.count, told: try tell(try lines(of: keys, session), held, session))
        }
        let others = try await pool.withTransaction(options) { session in
            let due = try session.query(.dueAccounts(limit)).map { row in
                UniqueIdentifier(try row.decode("token", as: UUID.self))
            }
            guard !due.isEmpty else { return Ticked() }
            return Ticked(taken: due.count, told: try tell([], try accounts.owners(of: [], and: due, session), session))
        }
        ticked.taken += others.taken
        ticked.told += others.told
        return ticked
    }

    /// Tells of what is settled, in the transaction that settled it; see ``tell(_:_:owners:cause:at:_:)``.
    @discardableResult
    package func tell(
        _ purchases: [PurchaseNews], _ settled: AccountStore.Settled, cause: EventCause = .clock,
        _ session: borrowing PostgresSession
    ) throws -> Int {
        try tell(
            purchases,
            settled.states.map { AccountNews(token: $0.token, environment: $0.environment, state: $0.state) },
            owners: settled.owners, cause: cause, at: settled.clock, session)
    }

    /// What purchases are that are held; nothing new of them is known.
    private func lines(
        of keys: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [PurchaseNews] {
        guard !keys.isEmpty else { return [] }
        return try session.query(.phases(of: keys)).map { row in
            let place = Int(try row.decode("n", as: Int64.self)) - 1
            return PurchaseNews(key: keys[place], phases: try Phase.all(of: row))
        }
    }
}

extension PostgresQuery {
    fileprivate static func duePurchases(_ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "events.due_purchases",
            """
            select p.original_transaction_id, p.bundle_id, p.environment
              from (select * from storehook.purchase_tellings
                     where due_at <= clock_timestamp() order by due_at limit \(Int64(limit) * 2)) due
              join storehook.purchase_lines p using (original_transaction_id, bundle_id, environment)
             limit \(Int64(limit))
               for no key update of p skip locked
            """)
    }

    /// What is due with a purchase of the account's is told with that, after it, by whoever is at the purchase.
    fileprivate static func dueAccounts(_ limit: Int) -> PostgresQuery {
        PostgresQuery(
            "events.due_accounts",
            """
            select a.token
              from (select distinct token from (
                        select token from storehook.access_tellings
                         where due_at <= clock_timestamp() order by due_at limit \(Int64(limit) * 2)) first) due
              join storehook.accounts a using (token)
             where not exists (
                   select from storehook.account_lines l
                     join storehook.purchase_tellings t using (original_transaction_id, bundle_id, environment)
                    where l.token = a.token and t.due_at <= clock_timestamp())
             limit \(Int64(limit))
               for no key update of a skip locked
            """)
    }

    fileprivate static func phases(of keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "events.phases",
            """
            select key.n, s.phase_starts, s.phase_status, s.phase_basis, s.phase_product, s.phase_transaction,
                   s.phase_expires, s.phase_period_ends, s.phase_grace_ends, s.phase_trial, s.phase_will_renew,
                   s.phase_renewal_product, s.phase_price_pending, s.phase_intent, s.phase_account
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   with ordinality as key (original_transaction_id, bundle_id, environment, n)
              join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
             order by key.n
            """)
    }
}

extension Phase {
    /// Reads the columns of `subscriptions`.
    fileprivate static func all(of row: PostgresRow) throws -> [Phase] {
        let starts = try row.decode("phase_starts", as: [PostgresTimestamp].self)
        let statuses = try row.decode("phase_status", as: [String].self)
        let bases = try row.decode("phase_basis", as: [String].self)
        let products = try row.decode("phase_product", as: [String?].self)
        let transactions = try row.decode("phase_transaction", as: [String?].self)
        let ends = try row.decode("phase_expires", as: [PostgresTimestamp].self)
        let periodEnds = try row.decode("phase_period_ends", as: [PostgresTimestamp].self)
        let graceEnds = try row.decode("phase_grace_ends", as: [PostgresTimestamp?].self)
        let trials = try row.decode("phase_trial", as: [Bool].self)
        let renews = try row.decode("phase_will_renew", as: [Bool?].self)
        let coming = try row.decode("phase_renewal_product", as: [String?].self)
        let pending = try row.decode("phase_price_pending", as: [Bool].self)
        let intents = try row.decode("phase_intent", as: [Int16?].self)
        let accounts = try row.decode("phase_account", as: [UUID?].self)
        return try starts.indices.map { place in
            guard let status = SubscriptionStatus(rawValue: statuses[place]),
                let basis = StatusAtInstant.Basis(rawValue: bases[place])
            else {
                throw PostgresError(
                    .decoding, "subscriptions: a status or basis that this release does not know",
                    operation: "decode")
            }
            return Phase(
                startsAt: Timestamp(starts[place]),
                value: StatusAtInstant(
                    status: status, basis: basis, productID: products[place], transactionID: transactions[place],
                    expiresAt: Timestamp(ends[place]), periodEndsAt: Timestamp(periodEnds[place]),
                    graceEndsAt: graceEnds[place].map { Timestamp($0) }, inTrial: trials[place],
                    willRenew: renews[place], renewalProductID: coming[place], priceIncreasePending: pending[place],
                    expirationIntent: intents[place].map { Int($0) },
                    appAccountToken: accounts[place].map { UniqueIdentifier($0) }))
        }
    }
}
