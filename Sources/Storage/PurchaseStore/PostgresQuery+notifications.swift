import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

extension PostgresQuery {
    /// Returns the outbox ids of those that were not recorded before. Entries must be sorted by UUID: see ``Ledger``.
    static func insertNotifications(
        _ rows: [(entry: LedgerEntry, notification: NotificationPayload)]
    ) -> PostgresQuery {
        let (entries, notifications) = (rows.map(\.entry), rows.map(\.notification))
        return PostgresQuery(
            "ledger.notifications",
            """
            insert into storehook.notifications
                   (notification_uuid, outbox_id, type, subtype, environment, bundle_id, app_apple_id,
                    original_transaction_id, transaction_id, apple_status, signed_at, received_at, outcome,
                    consumption_request_reason, details, source)
            select * from unnest(
                \(notifications.map { UUID($0.uuid) }), \(entries.map(\.outboxID)),
                \(notifications.map(\.notificationType.rawValue)), \(notifications.map(\.subtype?.rawValue)),
                \(entries.map(\.environment)), \(entries.map(\.bundleID)), \(notifications.map(\.appAppleID)),
                \(entries.map { $0.purchase?.originalTransactionID }),
                \(entries.map { $0.transaction?.payload.transactionId }),
                \(entries.map { $0.reportedStatus.map { Int16(clamping: $0) } }),
                \(notifications.map { PostgresTimestamp($0.signedDate) }), \(entries.map(\.receivedAt)),
                \(entries.map(\.outcome.rawValue)),
                \(notifications.map(\.consumptionRequestReason)), \(notifications.map(\.details)),
                \(entries.map(\.source.rawValue)))
            on conflict (notification_uuid) do nothing
            returning outbox_id
            """
        ).keepingPlan()
    }

    /// Returns the outbox ids of those that were not recorded before. Entries must be sorted by digest: see
    /// ``Ledger``.
    static func insertRecords(
        _ rows: [(entry: LedgerEntry, kind: EvidenceKind, digest: [UInt8])]
    ) -> PostgresQuery {
        let entries = rows.map(\.entry)
        return PostgresQuery(
            "ledger.records_of_evidence",
            """
            insert into storehook.records
                   (digest, outbox_id, kind, source, environment, bundle_id, original_transaction_id, transaction_id,
                    signed_at, received_at, outcome)
            select * from unnest(
                \(rows.map(\.digest)), \(entries.map(\.outboxID)), \(rows.map(\.kind.rawValue)),
                \(entries.map(\.source.rawValue)), \(entries.map(\.environment)), \(entries.map(\.bundleID)),
                \(entries.map { $0.purchase?.originalTransactionID }),
                \(entries.map { $0.transaction?.payload.transactionId }),
                \(entries.map { $0.signedAt.map(PostgresTimestamp.init) }), \(entries.map(\.receivedAt)),
                \(entries.map(\.outcome.rawValue)))
            on conflict (digest) do nothing
            returning outbox_id
            """)
    }

    /// Scalar subqueries: each can only be an index lookup.
    static func knownRecords(_ digests: [[UInt8]]) -> PostgresQuery {
        PostgresQuery(
            "ledger.known_records",
            """
            select w.digest
              from unnest(\(digests)) as w (digest)
             where (select true from storehook.records r where r.digest = w.digest)
            """)
    }

    /// Deletes purchases' anomalies from an instant on.
    static func deleteAnomalies(_ purchases: [(key: PurchaseKey, from: Timestamp)]) -> PostgresQuery {
        PostgresQuery(
            "ledger.delete_anomalies",
            """
            delete from storehook.anomalies a
             using unnest(\(purchases.map(\.key.originalTransactionID)), \(purchases.map(\.key.bundleID)),
                          \(purchases.map(\.key.environment)), \(purchases.map { PostgresTimestamp($0.from) }))
                   as scope (original_transaction_id, bundle_id, environment, since)
             where a.original_transaction_id = scope.original_transaction_id and a.bundle_id = scope.bundle_id
               and a.environment = scope.environment and a.signed_at >= scope.since
            """)
    }

    /// Forgets of these renewals that they never begin.
    static func forgetReplaced(_ renewals: [(key: PurchaseKey, transactionID: String)]) -> PostgresQuery {
        PostgresQuery(
            "ledger.forget_replaced",
            """
            delete from storehook.replaced_renewals r
             using unnest(\(renewals.map(\.key.originalTransactionID)), \(renewals.map(\.key.bundleID)),
                          \(renewals.map(\.key.environment)), \(renewals.map(\.transactionID)))
                   as gone (original_transaction_id, bundle_id, environment, transaction_id)
             where r.original_transaction_id = gone.original_transaction_id and r.bundle_id = gone.bundle_id
               and r.environment = gone.environment and r.transaction_id = gone.transaction_id
            """)
    }

    /// Records how many anomalies each purchase has, so that only purchases with some are searched for them again.
    static func countAnomalies(_ keys: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.count_anomalies",
            """
            update storehook.purchase_lines p
               set anomalies = (select count(*) from storehook.anomalies a
                                 where a.original_transaction_id = p.original_transaction_id
                                   and a.bundle_id = p.bundle_id and a.environment = p.environment)
              from unnest(\(keys.map(\.originalTransactionID)), \(keys.map(\.bundleID)), \(keys.map(\.environment)))
                   as scope (original_transaction_id, bundle_id, environment)
             where p.original_transaction_id = scope.original_transaction_id and p.bundle_id = scope.bundle_id
               and p.environment = scope.environment
            """)
    }
}

extension NotificationPayload {
    /// Apple's number for the app, where the notification names it.
    fileprivate var appAppleID: Int64? {
        switch part {
        case .data(let part): part.appAppleId
        case .summary(let part): part.appAppleId
        case .externalPurchaseToken(let part): part.appAppleId
        case .appData(let part): part.appAppleId
        case .none: nil
        }
    }

    /// Why a refund was asked for, where one was.
    fileprivate var consumptionRequestReason: String? {
        guard case .data(let data) = part else { return nil }
        return data.consumptionRequestReason?.rawValue
    }

    /// The parts that are not about a purchase, as JSON, without signed texts: those are evidence of their own.
    fileprivate var details: PostgresJSON? {
        switch part {
        case .data: nil
        case .summary, .externalPurchaseToken, .none: PostgresJSON(json)
        case .appData(let part):
            PostgresJSON(
                object: [
                    ("environment", part.environment.map { .text($0.rawValue) }),
                    ("bundleId", part.bundleId.map { .text($0) }),
                    ("appAppleId", part.appAppleId.map { .number($0) }),
                ])
        }
    }
}
