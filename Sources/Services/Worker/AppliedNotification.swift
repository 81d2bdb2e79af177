import AccountStore
import Accounts
import AppStorePayloads
import Base
import Logging
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions

/// A notification that a batch has applied, for a line of the log.
struct AppliedNotification {
    private let entry: LedgerEntry
    private let applied: EvidencePipeline.Applied

    init(_ entry: LedgerEntry, _ applied: EvidencePipeline.Applied) {
        (self.entry, self.applied) = (entry, applied)
    }

    /// Which entries of a batch are notifications that were applied.
    static func places(_ entries: [LedgerEntry], _ outcomes: [LedgerOutcome]) -> [Int] {
        entries.indices.filter { outcomes[$0] == .applied && entries[$0].notification != nil }
    }

    /// What the line says beside where the notification came from: what it is, the status of its purchase before the batch and after it,
    /// whose the purchase is, until when, and why.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let notification = entry.notification {
            // A word that is not known may be anything.
            let type = notification.notificationType
            metadata["type"] = type.isKnown ? "\(type)" : "unknown"
            if let subtype = notification.subtype, subtype.isKnown { metadata["subtype"] = "\(subtype)" }
        }
        metadata["environment"] = entry.environment.map { "\($0)" }
        guard let key = entry.purchase else { return metadata }
        metadata["original_transaction_id"] = "\(key.originalTransactionID)"
        metadata["reason"] = reason.map { "\($0)" }
        guard let delta = applied.change.deltas.first(where: { $0.key == key }) else { return metadata }
        let now = instant
        var owner = applied.settled.owners[key]
        if let after = delta.phases.last(where: { $0.startsAt <= now })?.value {
            metadata["status"] = "\(after.status.rawValue)"
            metadata["ends"] = "\(after.accessUntil)"
            metadata["status_before"] = (delta.subscriptionBefore?.status(at: now)?.status).map {
                "\($0.rawValue)"
            }
            owner = owner ?? after.appAccountToken
        } else if let after = delta.oneTime {
            metadata["status"] = "\(Self.status(after, at: now))"
            metadata["ends"] = after.expiresAt.map { "\($0)" }
            metadata["status_before"] = delta.oneTimeBefore.map { "\(Self.status($0, at: now))" }
            owner = owner ?? after.appAccountToken
        }
        metadata["app_account_token"] = owner.map { "\($0)" }
        let account = applied.settled.states.first { $0.token == owner && $0.environment == key.environment }
        metadata["tier"] = (account?.state.value(at: now)).map { "\($0.tier)" }
        return metadata
    }

    /// The database's, or Apple's where that is a moment ahead: what a notification reports has taken effect.
    private var instant: Timestamp {
        let clock = Timestamp(applied.settled.clock)
        return max(clock, min(entry.signedAt ?? clock, clock.adding(seconds: StatusPolicy.clockDifferenceSeconds)))
    }

    private static func status(_ value: OneTimePurchase, at instant: Timestamp) -> String {
        value.isRevoked(at: instant) ? "refunded" : "bought"
    }

    /// Why money went back, why that was asked for, or why the subscription ended; nil where none of it is so.
    private var reason: String? {
        if let transaction = entry.transaction?.payload, transaction.revocationDate != nil {
            return transaction.revocationReason?.word
        }
        if case .data(let data) = entry.notification?.part, let asked = data.consumptionRequestReason {
            return asked.isKnown ? "\(asked)" : "unknown"
        }
        return entry.renewal?.payload.expirationIntent?.word
    }
}
