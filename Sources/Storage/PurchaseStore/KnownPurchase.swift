import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

/// What the database holds of one purchase, as far as deriving it anew needs it.
///
/// Of a long subscription only the end is read: what an ordinary renewal changes does not depend on periods that ended
/// long before, and must not cost more for them.
struct KnownPurchase: Sendable {
    let key: PurchaseKey
    /// How far back the facts reach.
    enum Extent: Sendable {
        case whole
        /// Facts about periods that began before `cut` are left out, and phases before `horizon` are not derived.
        case tail(cut: Timestamp, horizon: Timestamp, carry: LineCarry)
    }

    var extent = Extent.whole
    var facts = PurchaseFacts()
    /// Rows in `anomalies`.
    var anomalies = 0
    /// Phases in `subscription_history`; nil where there is no subscription.
    var earlierPhases: Int?
    /// Whether one of its transactions is also recorded under another original transaction, or a new one is.
    var isShared = false
    /// When its evidence was stored, but for the new one; nil where there is none.
    var stored: StoredDates?
}

extension Ledger {
    /// Reads locked purchases.
    /// - Parameters:
    ///   - new: the new statements about each; nil to read everything.
    ///   - shared: statements with a transaction that belongs to another purchase by now are left out.
    func known(
        _ keys: [PurchaseKey], new: [PurchaseKey: [PurchaseStatement]]?,
        shared: SharedTransactions = SharedTransactions(), _ session: borrowing PostgresSession
    ) throws -> [KnownPurchase] {
        guard !keys.isEmpty else { return [] }
        var known = keys.map { KnownPurchase(key: $0) }
        var hasHeader = [Bool](repeating: false, count: keys.count)
        var hasFacts = hasHeader
        for row in try session.query(.known(keys, new: new)) {
            var cells = RowCells(row)
            let number = Int(try cells.next(Int64.self)) - 1
            if !hasHeader[number] {
                hasHeader[number] = true
                known[number].anomalies = Int(try cells.next(Int32.self))
                known[number].earlierPhases = try cells.next(Int32?.self).map(Int.init)
                let horizon = try cells.nextTimestamp()
                let cut = try cells.nextTimestamp()
                let account = try cells.nextAccountToken()
                let origin = try cells.next(String?.self).map { try PhaseOrigin(stored: $0) }
                let transaction: String? = try cells.next()
                let stretches: String? = try cells.next()
                known[number].isShared = try cells.next()
                let firstStoredAt: PostgresTimestamp? = try cells.next()
                let lastStoredAt: PostgresTimestamp? = try cells.next()
                if let firstStoredAt, let lastStoredAt {
                    known[number].stored = StoredDates(first: firstStoredAt, last: lastStoredAt)
                }
                if let horizon, let cut {
                    let carry = LineCarry(
                        account: account, boughtAt: origin?.boughtAt,
                        stretchEnds: try StretchEnd.all(stored: stretches).filter { $0.at <= horizon },
                        chargedTransactionID: transaction, chargedAt: origin?.chargedAt)
                    known[number].extent = .tail(cut: cut, horizon: horizon, carry: carry)
                }
            }
            guard try row.decode(Self.firstFact, as: Int64?.self) != nil else { continue }
            hasFacts[number] = true
            let statement = try PurchaseStatement(row, at: Self.firstFact, of: keys[number])
            guard !shared.isForeign(statement) else { continue }
            _ = statement.merge(into: &known[number].facts)
        }
        let undated = known.indices.filter { known[$0].stored == nil && hasFacts[$0] }
        if !undated.isEmpty {
            for row in try session.query(.storedDates(of: undated.map { keys[$0] })) {
                let number = undated[Int(try row.decode(0, as: Int64.self)) - 1]
                known[number].stored = StoredDates(first: try row.decode(1), last: try row.decode(2))
            }
        }
        return known
    }

    /// The place of the first column of a fact in a row of ``PostgresQuery/known(_:new:)``.
    private static let firstFact = 12
}

