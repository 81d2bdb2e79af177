package import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
package import PurchaseStore
package import Subscriptions

extension AccountStore {
    /// Under `transfer`, how often a purchase may move within ``transferDays``.
    package static let transfers = 3
    /// See ``transfers``.
    package static let transferDays = 30

    /// Gives free purchases to an account that has proven that it holds them, and derives the accounts concerned, in
    /// the transaction that stored and applied the proof. The account that Apple signed is taken from the merged
    /// facts, not from the record that was handed in.
    ///
    /// It locks the purchases and then the accounts, so the caller may have locked purchases, but no account.
    /// - Parameters:
    ///   - purchases: all that were handed in at once; each has facts.
    ///   - changed: further purchases that the transaction changed, to be derived with them.
    /// - Returns: the outcome for each, and what to announce after the commit.
    package func bind(
        _ purchases: [PurchaseKey], to account: AccountIdentity, under rule: RestoreRule, changed: [PurchaseDelta] = [],
        _ session: borrowing PostgresSession
    ) throws -> (outcomes: [PurchaseKey: BindOutcome], settled: Settled) {
        let token = account.token
        let all = Set(purchases).union(changed.map(\.key))
        try Ledger.hold(all, session)
        var outcomes: [PurchaseKey: BindOutcome] = [:]
        var recorded: [(key: PurchaseKey, kind: PurchaseBinding.Kind)] = []
        var formerOwners: [PurchaseKey: UniqueIdentifier] = [:]
        for standing in try standing(purchases, session) {
            let (outcome, kind) = standing.outcome(for: token, under: rule)
            outcomes[standing.key] = outcome
            guard let kind else { continue }
            recorded.append((standing.key, kind))
            if let owner = standing.owner, owner != token { formerOwners[standing.key] = owner }
        }
        try record(recorded.map { Binding(key: $0.key, kind: $0.kind, token: token) }, session)
        let unchanged = all.subtracting(recorded.map(\.key))
        var settled = try settle(
            all.sorted(), having: changed, unchanged: unchanged, naming: account, session)
        // Without a catalog there are no accounts to report, and no limits.
        if settled.hasCatalog {
            settled.formerOwners = formerOwners
            try carryUsage(of: formerOwners, to: token, session)
        }
        return (outcomes, settled)
    }

    /// Lets the limits by day and month count on with purchases that have moved: each of the new owner's counters becomes
    /// the larger of the two, so that three transfers do not give a month's limit three times. What is counted in total is
    /// the account's own and stays. The accounts are locked.
    private func carryUsage(
        of formerOwners: [PurchaseKey: UniqueIdentifier], to token: UniqueIdentifier,
        _ session: borrowing PostgresSession
    ) throws {
        // Usage belongs to Production.
        let formers = formerOwners.filter { $0.key.environment == Environment.production.rawValue }.map(\.value)
        guard !formers.isEmpty else { return }
        try session.query(
            PostgresQuery(
                "accounts.carry_usage",
                """
                with used as materialized (
                    select feature, period, starts_on, resets_at, used
                      from storehook.usage_counters
                     where token = any(\(Set(formers).sorted().map { UUID($0) })) and resets_at > clock_timestamp()
                     order by token, feature, period, starts_on
                       for update
                )
                insert into storehook.usage_counters as known (token, feature, period, starts_on, resets_at, used)
                select \(UUID(token)), feature, period, starts_on, max(resets_at), max(used)
                  from used group by feature, period, starts_on order by feature, period, starts_on
                    on conflict (token, feature, period, starts_on) do update set used = excluded.used
                 where known.used < excluded.used
                """))
    }

    /// The recorded ones of these purchases, in the order given.
    package func known(
        _ purchases: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [PurchaseKey] {
        guard !purchases.isEmpty else { return [] }
        let known = try Set(standing(purchases, session).map(\.key))
        return purchases.filter(known.contains)
    }

    /// The purchases that the account owns now, in the order given: not those that another account has by now.
    package func owned(_ purchases: [PurchaseKey], by token: UniqueIdentifier) async throws -> [PurchaseKey] {
        guard !purchases.isEmpty else { return [] }
        let owned = try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts.owned")) {
            session in
            try Set(self.standing(purchases, session).filter { $0.owner == token }.map(\.key))
        }
        return purchases.filter(owned.contains)
    }

