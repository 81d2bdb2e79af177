import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

extension PostgresQuery {
    /// Answers the outbox ids of those that were not recorded before. Entries come sorted by UUID: see ``Ledger``.
    static func insertNotifications(_ entries: [LedgerEntry]) -> PostgresQuery {
        PostgresQuery(
            "ledger.notifications",
            """
            insert into storehook.notifications
                   (notification_uuid, outbox_id, type, subtype, environment, bundle_id, app_apple_id,
                    original_transaction_id, transaction_id, apple_status, signed_at, received_at, outcome)
            select * from unnest(
                \(entries.map { UUID($0.notification.uuid) }), \(entries.map(\.outboxID)),
                \(entries.map(\.notification.notificationType.rawValue)),
                \(entries.map(\.notification.subtype?.rawValue)),
                \(entries.map(\.environment)), \(entries.map(\.bundleID)), \(entries.map(\.appAppleID)),
                \(entries.map { $0.line?.originalTransactionID }), \(entries.map { $0.transaction?.payload.transactionId }),
                \(entries.map { $0.reportedStatus.map { Int16(clamping: $0.status) } }),
                \(entries.map { PostgresTimestamp($0.notification.signedDate) }), \(entries.map(\.receivedAt)),
                \(entries.map(\.outcome.rawValue)))
            on conflict (notification_uuid) do nothing
            returning outbox_id
            """)
    }

    /// The timeline's rows, one for each notification of an auto-renewable line, in the order they were applied.
    static func insertChanges(_ changes: [StateChange], _ entries: [LedgerEntry]) -> PostgresQuery {
        let receivedAt = Dictionary(entries.map { ($0.notification.uuid, $0.receivedAt) }) { first, _ in first }
        return PostgresQuery(
            "ledger.changes",
            """
            insert into storehook.subscription_changes
                   (environment, bundle_id, original_transaction_id, notification_uuid, signed_at, received_at,
                    status_before, status_after, changes)
            select environment, bundle_id, original_transaction_id, notification_uuid, signed_at, received_at,
                   status_before, status_after, changes
              from unnest(
                \(changes.map(\.line.environment)), \(changes.map(\.line.bundleID)),
                \(changes.map(\.line.originalTransactionID)), \(changes.map { UUID($0.notificationUUID) }),
                \(changes.map { PostgresTimestamp($0.signedAt) }),
                \(changes.map { receivedAt[$0.notificationUUID] ?? PostgresTimestamp($0.signedAt) }),
                \(changes.map { $0.statusBefore?.rawValue }), \(changes.map(\.statusAfter.rawValue)),
                \(changes.map { PostgresJSON($0.differences) })
              ) as c (environment, bundle_id, original_transaction_id, notification_uuid, signed_at, received_at,
                      status_before, status_after, changes)
            """)
    }
}

extension LedgerEntry {
    /// Apple's number for the app, where the notification names it.
    fileprivate var appAppleID: Int64? {
        switch notification.part {
        case .data(let part): part.appAppleId
        case .summary(let part): part.appAppleId
        case .externalPurchaseToken(let part): part.appAppleId
        case .appData(let part): part.appAppleId
        case .none: nil
        }
    }
}
