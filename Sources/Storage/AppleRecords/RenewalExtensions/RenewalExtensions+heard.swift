import Base
package import Foundation
package import Postgres

/// What Apple's notification about a mass extension says at its end.
package struct ExtensionSummary: Sendable, Hashable {
    /// The notification.
    package var notificationUUID: UUID
    /// When it was signed.
    package var signedAt: PostgresTimestamp
    /// How many were extended.
    package var succeeded: Int64?
    /// How many were not.
    package var failed: Int64?
}

extension RenewalExtensions {
    /// The RENEWAL_EXTENDED of one subscription that was applied since Apple was asked; nil while there is none.
    ///
    /// A late notification about an earlier extension was signed before Apple's last answer about the subscription. One
    /// about fewer days, as of a mass extension, has the period end earlier; an hour is left for days of 23.
    package func notification(about held: HeldExtension) async throws -> UUID? {
        guard case .one(let original) = held.record.subject, let askedAt = held.record.askedAt else { return nil }
        return try await pool.query(
            PostgresQuery(
                "extension.heard",
                """
                select n.notification_uuid
                  from storehook.extensions e
                 cross join storehook.notifications n
                  join storehook.transactions t
                       on t.transaction_id = n.transaction_id and t.bundle_id = n.bundle_id
                          and t.environment = n.environment
                 where e.id = \(held.record.id)
                   and n.original_transaction_id = \(original) and n.bundle_id = \(held.record.scope.bundleID)
                   and n.environment = \(held.record.scope.environment) and n.type = 'RENEWAL_EXTENDED'
                   and n.outcome = 'applied' and n.applied_at >= \(askedAt)
                   and n.signed_at >= coalesce(\(held.record.before?.signedAt), '-infinity')
                   and (coalesce(e.effective_at, e.renews_before) is null
                        or t.expires_at >= coalesce(e.effective_at, e.renews_before + e.days * interval '24 hours')
                                           - interval '1 hour')
                 order by n.signed_at
                 limit 1
                """)
        ).first?.decode(0)
    }

    /// Notes which subscriptions Apple has named that a mass extension could not extend, and its summary once it is there.
    ///
    /// A failure names no request: it belongs to the one for its product and country that was open when it was signed, but for
    /// the minutes by which Apple's clock may be behind. What was looked through is not looked through again, but for the last
    /// minutes: a notification's row is dated by when its transaction began.
    /// - Returns: how many failures are known, and the summary; nil if another worker holds the extension.
    package func hear(_ held: HeldExtension) async throws -> (failures: Int64, summary: ExtensionSummary?)? {
        guard case .all(let product, let storefronts) = held.record.subject, let askedAt = held.record.askedAt else {
            return (0, nil)
        }
        let scope = held.record.scope
        return try await queue.holding(held.claim) { session in
            // The queue's row is locked: no other transaction changes this one.
            let since: PostgresTimestamp = try session.query(
                PostgresQuery(
                    "extension.heard_until",
                    """
                    select greatest(\(askedAt)::timestamptz, heard_until - interval '10 minutes')
                      from storehook.extensions where id = \(held.record.id)
                    """)
            ).one().decode(0)
            try session.query(
                PostgresQuery(
                    "extension.hear",
                    """
                    insert into storehook.extension_failures
                           (extension_id, notification_uuid, original_transaction_id, signed_at)
                    select \(held.record.id), n.notification_uuid, n.original_transaction_id, n.signed_at
                      from storehook.notifications n
                      join storehook.transactions t
                           on t.transaction_id = n.transaction_id and t.bundle_id = n.bundle_id
                              and t.environment = n.environment
                     where n.applied_at >= \(since)
                       and n.type = 'RENEWAL_EXTENSION' and n.subtype = 'FAILURE' and n.outcome = 'applied'
                       and n.signed_at >= \(askedAt)::timestamptz - interval '5 minutes'
                       and n.bundle_id = \(scope.bundleID) and n.environment = \(scope.environment)
                       and n.original_transaction_id is not null and t.product_id = \(product)
                       and (cardinality(\(storefronts)) = 0 or t.storefront = any(\(storefronts)))
                        on conflict do nothing
                    """))
            let failures: Int64 = try session.query(
                PostgresQuery(
                    "extension.failure_count",
                    "select count(*) from storehook.extension_failures where extension_id = \(held.record.id)")
            ).one().decode(0)
            let summary = try session.query(
                PostgresQuery(
                    "extension.summary",
                    """
                    select n.notification_uuid, n.signed_at,
                           substring(n.details #>> '{summary,succeededCount}' from '^[0-9]{1,18}$')::bigint as succeeded,
                           substring(n.details #>> '{summary,failedCount}' from '^[0-9]{1,18}$')::bigint as failed
                      from storehook.notifications n
                     where (n.notification_uuid = \(held.record.notificationUUID) or n.applied_at >= \(since))
                       and n.type = 'RENEWAL_EXTENSION' and n.subtype = 'SUMMARY'
                       and n.bundle_id = \(scope.bundleID) and n.environment = \(scope.environment)
                       and lower(n.details #>> '{summary,requestIdentifier}') = lower(\(held.record.requestIdentifier))
                     limit 1
                    """)
            ).first.map { row in
                ExtensionSummary(
                    notificationUUID: try row.decode("notification_uuid"), signedAt: try row.decode("signed_at"),
                    succeeded: try row.decode("succeeded"), failed: try row.decode("failed"))
            }
            // Once the summary is found it is fetched by its name: nothing is looked through twice.
            try session.query(
                PostgresQuery(
                    "extension.heard_now",
                    """
                    update storehook.extensions
                       set heard_until = now(), notification_uuid = coalesce(\(summary?.notificationUUID), notification_uuid)
                     where id = \(held.record.id)
                    """))
            return (failures, summary)
        }
    }
}
