import Accounts
import AppStorePayloads
import Events
import Foundation
import Ledger
import Postgres
import Subscriptions

/// A row of `access_tellings`, with the version that readers see.
struct ToldAccess: Sendable {
    /// An account in one environment.
    struct ID: Sendable, Hashable, Comparable {
        var token: UniqueIdentifier
        var environment: String

        static func < (a: ID, b: ID) -> Bool { (a.token, a.environment) < (b.token, b.environment) }
    }

    let id: ID
    /// The number of the account's last event.
    var sequence: Int64 = 0
    /// When something is to be told next.
    var dueAt: Timestamp?
    /// What was told last; nil where nothing was.
    var told: ToldAccount?
    /// The account's version by now; 0 where nothing was derived of it.
    var version: Int64 = 0

    /// Reads a row; columns are null where there is none.
    init(_ row: PostgresRow, _ id: ID) throws {
        self.id = id
        version = try row.decode("version", as: Int64?.self) ?? 0
        guard let sequence = try row.decode("sequence", as: Int64?.self) else { return }
        self.sequence = sequence
        dueAt = try row.decode("due_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        guard let status = try row.decode("status", as: String?.self) else { return }
        guard let status = AccountStatus(rawValue: status),
            let source = AccountSource(rawValue: try row.decode("source", as: String.self))
        else {
            throw PostgresError(
                .decoding, "access_tellings: a status or source that this release does not know", operation: "decode")
        }
        let stored = try row.decode("since", as: PostgresTimestamp.self)
        let since = stored == .earliest ? Timestamp.distantPast : Timestamp(stored)
        var purchase: PurchaseKey?
        if let bundle = try row.decode("bundle_id", as: String?.self),
            let original = try row.decode("original_transaction_id", as: String?.self)
        {
            purchase = PurchaseKey(
                environment: id.environment, bundleID: bundle, originalTransactionID: original)
        }
        let ends = try row.decode("expires_at", as: PostgresTimestamp?.self)
        told = ToldAccount(
            value: AccountPhase(
                startsAt: since, status: status, tier: try row.decode("tier"), source: source,
                productID: try row.decode("product_id"), purchase: purchase, act: try row.decode("act"),
                expiresAt: ends.map { Timestamp($0) }, willRenew: try row.decode("will_renew"),
                inTrial: try row.decode("in_trial")),
            since: since)
    }
}

extension PostgresQuery {
    /// What was told of accounts, in their order, and the version that readers see of each by now.
    static func told(_ ids: [ToldAccess.ID]) -> PostgresQuery {
        PostgresQuery(
            "events.told_access",
            """
            select key.n, s.version, t.sequence, t.due_at, t.since, t.status, t.tier, t.source, t.product_id,
                   t.bundle_id, t.original_transaction_id, t.act, t.expires_at, t.will_renew, t.in_trial
              from unnest(\(ids.map { UUID($0.token) }), \(ids.map(\.environment)))
                   with ordinality as key (token, environment, n)
              left join storehook.access_tellings t using (token, environment)
              left join storehook.account_status s
                     on s.token = key.token and s.environment = key.environment
                    and s.catalog = (select current_version from storehook.catalog_state)
             order by key.n
            """)
    }

    /// `told_purchase` and `told_access`: rows written over what stands, as the first parts of a WITH.
    static func telling(_ purchases: [ToldPurchase], _ rows: [ToldAccess]) -> PostgresQuery {
        let values = rows.map { $0.told?.value }
        return """
            \(embedding: .telling(purchases)), told_access as (
                insert into storehook.access_tellings as known (
                    token, environment, sequence, due_at, since, status, tier, source, product_id, bundle_id,
                    original_transaction_id, act, expires_at, will_renew, in_trial)
                select * from unnest(
                    \(rows.map { UUID($0.id.token) }), \(rows.map(\.id.environment)), \(rows.map(\.sequence)),
                    \(rows.map { $0.dueAt.map { PostgresTimestamp($0) } }),
                    \(rows.map { ($0.told?.since).map { PostgresTimestamp($0) } }),
                    \(values.map { $0?.status.rawValue }), \(values.map { $0?.tier }),
                    \(values.map { $0?.source.rawValue }), \(values.map { $0?.productID }),
                    \(values.map { $0?.purchase?.bundleID }), \(values.map { $0?.purchase?.originalTransactionID }),
                    \(values.map { $0?.act }), \(values.map { ($0?.expiresAt).map { PostgresTimestamp($0) } }),
                    \(values.map { $0?.willRenew }), \(values.map { $0?.inTrial }))
                on conflict (token, environment) do update
                   set sequence = excluded.sequence, due_at = excluded.due_at, since = excluded.since,
                       status = excluded.status, tier = excluded.tier, source = excluded.source,
                       product_id = excluded.product_id, bundle_id = excluded.bundle_id,
                       original_transaction_id = excluded.original_transaction_id, act = excluded.act,
                       expires_at = excluded.expires_at, will_renew = excluded.will_renew, in_trial = excluded.in_trial
            )
            """
    }
}
