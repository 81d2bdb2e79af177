/// The outcome for a purchase that an account proved.
package enum BindOutcome: String, Sendable, Hashable, CaseIterable {
    /// It is the account's from now on: no other account had a signature or proof for it in this stretch.
    case bound
    /// It was the account's before.
    case already
    /// It was another account's and moved; the move is recorded.
    case transferred
    /// Apple signed it for another account: 403 whatever the rule.
    case otherAccountsToken
    /// Another account has it, and the rule does not let it move, or not again, or staff has moved it: 409.
    case boundElsewhere

    /// Whether the purchase is the account's.
    package var isHeld: Bool { self == .bound || self == .already || self == .transferred }
}

/// Which account gets a purchase that another account proves: `STOREHOOK_RESTORE`.
package enum RestoreRule: String, Sendable, Hashable, CaseIterable {
    /// The account that has it.
    case keep
    /// The account that proves it last, at most three times in 30 days.
    case transfer
}
