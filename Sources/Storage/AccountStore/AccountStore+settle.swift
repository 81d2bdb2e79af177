package import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
package import PurchaseStore
package import Subscriptions

extension AccountStore {
    /// The result of settling.
    package struct Settled: Sendable {
        /// The database's clock.
        package var clock: PostgresTimestamp
        /// The accounts whose phases changed; ``AccountStore/announce(_:)`` takes them once the
        /// transaction is committed.
        package var changed: [UniqueIdentifier] = []
        /// Whether a catalog was ever applied.
        package var hasCatalog = false
        /// The catalog that readers see; nil where none was applied.
        package var catalog: Int64?
        /// How many days before an end that catalog wants it reported.
        package var warningDays: Int?
        /// The states of the derived accounts under the current catalog, for events.
        package var states: [State] = []
        /// The owners of the purchases; free ones are left out.
        package var owners: [PurchaseKey: UniqueIdentifier] = [:]
        /// The former owners of the purchases that this transaction took from an account.
        package var formerOwners: [PurchaseKey: UniqueIdentifier] = [:]
    }

    /// An account's status in one environment.
    package struct State: Sendable {
        /// Its token.
        package var token: UniqueIdentifier
        /// Apple's name of the environment.
        package var environment: String
        /// Its status as a function of time.
        package var state: AccountState
    }

    /// Determines the owners of purchases and derives the accounts concerned, in the transaction that changed the
    /// purchases. The purchases must be locked (`Ledger.apply` does that), and no account may be.
    ///
    /// Where no catalog was ever applied, it reads that and the clock in one statement, and does no more. Why no
    /// account keeps a stale status is explained at ``apply(_:by:why:patience:onPage:)``.
    /// - Parameters:
    ///   - deltas: the purchases that this transaction has derived; they are not read back.
    ///   - unchanged: purchases in which nothing has changed.
    ///   - account: an account to derive in any case. Its id is written where it is known.
    /// - Throws: `PostgresError`, or ``UnreadableCatalog``; the transaction must then be rolled back.
    package func settle(
        _ purchases: [PurchaseKey], having deltas: [PurchaseDelta] = [], unchanged: Set<PurchaseKey> = [],
        naming account: AccountIdentity? = nil, _ session: borrowing PostgresSession
    ) throws -> Settled {
        let moment = try AccountMoment(session, naming: account)
        guard !moment.isIdle || account != nil else { return Settled(moment) }
        let derived =
            moment.isIdle
            ? DerivedSubscriptions() : DerivedSubscriptions(deltas, of: purchases, unchanged: unchanged)
        let linked = moment.isIdle || purchases.isEmpty ? [] : try link(purchases, having: derived, session)
        let accounts = Set(linked).union(account.map { [$0.token] } ?? []).sorted()
        try hold(accounts, naming: account, session)
        if moment.isIdle { return Settled(moment) }
        // An account whose purchases came with it, all of them unchanged, has not changed but for its name.
        let named = purchases.isEmpty ? [] : Set(account.map { [$0.token] } ?? []).subtracting(linked)
        return try settle(accounts, under: moment, having: derived, extent: .changed(but: named), session)
    }

    /// Derives locked accounts, and returns their states.
    func settle(
        _ accounts: [UniqueIdentifier], under moment: AccountMoment,
        having derived: DerivedSubscriptions = DerivedSubscriptions(), extent: Extent = .whole,
        _ session: borrowing PostgresSession
    ) throws -> Settled {
        var settled = Settled(moment)
        let now = Timestamp(settled.clock)
        var (states, owners): ([State], [PurchaseKey: UniqueIdentifier]) = ([], [:])
        settled.changed = try derive(
            accounts, under: moment, having: derived, extent: extent,
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

    /// Records the accounts of locked purchases; returns these accounts and the former ones.
    func link(
        _ purchases: [PurchaseKey], having derived: DerivedSubscriptions = DerivedSubscriptions(),
        _ session: borrowing PostgresSession
    ) throws -> [UniqueIdentifier] {
        try session.query(
            PostgresQuery(
                "accounts.link",
                """
                with \(embedding: .holders(of: purchases, having: derived)), gone as (
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
                select token from holder union
                select token from gone where token <> '00000000-0000-0000-0000-000000000000'
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
    }

    /// Locks the accounts of locked purchases until the transaction ends, and inserts their missing rows.
    package func hold(of purchases: [PurchaseKey], _ session: borrowing PostgresSession) throws {
        let accounts = try session.query(
            PostgresQuery(
                "accounts.of_purchases",
                """
                select distinct l.token
                  from unnest(
                       \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)), \(purchases.map(\.environment)))
                       p (original_transaction_id, bundle_id, environment)
                  join storehook.account_lines l using (original_transaction_id, bundle_id, environment)
                 where l.token <> '00000000-0000-0000-0000-000000000000'
                 order by 1
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
        try hold(accounts, session)
    }

    /// Inserts the missing rows of the accounts, and locks all of them. `where` decides whether a name is written; the
    /// row is locked in either case (PostgreSQL, INSERT, "ON CONFLICT DO UPDATE"), and the statements after this see
    /// what others committed.
    /// - Parameters:
    ///   - accounts: in order.
    ///   - account: one of them whose id is written, where it is known. The caller holds the rule of ids.
    ///   - deadline: how long that may take; by default as long as any statement.
    func hold(
        _ accounts: [UniqueIdentifier], naming account: AccountIdentity? = nil, deadline: Duration? = nil,
        _ session: borrowing PostgresSession
    ) throws {
        guard !accounts.isEmpty else { return }
        try session.query(
            PostgresQuery(
                "accounts.hold",
                """
                insert into storehook.accounts as known (token, account)
                select * from unnest(\(accounts.map { UUID($0) }), \(accounts.map { $0 == account?.token ? account?.id : nil }))
                    on conflict (token) do update set account = excluded.account
                 where excluded.account is not null and known.account is distinct from excluded.account
                """
            ).keepingPlan(), deadline: deadline)
    }
}

extension AccountStore.Settled {
    init(_ moment: AccountMoment) {
        self.init(clock: moment.clock, hasCatalog: !moment.isIdle, catalog: moment.current)
    }
}
