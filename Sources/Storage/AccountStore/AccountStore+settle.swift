package import Accounts
import AppStorePayloads
package import Base
package import Events
import Foundation
package import Postgres
import PurchaseStore
package import Subscriptions

extension AccountStore {
    /// What settling came to.
    package struct Settled: Sendable {
        /// The database's clock, read on the way.
        package var clock: PostgresTimestamp
        /// The accounts whose phases changed: to be told by ``AccountStore/announce(_:)`` once the transaction is committed.
        package var changed: [UniqueIdentifier] = []
        /// Whether a catalog was ever applied.
        package var hasCatalog = false
        /// The catalog that readers see; nil where none was applied.
        package var catalog: Int64?
        /// How many days before an end that catalog wants it told.
        package var warningDays: Int?
        /// What the accounts are that were derived, for who tells of them: under the current catalog.
        package var states: [State] = []
        /// Whose the purchases are; none of those that are nobody's.
        package var owners: [PurchaseKey: UniqueIdentifier] = [:]
        /// Whose those purchases were that this transaction took from somebody.
        package var formerOwners: [PurchaseKey: UniqueIdentifier] = [:]
    }

    /// What an account is in one environment.
    package struct State: Sendable {
        /// Its token.
        package var token: UniqueIdentifier
        /// Apple's name of the environment.
        package var environment: String
        /// What it is, as a function of time.
        package var state: AccountState
    }

    /// Works out whose purchases are, and derives the accounts concerned, in the transaction that changed the purchases. They must
    /// be locked (`Ledger.apply` does), and no account may be.
    ///
    /// Where no catalog was ever applied it asks for that and the clock in one statement, and does no more. That no account is
    /// left with what was true before is argued at ``apply(_:by:patience:onPage:)``.
    /// - Parameter naming: what the app's own tokens call accounts, where that is known.
    /// - Throws: `PostgresError`, or ``UnreadableCatalog``; the transaction must then be rolled back.
    package func settle(
        _ purchases: [PurchaseKey], naming: [UniqueIdentifier: String] = [:], _ session: borrowing PostgresSession
    ) throws -> Settled {
        let moment = try AccountMoment(session)
        guard !moment.isIdle || !naming.isEmpty else { return Settled(moment) }
        let linked = moment.isIdle || purchases.isEmpty ? [] : try link(purchases, session)
        let accounts = Set(linked).union(naming.keys).sorted()
        try hold(accounts, naming: naming, session)
        return moment.isIdle ? Settled(moment) : try settle(accounts, under: moment, session)
    }

    /// The same, telling of it: for who has changed purchases and has no evidence of his own to tell why.
    package func settle(
        _ purchases: [PurchaseKey], telling cause: EventCause, _ session: borrowing PostgresSession
    ) throws -> Settled {
        let settled = try settle(purchases, session)
        try witness?.witness(settled, of: purchases, cause: cause, session)
        return settled
    }

    /// Derives accounts that are held, and notes what they are.
    func settle(
        _ accounts: [UniqueIdentifier], under moment: AccountMoment, _ session: borrowing PostgresSession
    ) throws -> Settled {
        var settled = Settled(moment)
        let now = Timestamp(settled.clock)
        var (states, owners): ([State], [PurchaseKey: UniqueIdentifier]) = ([], [:])
        settled.changed = try derive(
            accounts, under: moment,
            noting: { account, state in
                states.append(State(token: account.token, environment: account.environment, state: state))
                for purchase in account.owned(at: now) { owners[purchase] = account.token }
            }, session
        ).sorted()
        settled.states = states
        settled.owners = owners
        settled.warningDays = moment.current.flatMap { known($0) }?.warningDays
        return settled
    }

    /// Notes the accounts of purchases that are locked, and answers them with those that they were of before.
    func link(_ purchases: [PurchaseKey], _ session: borrowing PostgresSession) throws -> [UniqueIdentifier] {
        try session.query(
            PostgresQuery(
                "accounts.link",
                """
                with changed as (
                    select * from unnest(
                        \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                        \(purchases.map(\.environment)))
                        as purchase (original_transaction_id, bundle_id, environment)
                ), \(unescaped: Self.holders), gone as (
                    delete from storehook.account_lines l using changed c
                     where l.original_transaction_id = c.original_transaction_id and l.bundle_id = c.bundle_id
                       and l.environment = c.environment
                       and not exists (
                            select from holder h
                             where h.token = l.token and h.original_transaction_id = l.original_transaction_id
                               and h.bundle_id = l.bundle_id and h.environment = l.environment)
                    returning l.token
                ), added as (
                    insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
                    select token, environment, original_transaction_id, bundle_id from holder
                        on conflict do nothing
                )
                select token from holder union select token from gone
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
    }

    /// The accounts that Apple signed into the purchases of `changed`, at any time, or that anything binds them to.
    static let holders = """
        holder as (
            select t.token, c.environment, c.original_transaction_id, c.bundle_id
              from changed c join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
             cross join unnest(s.phase_account) as t (token)
             where t.token is not null
            union
            select t.token, c.environment, c.original_transaction_id, c.bundle_id
              from changed c join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
              join storehook.subscription_history h using (original_transaction_id, bundle_id, environment)
             cross join unnest(h.phase_account) as t (token)
             where s.earlier_phases > 0 and t.token is not null
            union
            select o.app_account_token, c.environment, c.original_transaction_id, c.bundle_id
              from changed c join storehook.one_time_purchases o using (original_transaction_id, bundle_id, environment)
             where o.app_account_token is not null
            union
            select b.token, c.environment, c.original_transaction_id, c.bundle_id
              from changed c join storehook.purchase_bindings b using (original_transaction_id, bundle_id, environment)
        )
        """

    /// Makes sure that each account has a row, and holds it. `where` decides whether a name is written; the row is locked in
    /// either case (PostgreSQL, INSERT, "ON CONFLICT DO UPDATE"), and what is read after this sees what others committed.
    /// - Parameters:
    ///   - accounts: in order.
    ///   - deadline: how long that may take; as long as any statement unless told.
    func hold(
        _ accounts: [UniqueIdentifier], naming: [UniqueIdentifier: String] = [:], deadline: Duration? = nil,
        _ session: borrowing PostgresSession
    ) throws {
        guard !accounts.isEmpty else { return }
        try session.query(
            PostgresQuery(
                "accounts.hold",
                """
                insert into storehook.accounts as known (token, account)
                select * from unnest(\(accounts.map { UUID($0) }), \(accounts.map { naming[$0] }))
                    on conflict (token) do update set account = excluded.account
                 where excluded.account is not null and known.account is distinct from excluded.account
                """), deadline: deadline)
    }
}

extension AccountStore.Settled {
    init(_ moment: AccountMoment) {
        self.init(clock: moment.clock, hasCatalog: !moment.isIdle, catalog: moment.current)
    }
}
