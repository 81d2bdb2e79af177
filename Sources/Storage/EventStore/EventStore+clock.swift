package import AccountStore
import Accounts
import AppStorePayloads
import Base
package import Events
import Foundation
package import Postgres
package import PurchaseStore
package import Subscriptions

extension EventStore {
    /// The result of a step of the clock.
    package struct ClockResult: Sendable {
        /// Purchases and accounts that were due and that no other worker had locked.
        package var taken = 0
        /// Events that were written.
        package var events = EventCounts()

        /// Memberwise.
        package init(taken: Int = 0, events: EventCounts = EventCounts()) {
            self.taken = taken
            self.events = events
        }

        /// Both.
        package static func + (a: ClockResult, b: ClockResult) -> ClockResult {
            ClockResult(taken: a.taken + b.taken, events: a.events + b.events)
        }
    }

    /// The two kinds of due rows. Each is processed in a transaction of its own, purchases first, so that no
    /// transaction waits for an account while it holds another out of order.
    package enum Due: Sendable, Hashable, CaseIterable {
        /// Purchases, each with its owner.
        case purchases
        /// Accounts that are due without a due purchase.
        case accounts
    }

    /// The due rows whose events could not be written.
    package struct Untold: Error, CustomStringConvertible {
        /// The purchases, or the accounts, of the portion.
        var purchases: [PurchaseKey] = []
        var accounts: [UniqueIdentifier] = []
        /// Why: an error that is not transient.
        package var cause: PostgresError

        /// How many.
        package var count: Int { purchases.count + accounts.count }

        /// Why.
        package var description: String { "\(cause)" }
    }

    /// Writes the events of purchases or accounts that are due, the first due first. Any number of workers may do this
    /// at once: rows that one has locked, others leave out.
    ///
    /// Purchases are locked first and then accounts, as everywhere, so the rows with the due times are not what is
    /// locked. The state last reported is read after the lock, so that no event is written twice.
    /// - Parameter instant: up to when everything that was stored has been applied (``/Outbox/Outbox/appliedThrough()``).
    ///   Later due times are left alone: otherwise, after an outage, an end would be reported although Apple has long
    ///   posted the renewal.
    /// - Throws: `PostgresError`, ``Untold``, `UnreadableCatalog`.
    package func tick(
        _ due: Due, _ accounts: AccountStore, upTo instant: PostgresTimestamp, atMost limit: Int = 100
    ) async throws -> ClockResult {
        let options = TransactionOptions(idleTimeout: Self.idleTimeout, goesByIndexes: true, name: "events.tick")
        return try await pool.withTransaction(options) { session in
            switch due {
            case .purchases:
                let keys = try session.query(.duePurchases(limit, upTo: instant)).map {
                    try PurchaseKey($0)
                }.sorted()
                guard !keys.isEmpty else { return ClockResult() }
                return try Self.naming(purchases: keys) {
                    let held = try accounts.owners(of: keys, and: [], session)
                    return ClockResult(
                        taken: keys.count,
                        events: try record(try lines(of: keys, session), held, upTo: instant, session))
                }
            case .accounts:
                let tokens = try session.query(.dueAccounts(limit, upTo: instant)).map { row in
                    UniqueIdentifier(try row.decode("token", as: UUID.self))
                }
                guard !tokens.isEmpty else { return ClockResult() }
                return try Self.naming(accounts: tokens) {
                    let held = try accounts.owners(of: [], and: tokens, session)
                    return ClockResult(taken: tokens.count, events: try record([], held, upTo: instant, session))
                }
            }
        }
    }

    /// Names the purchases or accounts at fault, where the error is not transient.
    static func naming<Value>(
        purchases: [PurchaseKey] = [], accounts: [UniqueIdentifier] = [], _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError where !error.isTransient {
            throw Untold(purchases: purchases, accounts: accounts, cause: error)
        }
    }

    /// Whether anything is due up to an instant.
    package func isDue(upTo instant: PostgresTimestamp) async throws -> Bool {
        try await pool.query(
            PostgresQuery(
                "events.is_due",
                """
                select exists (select from storehook.purchase_tellings where due_at <= \(instant))
                    or exists (select from storehook.access_tellings where due_at <= \(instant))
                """)
        ).one().decode(0)
    }

