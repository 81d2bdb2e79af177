/// An event in its place: the account's or purchase's next one.
public struct Event: Sendable, Hashable {
    /// What it reports.
    public var draft: EventDraft
    /// What the app's own tokens call the account; nil where that is not known, and for a purchase of no account.
    public var account: String?
    /// The account's version by then, which every later read shows at least; nil where there is no account.
    public var version: Int64?
    /// Its number among the account's events, or the purchase's: from 1 on, without a gap.
    public var sequence: Int64

    /// Memberwise.
    public init(_ draft: EventDraft, account: String?, version: Int64?, sequence: Int64) {
        self.draft = draft
        self.account = account
        self.version = version
        self.sequence = sequence
    }
}
