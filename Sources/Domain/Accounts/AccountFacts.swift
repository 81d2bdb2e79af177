import AppStorePayloads
public import Base

/// Everything, beside the catalog, that an account's status in one environment depends on.
public struct AccountFacts: Sendable, Hashable {
    /// The account.
    public var account: UniqueIdentifier
    /// The purchases that the account may own, even for a time, in any order.
    public var lines: [AccountLine]
    /// The acts of staff for the account, in any order.
    public var acts: [StaffAct]
    /// The app's own trial, if the account has had it.
    public var trial: StartedTrial?
    /// When the account was erased. Its acts and its trial are those since; access that a purchase gave it before does not count.
    public var erasedAt: Timestamp?

    /// Memberwise.
    public init(
        account: UniqueIdentifier, lines: [AccountLine] = [], acts: [StaffAct] = [], trial: StartedTrial? = nil,
        erasedAt: Timestamp? = nil
    ) {
        self.account = account
        self.lines = lines
        self.acts = acts
        self.trial = trial
        self.erasedAt = erasedAt
    }
}
