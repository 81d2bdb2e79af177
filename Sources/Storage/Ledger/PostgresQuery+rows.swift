import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

// Rows worked out in memory, as statements that select them: one array a column, in the order of ``LedgerTable``'s columns.

extension PostgresQuery {
    /// Apple's reportedStatus on each line.
    static func reportedStatuses(_ histories: [PurchaseHistory]) -> PostgresQuery {
        """
        select * from unnest(
            \(histories.map(\.line.originalTransactionID)), \(histories.map(\.line.bundleID)),
            \(histories.map(\.line.environment)),
            \(histories.map { $0.facts.reportedStatus.map { Int16(clamping: $0.status) } }),
            \(histories.map { $0.facts.reportedStatus.map { PostgresTimestamp($0.signedAt) } }))
        """
    }

    /// The transactions that the histories would write, whole.
    static func transactions(_ histories: [PurchaseHistory]) -> PostgresQuery {
        let rows = histories.flatMap { history in
            history.transactions.sorted { $0.key < $1.key }.map { (line: history.line, sourced: $0.value) }
        }
        let signed = rows.map(\.sourced.record)
        let records = signed.map(\.payload)
        return """
            select * from unnest(
                \(records.map(\.transactionId)), \(rows.map(\.line.bundleID)), \(rows.map(\.line.environment)),
                \(records.map(\.originalTransactionId)), \(records.map(\.webOrderLineItemId)),
                \(records.map(\.productId)), \(records.map(\.subscriptionGroupIdentifier)),
                \(records.map(\.type?.rawValue)), \(records.map(\.inAppOwnershipType?.rawValue)),
                \(records.map { $0.purchaseDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.expiresDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.revocationDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.isUpgraded ?? false }), \(records.map(\.transactionReason?.rawValue)),
                \(records.map(\.offerDiscountType?.rawValue)), \(records.map { $0.appAccountToken.map(UUID.init) }),
                \(records.map(\.price)), \(records.map(\.currency)),
                \(records.map { $0.quantity.map { Int32(clamping: $0) } }),
                \(records.map { PostgresTimestamp($0.signedDate) }), \(signed.map(\.digest)),
                \(rows.map { UUID($0.sourced.notificationUUID) }), \(records.map { PostgresJSON($0.json) }))
            """
    }

    /// The renewal info that the histories would write, whole.
    static func renewals(_ histories: [PurchaseHistory]) -> PostgresQuery {
        let rows = histories.compactMap { history in history.renewal.map { (line: history.line, sourced: $0) } }
        let signed = rows.map(\.sourced.record)
        let records = signed.map(\.payload)
        return """
            select * from unnest(
                \(records.map(\.originalTransactionId)), \(rows.map(\.line.bundleID)), \(rows.map(\.line.environment)),
                \(records.map(\.productId)), \(records.map(\.autoRenewProductId)),
                \(records.map { $0.autoRenewStatus.map { $0 == .on } }),
                \(records.map { $0.renewalDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.expirationIntent.map { Int16(clamping: $0.rawValue) } }),
                \(records.map(\.isInBillingRetryPeriod)),
                \(records.map { $0.gracePeriodExpiresDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.priceIncreaseStatus.map { Int16(clamping: $0.rawValue) } }),
                \(records.map { $0.appAccountToken.map(UUID.init) }),
                \(records.map { PostgresTimestamp($0.signedDate) }), \(signed.map(\.digest)),
                \(rows.map { UUID($0.sourced.notificationUUID) }), \(records.map { PostgresJSON($0.json) }))
            """
    }

    /// States of lines.
    ///
    /// Each row holds arrays of its own, which `unnest` would flatten: so all phases travel in one array a column, and
    /// each row cuts its slice out of it.
    static func subscriptions(_ states: [(line: PurchaseKey, state: SubscriptionState)]) -> PostgresQuery {
        let rows = states.map { (line: $0.line, state: $0.state, phases: $0.state.phases) }
        let phases = rows.flatMap(\.phases)
        var ends: [Int32] = []
        for row in rows { ends.append((ends.last ?? 0) + Int32(clamping: row.phases.count)) }
        let starts = zip(ends, rows).map { $0 - Int32(clamping: $1.phases.count) + 1 }
        return """
            select s.original_transaction_id, s.bundle_id, s.environment, s.subscription_group_id, s.app_account_token,
                   s.ownership, s.will_renew, s.renewal_product_id, s.price_increase_pending, s.expiration_intent,
                   p.starts[s.a:s.b], p.status[s.a:s.b], p.product[s.a:s.b], p.expires[s.a:s.b], p.trial[s.a:s.b]
              from unnest(
                \(rows.map(\.line.originalTransactionID)), \(rows.map(\.line.bundleID)),
                \(rows.map(\.line.environment)), \(rows.map(\.state.subscriptionGroupID)),
                \(rows.map { $0.state.appAccountToken.map(UUID.init) }), \(rows.map(\.state.ownership)),
                \(rows.map(\.state.willRenew)), \(rows.map(\.state.renewalProductID)),
                \(rows.map(\.state.priceIncreasePending)),
                \(rows.map { $0.state.expirationIntent.map { Int16(clamping: $0) } }), \(starts), \(ends)
              ) as s (original_transaction_id, bundle_id, environment, subscription_group_id, app_account_token,
                      ownership, will_renew, renewal_product_id, price_increase_pending, expiration_intent, a, b),
              (select \(phases.map { PostgresTimestamp($0.startsAt) }) as starts,
                      \(phases.map(\.value.status.rawValue)) as status, \(phases.map(\.value.productID)) as product,
                      \(phases.map { PostgresTimestamp($0.value.expiresAt) }) as expires,
                      \(phases.map(\.value.inTrial)) as trial offset 0) p
            """
    }
}
