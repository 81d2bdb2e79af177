import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

/// What a batch does to one line, worked out in memory: the facts as they stand, merged with one entry after the other,
/// so that each change can be laid at its own notification's door.
struct PurchaseHistory {
    /// A signed record and the notification that brought it.
    struct Sourced<Payload: Sendable> {
        var record: LedgerEntry.Signed<Payload>
        var notificationUUID: UniqueIdentifier
    }

    let line: PurchaseKey
    private let policy: StatusPolicy
    private(set) var facts: PurchaseFacts
    private(set) var state: SubscriptionState?
    private(set) var changes: [StateChange] = []
    /// Transactions to be written, by transactionId.
    private(set) var transactions: [String: Sourced<TransactionPayload>] = [:]
    /// Renewal info to be written.
    private(set) var renewal: Sourced<RenewalInfoPayload>?
    /// Whether Apple's reportedStatus is another one now.
    private(set) var reportedStatusChanged = false
    private let stateBefore: SubscriptionState?

    init(_ line: PurchaseKey, _ facts: PurchaseFacts, _ policy: StatusPolicy) {
        self.line = line
        self.policy = policy
        self.facts = facts
        stateBefore = SubscriptionState(facts, policy: policy)
        state = stateBefore
    }

    /// What has to be written as the line's state; nil where what is stored still holds.
    var transition: StateTransition? {
        guard let state, state != stateBefore else { return nil }
        return StateTransition(line: line, before: stateBefore, after: state)
    }

    /// Whether what is stored as the line's state has to go: the latest records make no subscription of it any more.
    var endsWithoutState: Bool { stateBefore != nil && state == nil }

    /// Takes in what one notification brings, and notes what it changed.
    mutating func apply(_ entry: LedgerEntry) {
        let asOf = facts.asOf
        var changed = false
        if let record = entry.transaction { changed = merge(record, from: entry.notification.uuid) || changed }
        if let record = entry.renewal { changed = merge(record, from: entry.notification.uuid) || changed }
        if let reportedStatus = entry.reportedStatus { changed = merge(reportedStatus) || changed }
        let before = state
        if changed { state = SubscriptionState(facts, policy: policy) }
        if let state, let asOfNow = facts.asOf {
            let seen = before.map { (state: $0, at: asOf ?? asOfNow) }
            changes.append(StateChange(line, from: seen, to: (state, asOfNow), by: entry.notification))
        }
    }

    /// Takes a record in; answers whether it is news.
    mutating func merge(_ record: LedgerEntry.Signed<TransactionPayload>, from uuid: UniqueIdentifier) -> Bool {
        let fact = TransactionFact(record.payload, digest: record.digest)
        let changed = facts.merge(fact)
        if changed || facts.holds(fact) {
            let known = transactions[fact.transactionID]
            if changed || known.map({ uuid < $0.notificationUUID }) ?? true {
                transactions[fact.transactionID] = Sourced(record: record, notificationUUID: uuid)
            }
        }
        return changed
    }

    /// Takes a record in; answers whether it is news.
    mutating func merge(_ record: LedgerEntry.Signed<RenewalInfoPayload>, from uuid: UniqueIdentifier) -> Bool {
        let fact = RenewalFact(record.payload, digest: record.digest)
        let changed = facts.merge(fact)
        if changed || facts.holds(fact),
            changed || renewal.map({ uuid < $0.notificationUUID }) ?? true
        {
            renewal = Sourced(record: record, notificationUUID: uuid)
        }
        return changed
    }

    /// Takes a reportedStatus in; answers whether it is news.
    mutating func merge(_ reportedStatus: ReportedStatus) -> Bool {
        guard facts.merge(reportedStatus) else { return false }
        reportedStatusChanged = true
        return true
    }

    /// Derives the state from the facts as they are now, for those who merged without noting changes.
    mutating func derive() { state = SubscriptionState(facts, policy: policy) }
}

extension LedgerEntry {
    /// The line it is about; nil for what concerns no purchase.
    var line: PurchaseKey? {
        let id = transaction?.payload.originalTransactionId ?? renewal?.payload.originalTransactionId
        return id.map { PurchaseKey(environment: environment, bundleID: bundleID, originalTransactionID: $0) }
    }

    /// Apple's reportedStatus on the line, if it gave one.
    var reportedStatus: ReportedStatus? {
        guard case .data(let data) = notification.part, let status = data.status else { return nil }
        return ReportedStatus(status: Int(clamping: status.rawValue), signedAt: notification.signedDate)
    }
}
