import AppStorePayloads
import Events
import Foundation
import Ledger
import Postgres
import Subscriptions

/// A row of `purchase_tellings`.
struct ToldPurchase: Sendable, Hashable {
    let key: PurchaseKey
    /// The last number in the purchase's own order.
    var sequence: Int64 = 0
    /// When something is to be told next.
    var dueAt: Timestamp?
    /// What was told last; nil of what was bought once, and where nothing was.
    var line: ToldLine?

    init(key: PurchaseKey) { self.key = key }

    /// Reads a row; columns are null where there is none.
    init(_ row: PostgresRow, _ key: PurchaseKey) throws {
        self.key = key
        guard let sequence = try row.decode("sequence", as: Int64?.self) else { return }
        self.sequence = sequence
        dueAt = try row.decode("due_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        guard let status = try row.decode("status", as: String?.self) else { return }
        guard let status = SubscriptionStatus(rawValue: status),
            let basis = StatusAtInstant.Basis(rawValue: try row.decode("basis", as: String.self))
        else {
            throw PostgresError(
                .decoding, "purchase_tellings: a status or basis that this release does not know", operation: "decode")
        }
        let expiresAt = Timestamp(try row.decode("expires_at", as: PostgresTimestamp.self))
        let periodEndsAt = Timestamp(try row.decode("period_ends_at", as: PostgresTimestamp.self))
        let graceEndsAt = try row.decode("grace_ends_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        let intent = try row.decode("expiration_intent", as: Int16?.self).map { Int($0) }
        let signed = try row.decode("app_account_token", as: UUID?.self).map { UniqueIdentifier($0) }
        let value = StatusAtInstant(
            status: status, basis: basis, productID: try row.decode("product_id"),
            transactionID: try row.decode("transaction_id"), expiresAt: expiresAt, periodEndsAt: periodEndsAt,
            graceEndsAt: graceEndsAt, inTrial: try row.decode("in_trial"), willRenew: try row.decode("will_renew"),
            renewalProductID: try row.decode("renewal_product_id"),
            priceIncreasePending: try row.decode("price_increase_pending"), expirationIntent: intent,
            appAccountToken: signed)
        let warnedOf = try row.decode("warned_of", as: PostgresTimestamp?.self).map { Timestamp($0) }
        let warnedDays = try row.decode("warned_days", as: Int16?.self).map { Int64($0) }
        let ends = try row.decode("unheard_ends", as: String?.self) ?? ""
        line = ToldLine(
            value: value, since: Timestamp(try row.decode("since", as: PostgresTimestamp.self)),
            account: try row.decode("token", as: UUID?.self).map { UniqueIdentifier($0) },
            unheardEnds: ends.split(separator: ",").compactMap { Int64($0) }
                .map { Timestamp(millisecondsSince1970: $0) },
            warning: warnedOf.flatMap { end in warnedDays.map { ToldLine.Warning(end: end, days: $0) } })
    }

    /// What of a row is read.
    static let columns = """
        t.sequence, t.due_at, t.token, t.since, t.status, t.basis, t.product_id, t.transaction_id, t.expires_at,
        t.period_ends_at, t.grace_ends_at, t.in_trial, t.will_renew, t.renewal_product_id, t.price_increase_pending,
        t.expiration_intent, t.app_account_token, t.unheard_ends, t.warned_of, t.warned_days
        """
}

extension PostgresQuery {
    /// What was told of purchases, in their order.
    static func told(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "events.told",
            """
            select key.n, \(unescaped: ToldPurchase.columns)
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   with ordinality as key (original_transaction_id, bundle_id, environment, n)
              left join storehook.purchase_tellings t using (original_transaction_id, bundle_id, environment)
             order by key.n
            """)
    }

    /// `told_purchase`: rows of `purchase_tellings` written over what stands, as a part of a WITH.
    static func telling(_ rows: [ToldPurchase]) -> PostgresQuery {
        let values = rows.map { $0.line?.value }
        return """
            told_purchase as (
                insert into storehook.purchase_tellings as known (
                    original_transaction_id, bundle_id, environment, sequence, due_at, token, since, status, basis,
                    product_id, transaction_id, expires_at, period_ends_at, grace_ends_at, in_trial, will_renew,
                    renewal_product_id, price_increase_pending, expiration_intent, app_account_token, unheard_ends,
                    warned_of, warned_days)
                select * from unnest(
                    \(rows.map(\.key.originalTransactionID)), \(rows.map(\.key.bundleID)),
                    \(rows.map(\.key.environment)), \(rows.map(\.sequence)),
                    \(rows.map { $0.dueAt.map { PostgresTimestamp($0) } }),
                    \(rows.map { $0.line?.account.map { UUID($0) } }),
                    \(rows.map { ($0.line?.since).map { PostgresTimestamp($0) } }),
                    \(values.map { $0?.status.rawValue }), \(values.map { $0?.basis.rawValue }),
                    \(values.map { $0?.productID }), \(values.map { $0?.transactionID }),
                    \(values.map { ($0?.expiresAt).map { PostgresTimestamp($0) } }),
                    \(values.map { ($0?.periodEndsAt).map { PostgresTimestamp($0) } }),
                    \(values.map { ($0?.graceEndsAt).map { PostgresTimestamp($0) } }),
                    \(values.map { $0?.inTrial }), \(values.map { $0?.willRenew }),
                    \(values.map { $0?.renewalProductID }), \(values.map { $0?.priceIncreasePending }),
                    \(values.map { ($0?.expirationIntent).map { Int16(clamping: $0) } }),
                    \(values.map { ($0?.appAccountToken).map { UUID($0) } }),
                    \(rows.map { row in row.line.flatMap { $0.unheardText } }),
                    \(rows.map { ($0.line?.warning?.end).map { PostgresTimestamp($0) } }),
                    \(rows.map { ($0.line?.warning?.days).map { Int16(clamping: $0) } }))
                on conflict (original_transaction_id, bundle_id, environment) do update
                   set sequence = excluded.sequence, due_at = excluded.due_at, token = excluded.token,
                       since = excluded.since, status = excluded.status, basis = excluded.basis,
                       product_id = excluded.product_id, transaction_id = excluded.transaction_id,
                       expires_at = excluded.expires_at, period_ends_at = excluded.period_ends_at,
                       grace_ends_at = excluded.grace_ends_at, in_trial = excluded.in_trial,
                       will_renew = excluded.will_renew, renewal_product_id = excluded.renewal_product_id,
                       price_increase_pending = excluded.price_increase_pending,
                       expiration_intent = excluded.expiration_intent,
                       app_account_token = excluded.app_account_token, unheard_ends = excluded.unheard_ends,
                       warned_of = excluded.warned_of, warned_days = excluded.warned_days
            )
            """
    }
}

extension ToldLine {
    /// The ends of periods that were told unheard; nil where there are none, as nearly always.
    fileprivate var unheardText: String? {
        unheardEnds.isEmpty ? nil : unheardEnds.map { "\($0.millisecondsSince1970)" }.joined(separator: ",")
    }
}
