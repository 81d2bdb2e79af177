/// What erasing an account took out, and what of it is kept.
package struct ErasedAccount: Sendable, Hashable {
    /// Purchases that the account had, and that are free now.
    package var purchasesFreed = 0
    /// Whether there was a name: what the app's own tokens called the account, or a profile for the desk.
    package var nameForgotten = false
    /// What it used of features: counters, and what was reported under idempotency keys.
    package var usageForgotten = 0
    /// Consents, given and withdrawn, to sending Apple data about use.
    package var consentsForgotten = 0
    /// What apps reported about attempts to buy.
    package var attemptsForgotten = 0
    /// What staff wrote: notes about it, and who did acts and moves, and why.
    package var textsForgotten = 0
    /// Transactions about which an answer was on its way to Apple; it cannot be called back.
    package var answersUnderWay: [String] = []

    /// Kept as hashes: the trials that it had, so that it gets no second one.
    package var trialsKept = 0
    /// Kept as Apple's evidence: the purchases that Apple's records name the account's token in.
    package var purchasesKept = 0
    /// Kept without who did it and why: acts of staff, with what they changed.
    package var actsKept = 0
    /// Kept without a name: consents under which Apple was sent data about use.
    package var consentsKept = 0
    /// Kept under the token, until their day is dropped: events.
    package var eventsKept: Int64 = 0

    /// Nothing yet.
    package init() {}
}
