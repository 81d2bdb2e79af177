import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

/// What a batch does to one line, worked out in memory: the facts as they stand, merged with one entry after the other,
/// so that each change can be laid at its own notification's door.
struct LineHistory {
    /// A signed record and the notification that brought it.
    struct Sourced<Payload: Sendable> {
        var record: LedgerEntry.Signed<Payload>
        var notificationUUID: UniqueIdentifier
    }

    let line: PurchaseLine
    private let policy: StatusPolicy
    private(set) var facts: LineFacts
    private(set) var state: SubscriptionState?
    private(set) var changes: [StateChange] = []
    /// Transactions to be written, by transactionId.
    private(set) var transactions: [String: Sourced<TransactionPayload>] = [:]
    /// Renewal info to be written.
    private(set) var renewal: Sourced<RenewalInfoPayload>?
    /// Whether Apple's verdict is another one now.
    private(set) var verdictIsNew = false
    private let stateBefore: SubscriptionState?

    init(_ line: PurchaseLine, _ facts: LineFacts, _ policy: StatusPolicy) {
        self.line = line
        self.policy = policy
        self.facts = facts
        stateBefore = SubscriptionState(facts, policy: policy)
        state = stateBefore
    }

    /// What has to be written as the line's state; nil where what is stored still holds.
    var transition: LineTransition? {
        guard let state, state != stateBefore else { return nil }
        return LineTransition(line: line, before: stateBefore, after: state)
    }

    /// Whether what is stored as the line's state has to go: the latest records make no subscription of it any more.
    var endsWithoutState: Bool { stateBefore != nil && state == nil }

    /// Takes in what one notification brings, and notes what it changed.
    mutating func apply(_ entry: LedgerEntry) {
        let heardUntil = facts.heardUntil
        var isNews = false
        if let record = entry.transaction { isNews = merge(record, from: entry.notification.uuid) || isNews }
        if let record = entry.renewal { isNews = merge(record, from: entry.notification.uuid) || isNews }
        if let verdict = entry.verdict { isNews = merge(verdict) || isNews }
        let before = state
        if isNews { state = SubscriptionState(facts, policy: policy) }
        if let state, let heardNow = facts.heardUntil {
            let seen = before.map { (state: $0, at: heardUntil ?? heardNow) }
            changes.append(StateChange(line, from: seen, to: (state, heardNow), by: entry.notification))
        }
    }

    /// Takes a record in; answers whether it is news.
    mutating func merge(_ record: LedgerEntry.Signed<TransactionPayload>, from uuid: UniqueIdentifier) -> Bool {
        let fact = TransactionFact(record.payload, digest: record.digest)
        let isNews = facts.merge(fact)
        if isNews || facts.holds(fact) {
            let known = transactions[fact.transactionID]
            if isNews || known.map({ uuid < $0.notificationUUID }) ?? true {
                transactions[fact.transactionID] = Sourced(record: record, notificationUUID: uuid)
            }
        }
        return isNews
    }

    /// Takes a record in; answers whether it is news.
    mutating func merge(_ record: LedgerEntry.Signed<RenewalInfoPayload>, from uuid: UniqueIdentifier) -> Bool {
        let fact = RenewalFact(record.payload, digest: record.digest)
        let isNews = facts.merge(fact)
        if isNews || facts.holds(fact),
            isNews || renewal.map({ uuid < $0.notificationUUID }) ?? true
        {
            renewal = Sourced(record: record, notificationUUID: uuid)
        }
        return isNews
    }

    /// Takes a verdict in; answers whether it is news.
    mutating func merge(_ verdict: AppleVerdict) -> Bool {
        guard facts.merge(verdict) else { return false }
        verdictIsNew = true
        return true
    }

    /// Derives the state from the facts as they are now, for those who merged without noting changes.
    mutating func derive() { state = SubscriptionState(facts, policy: policy) }
}

extension LedgerEntry {
    /// The line it is about; nil for what concerns no purchase.
    var line: PurchaseLine? {
        let id = transaction?.payload.originalTransactionId ?? renewal?.payload.originalTransactionId
        return id.map { PurchaseLine(environment: environment, bundleID: bundleID, originalTransactionID: $0) }
    }

    /// Apple's verdict on the line, if it gave one.
    var verdict: AppleVerdict? {
        guard case .data(let data) = notification.part, let status = data.status else { return nil }
        return AppleVerdict(status: Int(clamping: status.rawValue), signedAt: notification.signedDate)
    }
}