extension PostgresQuery {
    /// Inserts the missing rows of the purchases, and locks all of them. `where false` updates nothing and locks
    /// all the same (PostgreSQL, INSERT, "ON CONFLICT DO UPDATE"); the statements after this one see what other
    /// workers committed.
    static func lock(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.lock",
            """
            insert into storehook.purchase_lines as known (original_transaction_id, bundle_id, environment)
            select purchase.* from unnest(
                \(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment))) as purchase
             cross join set_config('storehook.knows_accounts', 'yes', true)
            on conflict (original_transaction_id, bundle_id, environment) do update
               set environment = known.environment where false
            """
        ).keepingPlan()
    }

    /// Each purchase's facts, as many as are needed. Only the end is read of a subscription that has phases in
    /// `subscription_history`, if no new statement is about a time before the phases in `subscriptions`:
    /// - the three periods before the horizon and all since;
    /// - the four statements before the horizon and all since. Records of a period are signed up to a day before it
    ///   begins.
    ///
    /// All records of such a subscription must be dated as Apple dates them, and no new one may date a known period
    /// differently.
    fileprivate static func known(
        _ keys: [PurchaseKey], new: [PurchaseKey: [PurchaseStatement]]?
    ) -> PostgresQuery {
        let since = keys.map { key in new?[key]?.map(\.since).min() }
        let added = keys.enumerated().flatMap { number, key in
            (new?[key] ?? []).compactMap { statement in statement.transaction.map { (Int64(number + 1), $0) } }
        }
        let facts = PurchaseStatement.columns.dropFirst(3).map { "f.\($0.name)" }.joined(separator: ", ")
        return PostgresQuery(
            "ledger.known",
            """
            with key as materialized (
                select * from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)),
                                     \(since.map { $0.map(PostgresTimestamp.init) }))
                    with ordinality as key (original_transaction_id, bundle_id, environment, since, n)
            ), added as materialized (
                select * from unnest(\(added.map(\.0)), \(added.map(\.1.transactionID)), \(added.map(\.1.webOrderLineItemID)),
                                     \(added.map { $0.1.purchasedAt.map(PostgresTimestamp.init) }))
                    as added (n, transaction_id, item, purchased_at)
            ), same_transaction as materialized (
                -- Laterals with an offset are index lookups, whatever is thought of the table's size.
                select a.n, bool_or(t.original_transaction_id <> key.original_transaction_id) as is_foreign,
                       bool_or(t.purchased_at is distinct from a.purchased_at) as is_redated
                  from added a join key using (n)
                 cross join lateral (
                    select t.original_transaction_id, t.purchased_at from storehook.transactions t
                     where t.transaction_id = a.transaction_id and t.bundle_id = key.bundle_id
                       and t.environment = key.environment offset 0) t
                 group by a.n
            ), same_item as materialized (
                select a.n, bool_or(t.purchased_at is distinct from a.purchased_at) as is_redated
                  from added a join key using (n)
                 cross join lateral (
                    -- By item alone: by purchase would be all periods.
                    select t.original_transaction_id, t.purchased_at from storehook.transactions t
                     where t.web_order_line_item_id = a.item and t.bundle_id = key.bundle_id
                       and t.environment = key.environment offset 0) t
                 where t.original_transaction_id = key.original_transaction_id
                 group by a.n
            ), header as materialized (
                select key.*, p.anomalies, s.earlier_phases, s.carried_account_token, s.phase_origin[1] as origin,
                       case when s.phase_origin is not null then s.phase_transaction[1] end as transaction, s.stretches,
                       s.first_stored_at, s.last_stored_at,
                       coalesce(same_transaction.is_foreign, false)
                       or exists (
                           select from storehook.shared_transactions shared
                            where shared.original_transaction_id = key.original_transaction_id
                              and shared.bundle_id = key.bundle_id and shared.environment = key.environment)
                           as is_shared,
                       case when s.earlier_phases > 0 and s.is_regular and key.since >= s.phase_starts[1]
                                 and same_transaction.is_redated is not true and same_item.is_redated is not true
                            then s.phase_starts[1] end as horizon
                  from key
                  join storehook.purchase_lines p using (original_transaction_id, bundle_id, environment)
                  left join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
                  left join same_transaction using (n)
                  left join same_item using (n)
            ), bounded as materialized (
                select header.*,
                       case when horizon is not null then (
                           select t.purchased_at from storehook.transactions t
                            where t.original_transaction_id = header.original_transaction_id
                              and t.bundle_id = header.bundle_id and t.environment = header.environment
                              and t.purchased_at <= horizon
                            order by t.purchased_at desc offset 2 limit 1) end as cut,
                       case when horizon is not null then (
                           select f.signed_at from storehook.purchase_facts f
                            where f.original_transaction_id = header.original_transaction_id
                              and f.bundle_id = header.bundle_id and f.environment = header.environment
                              and f.signed_at <= horizon
                            order by f.signed_at desc offset 3 limit 1) end as first_statement
                  from header
            ), ends as materialized (
                -- A column of its own, or begins is no condition of the index and all statements are read.
                select n, original_transaction_id, bundle_id, environment, anomalies, earlier_phases,
                       carried_account_token, origin, transaction, stretches, is_shared, first_stored_at, last_stored_at,
                       case when is_cut then horizon end as horizon,
                       case when is_cut then cut end as cut,
                       case when is_cut then least(cut - interval '2 days', first_statement)
                            else '-infinity' end as begins
                  from bounded
                 -- Both or neither: what is left out must have been over before both.
                 cross join lateral (select cut is not null and first_statement is not null as is_cut) whole
            )
            select b.n, b.anomalies, b.earlier_phases, b.horizon, b.cut, b.carried_account_token, b.origin, b.transaction,
                   b.stretches, b.is_shared, b.first_stored_at, b.last_stored_at,
                   \(unescaped: facts)
              from ends b
              left join storehook.purchase_facts f
                   on f.original_transaction_id = b.original_transaction_id and f.bundle_id = b.bundle_id
                  and f.environment = b.environment and f.signed_at >= b.begins
            """)
    }
}
