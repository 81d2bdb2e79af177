import AppStorePayloads
public import Base

/// All that an account's status in one environment depends on, beside the catalog.
public struct AccountFacts: Sendable, Hashable {
    /// The account.
    public var account: UniqueIdentifier
    /// The purchases of which any part may be the account's, in any order.
    public var lines: [AccountLine]
    /// What staff did for the account, in any order.
    public var acts: [StaffAct]
    /// The app's own trial, if the account has had it.
    public var trial: StartedTrial?

    /// Memberwise.
    public init(
        account: UniqueIdentifier, lines: [AccountLine] = [], acts: [StaffAct] = [], trial: StartedTrial? = nil
    ) {
        self.account = account
        self.lines = lines
        self.acts = acts
        self.trial = trial
    }
}
