import Accounts
import AppStorePayloads
import Base
import Events
import Subscriptions
import Testing

/// A purchase that is listened to: its facts, what was told of it, and the events, as a worker and the clock make them.
struct Listener {
    static let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")

    private(set) var facts = PurchaseFacts()
    private(set) var state = PurchaseState(PurchaseFacts())
    var told: LastReportedSubscription?
    var events: [EventDraft] = []
    var account: UniqueIdentifier?
    /// What the account is, all its sources together.
    var access: AccountPhase?
    var policy = StatusPolicy(renewalLeewaySeconds: 600)
    var rules = EventRules()

    /// What was told up to now, and forgets it.
    mutating func taken() -> [String] {
        defer { events = [] }
        return events.map(\.words)
    }

    /// Hears notifications in one batch.
    mutating func hear(_ heard: Heard..., at now: Timestamp, isFill: Bool = false) {
        hear(heard, at: now, isFill: isFill)
    }

    mutating func hear(_ heard: [Heard], at now: Timestamp, isFill: Bool = false) {
        let known = facts
        for piece in heard {
            if let transaction = piece.transaction { facts.merge(transaction) }
            if let renewal = piece.renewal { facts.merge(renewal) }
            if let status = piece.reportedStatus { facts.merge(status) }
        }
        state = PurchaseState(facts, policy: policy)
        let evidence = heard.map(\.evidence)
        let touched = state.touchedPeriods(after: heard.compactMap(\.transaction), upon: known)
        let periods = (now: touched.paidNow, before: touched.paidBefore)
        let all = (now: state.paidPeriods, before: PaidPeriod.all(of: known))
        // Of what nothing new was said, nothing is to be told.
        let byAll = telling(all, evidence, at: now, isFill: isFill)
        let byNews = telling(isFill ? all : periods, evidence, at: now, isFill: isFill)
        #expect(byNews.events == byAll.events && byNews.reported == byAll.reported)
        take(byNews)
    }

    private func telling(
        _ periods: (now: [PaidPeriod], before: [PaidPeriod]), _ evidence: [Evidence], at now: Timestamp,
        isFill: Bool = false
    ) -> SubscriptionEvents {
        let line = SubscriptionNow(
            key: Self.key, phases: state.subscription?.phases ?? [], periods: periods.now,
            periodsBefore: periods.before, account: account, access: access)
        return SubscriptionEvents(told, line, evidence: evidence, at: now, isFill: isFill, rules: rules)
    }

    private mutating func take(_ telling: SubscriptionEvents) {
        events += telling.events
        told = telling.reported
    }

    /// What the clock does at an instant, whether or not anything is due.
    mutating func tick(_ now: Timestamp) { take(telling(([], []), [], at: now)) }

    var nextDue: Timestamp? { told?.nextDue(state.subscription?.phases ?? [], rules: rules) }

    /// The same by what the account is, after an instant.
    func nextDue(at now: Timestamp) -> Timestamp? {
        told?.nextDue(state.subscription?.phases ?? [], rules: rules, access: access, at: now)
    }

    /// The clock, at each instant that is due up to one.
    mutating func runClock(to now: Timestamp) {
        while let due = nextDue, due <= now { tick(due) }
    }
}

extension EventDraft {
    var value: StatusAtInstant? { if case .subscription(let value, _) = subject { value } else { nil } }
    var previous: StatusAtInstant? { if case .subscription(_, let value) = subject { value } else { nil } }

    /// The kind without what all have in common, and what is to be said beside it.
    var words: String {
        let name = kind.rawValue.split(separator: ".").last.map { String($0) } ?? kind.rawValue
        return name + (isCorrection ? " (correction)" : "") + (isLate ? " late" : "")
    }
}
