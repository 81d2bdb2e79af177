import Accounts

/// How a trial ended, Apple's introductory one or the app's own.
public enum TrialEnd: Sendable, Hashable, CaseIterable {
    /// A purchase took its place.
    case converted
    /// Nothing gives access any more.
    case ended
}

extension EventDraft {
    /// How a trial ended, where this is the event about the account that reports it.
    public var trialEnd: TrialEnd? {
        guard case .account(let value, let previous?) = subject else { return nil }
        if value.access {
            // In the grace period nothing was charged yet.
            let isPaid = !value.inTrial && value.source == .apple && value.status != .gracePeriod
            return previous.inTrial && isPaid ? .converted : nil
        }
        let isOver = previous.inTrial || value.status == .trialExpired && previous.status != .trialExpired
        return isOver ? .ended : nil
    }
}