    /// Puts rows off whose events cannot be written, those that are owed, too.
    package func postpone(_ untold: Untold, by delay: Duration) async throws {
        let seconds = delay / .seconds(1)
        try await pool.query(
            PostgresQuery(
                "events.postpone_purchases",
                """
                update storehook.purchase_tellings t set due_at = clock_timestamp() + make_interval(secs => \(seconds))
                  from unnest(
                       \(untold.purchases.map(\.originalTransactionID)), \(untold.purchases.map(\.bundleID)),
                       \(untold.purchases.map(\.environment))) as key (original_transaction_id, bundle_id, environment)
                 where (t.original_transaction_id, t.bundle_id, t.environment)
                       = (key.original_transaction_id, key.bundle_id, key.environment)
                   and (t.due_at <= clock_timestamp() or t.due_at >= \(PostgresTimestamp(Self.owed)))
                """))
        try await pool.query(
            PostgresQuery(
                "events.postpone_accounts",
                """
                update storehook.access_tellings set due_at = clock_timestamp() + make_interval(secs => \(seconds))
                 where token = any (\(untold.accounts.map { UUID($0) }))
                   and (due_at <= clock_timestamp() or due_at >= \(PostgresTimestamp(Self.owed)))
                """))
    }

    /// The stored phases of locked purchases, without anything new.
    /// - Parameter areKnown: whether purchases not reported before are only reported in their present state.
    func lines(
        of keys: [PurchaseKey], areKnown: Bool = false, _ session: borrowing PostgresSession
    ) throws -> [PurchaseDelta] {
        guard !keys.isEmpty else { return [] }
        return try session.query(.phases(of: keys)).map { row in
            let place = Int(try row.decode("n", as: Int64.self)) - 1
            return PurchaseDelta(key: keys[place], phases: try Phase.all(of: row), wasKnown: areKnown)
        }
    }
}

extension EventStore {
    /// Records what has become of accounts and purchases without new evidence: by acts of staff, trials, rebuilds.
    /// - Parameter purchases: those whose owner or state changed; they are locked.
    @discardableResult
    package func record(
        _ settled: AccountStore.Settled, of purchases: [PurchaseKey], cause: EventCause,
        _ session: borrowing PostgresSession
    ) throws -> EventCounts {
        try record(try standing(purchases, settled, session), settled, cause: cause, session)
    }

    /// Writes the events of what an app handed in, and of purchases that it proved although nothing about
    /// them was new.
    /// - Parameter proven: locked purchases; they include those with news.
    @discardableResult
    package func record(
        _ news: [PurchaseDelta], proving proven: some Sequence<PurchaseKey>, _ settled: AccountStore.Settled,
        _ session: borrowing PostgresSession
    ) throws -> EventCounts {
        let others = Set(proven).subtracting(news.map(\.key)).sorted()
        return try record(
            news + standing(others, settled, session), settled, cause: .client, session)
    }

    /// The state of purchases without news: the subscriptions, and one-time purchases that changed their owner.
    private func standing(
        _ keys: [PurchaseKey], _ settled: AccountStore.Settled, _ session: borrowing PostgresSession
    ) throws -> [PurchaseDelta] {
        let lines = try lines(of: keys, areKnown: true, session)
        let moved = Set(keys.filter { settled.formerOwners[$0] != nil }).subtracting(lines.map(\.key)).sorted()
        guard !moved.isEmpty else { return lines }
        return try lines
            + session.query(.oneTimePurchases(moved)).map { row in
                let bought = try RecordedOneTimePurchase(row)
                return PurchaseDelta(key: bought.purchase, oneTime: bought.value, oneTimeBefore: bought.value)
            }
    }
}

extension PostgresQuery {
    fileprivate static func duePurchases(_ limit: Int, upTo instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "events.due_purchases",
            """
            select p.original_transaction_id, p.bundle_id, p.environment
              from (select * from storehook.purchase_tellings
                     where due_at <= \(instant) order by due_at limit \(Int64(limit) * 2)) due
              join storehook.purchase_lines p using (original_transaction_id, bundle_id, environment)
             limit \(Int64(limit))
               for no key update of p skip locked
            """)
    }

    /// An account with a due purchase is left out: the worker that takes the purchase writes the account's
    /// events after it.
    fileprivate static func dueAccounts(_ limit: Int, upTo instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "events.due_accounts",
            """
            select a.token
              from (select distinct token from (
                        select token from storehook.access_tellings
                         where due_at <= \(instant) order by due_at limit \(Int64(limit) * 2)) first) due
              join storehook.accounts a using (token)
             where not exists (
                   select from storehook.account_lines l
                     join storehook.purchase_tellings t using (original_transaction_id, bundle_id, environment)
                    where l.token = a.token and t.due_at <= \(instant))
             limit \(Int64(limit))
               for no key update of a skip locked
            """)
    }

    fileprivate static func oneTimePurchases(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "events.one_time",
            """
            select o.*
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as key (original_transaction_id, bundle_id, environment)
              join storehook.one_time_purchases o using (original_transaction_id, bundle_id, environment)
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
                    appAccountToken: UniqueIdentifier(accountToken: accounts[place])))
        }
    }
}