    /// Moves a purchase to an account, whatever Apple signed or signs into it: later renewals do not undo it.
    /// - Parameter person: who does it.
    /// - Returns: false where the purchase is not recorded.
    package func move(
        _ purchase: PurchaseKey, to account: AccountIdentity, by person: String, why: String,
        _ session: borrowing PostgresSession
    ) throws -> AccountChange<Bool> {
        let token = account.token
        guard try !standing([purchase], session).isEmpty else { return AccountChange(false) }
        try Ledger.hold([purchase], session)
        let owner = try standing([purchase], session).first?.owner
        let binding = Binding(key: purchase, kind: .staff, token: token, person: person, why: why, former: owner)
        try record([binding], session)
        var settled = try settle([purchase], naming: account, session)
        if settled.hasCatalog, let owner, owner != token { settled.formerOwners[purchase] = owner }
        return AccountChange(true, settled, of: [purchase])
    }

    /// Whether anything is known of a purchase, and the account that has it now.
    package func owner(
        of purchase: PurchaseKey, _ session: borrowing PostgresSession
    ) throws -> (isKnown: Bool, token: UniqueIdentifier?) {
        let standing = try standing([purchase], session).first
        return (standing != nil, standing?.owner)
    }

    /// A row of `storehook.purchase_bindings` to be written.
    struct Binding: Sendable {
        var key: PurchaseKey
        var kind: PurchaseBinding.Kind
        var token: UniqueIdentifier
        var person: String?
        var why: String?
        /// The account that had the purchase before.
        var former: UniqueIdentifier?
    }

    func record(_ bindings: [Binding], _ session: borrowing PostgresSession) throws {
        guard !bindings.isEmpty else { return }
        try session.query(
            PostgresQuery(
                "accounts.bind",
                """
                with bound as (
                    insert into storehook.purchase_bindings
                           (original_transaction_id, bundle_id, environment, kind, token, recorded_by, why, former)
                    select * from unnest(
                           \(bindings.map(\.key.originalTransactionID)), \(bindings.map(\.key.bundleID)),
                           \(bindings.map(\.key.environment)), \(bindings.map(\.kind.rawValue)),
                           \(bindings.map { UUID($0.token) }),
                           \(bindings.map { $0.person.map { String($0.prefix(200)) } }), \(bindings.map(\.why)),
                           \(bindings.map { $0.former.map { UUID($0) } }))
                    returning token, environment, original_transaction_id, bundle_id
                )
                -- Also before there is a catalog: has_access finds by it what an account has proven.
                insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
                select distinct token, environment, original_transaction_id, bundle_id from bound
                    on conflict do nothing
                """))
    }

    /// The owners of purchases now; purchases that are not recorded are left out.
    func standing(
        _ purchases: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [StandingPurchase] {
        try session.query(
            PostgresQuery(
                "accounts.standing",
                """
                select l.environment, l.bundle_id, l.original_transaction_id, clock_timestamp() as now,
                       coalesce(s.phase_account[greatest(width_bucket(clock_timestamp(), s.phase_starts), 1)],
                                o.app_account_token) as signed,
                       s.phase_origin[greatest(width_bucket(clock_timestamp(), s.phase_starts), 1)] as origin,
                       s.stretches,
                       coalesce(s.phase_account, array[o.app_account_token]) as every_signed,
                       (select count(*) from storehook.purchase_bindings t
                         where t.original_transaction_id = l.original_transaction_id and t.bundle_id = l.bundle_id
                           and t.environment = l.environment and t.kind = 'transfer'
                           and t.at > clock_timestamp() - make_interval(days => \(Int32(Self.transferDays)))) as transfers,
                       b.binding_ids, b.binding_kinds, b.binding_tokens, b.binding_instants
                  from unnest(
                       \(purchases.map(\.environment)), \(purchases.map(\.bundleID)),
                       \(purchases.map(\.originalTransactionID)))
                       as l (environment, bundle_id, original_transaction_id)
                \(unescaped: PostgresQuery.purchase)
                \(unescaped: PostgresQuery.bindings)
                 where s.original_transaction_id is not null or o.original_transaction_id is not null
                """)
        ).map { try StandingPurchase($0) }
    }
}
