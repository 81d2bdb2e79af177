public import Accounts
public import Base
public import Subscriptions

extension LastReportedSubscription {
    /// Whether what was reported last is what the subscription is at an instant, to a reader. A report may be ahead of the instant: then
    /// its own decides.
    /// - Parameter phases: what the subscription is, in order.
    public func stands(in phases: [Phase], at instant: Timestamp) -> Bool {
        phases.last { $0.startsAt <= max(instant, since) }?.value.says(sameAs: value) ?? true
    }

    /// When it becomes something else to a reader; nil where that is not known to come.
    /// - Parameter phases: what the subscription is, in order, as far back as ``since`` at least.
    public func nextChange(_ phases: [Phase]) -> Timestamp? {
        phases.first { $0.startsAt > since && !$0.value.says(sameAs: value) }?.startsAt
    }
}

extension LastReportedAccount {
    /// Whether what was reported last is what the account is at an instant, to a reader; as with a subscription.
    public func stands(in state: AccountState, at instant: Timestamp) -> Bool {
        state.value(at: max(instant, since)).says(sameAs: value)
    }
}
