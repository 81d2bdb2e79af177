import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

extension PostgresQuery {
    /// States that are other ones now.
    ///
    /// Each row holds arrays of its own, which `unnest` would flatten: so all phases travel in one array a column, and
    /// each row cuts its slice out of it.
    static func upsertSubscriptions(_ histories: [LineHistory]) -> PostgresQuery? {
        let changed = histories.compactMap(\.transition).map {
            (line: $0.line, state: $0.after, phases: $0.after.phases)
        }
        guard !changed.isEmpty else { return nil }
        let phases = changed.flatMap(\.phases)
        var ends: [Int32] = []
        for row in changed { ends.append((ends.last ?? 0) + Int32(clamping: row.phases.count)) }
        let starts = zip(ends, changed).map { $0 - Int32(clamping: $1.phases.count) + 1 }
        let states = changed.map(\.state)
        return PostgresQuery(
            "ledger.upsert_subscriptions",
            """
            with phases as materialized (
                select \(phases.map { PostgresTimestamp($0.startsAt) }) as starts,
                       \(phases.map(\.value.status.rawValue)) as status,
                       \(phases.map(\.value.productID)) as product,
                       \(phases.map { PostgresTimestamp($0.value.expiresAt) }) as expires,
                       \(phases.map(\.value.inTrial)) as trial
            )
            insert into storehook.subscriptions
                   (environment, bundle_id, original_transaction_id, subscription_group_id, app_account_token,
                    ownership, will_renew, renewal_product_id, price_increase_pending, expiration_intent,
                    phase_starts, phase_status, phase_product, phase_expires, phase_trial)
            select s.environment, s.bundle_id, s.original_transaction_id, s.subscription_group_id, s.app_account_token,
                   s.ownership, s.will_renew, s.renewal_product_id, s.price_increase_pending, s.expiration_intent,
                   p.starts[s.a:s.b], p.status[s.a:s.b], p.product[s.a:s.b], p.expires[s.a:s.b], p.trial[s.a:s.b]
              from unnest(
                \(changed.map(\.line.environment)), \(changed.map(\.line.bundleID)),
                \(changed.map(\.line.originalTransactionID)), \(states.map(\.subscriptionGroupID)),
                \(states.map { $0.appAccountToken.map(UUID.init) }), \(states.map(\.ownership)),
                \(states.map(\.willRenew)), \(states.map(\.renewalProductID)), \(states.map(\.priceIncreasePending)),
                \(states.map { $0.expirationIntent.map { Int16(clamping: $0) } }), \(starts), \(ends)
              ) as s (environment, bundle_id, original_transaction_id, subscription_group_id, app_account_token,
                      ownership, will_renew, renewal_product_id, price_increase_pending, expiration_intent, a, b),
              phases p
            on conflict (environment, bundle_id, original_transaction_id) do update
               set subscription_group_id = excluded.subscription_group_id,
                   app_account_token = excluded.app_account_token, ownership = excluded.ownership,
                   will_renew = excluded.will_renew, renewal_product_id = excluded.renewal_product_id,
                   price_increase_pending = excluded.price_increase_pending,
                   expiration_intent = excluded.expiration_intent, phase_starts = excluded.phase_starts,
                   phase_status = excluded.phase_status, phase_product = excluded.phase_product,
                   phase_expires = excluded.phase_expires, phase_trial = excluded.phase_trial, changed_at = now()
            """)
    }
}
