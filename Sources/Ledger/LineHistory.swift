import AppStorePayloads
import Subscriptions

/// What a batch does to one line, worked out in memory: the facts as they stand, merged with one entry after the other,
/// so that each change can be laid at its own notification's door.
struct LineHistory {
    let line: PurchaseLine
    let policy: StatusPolicy
    private(set) var facts: LineFacts
    private(set) var state: SubscriptionState?
    private(set) var changes: [StateChange] = []
    /// The batch's transactions that are news, the winner of each id.
    private(set) var newTransactions: [String: LedgerEntry] = [:]
    /// The batch's renewal info, if it is news.
    private(set) var newRenewal: LedgerEntry?
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

    mutating func merge(_ entry: LedgerEntry) {
        var news = false
        if let signed = entry.transaction, facts.merge(TransactionFact(signed.payload, digest: signed.digest)) {
            newTransactions[signed.payload.transactionId] = entry
            news = true
        }
        if let signed = entry.renewal, facts.merge(RenewalFact(signed.payload, digest: signed.digest)) {
            newRenewal = entry
            news = true
        }
        if let verdict = entry.verdict, facts.merge(verdict) {
            verdictIsNew = true
            news = true
        }
        let before = state
        if news { state = SubscriptionState(facts, policy: policy) }
        if let state {
            changes.append(StateChange(line, from: before, to: state, by: entry.notification))
        }
    }
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
