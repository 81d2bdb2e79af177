/// What a random life may have in it beside the ordinary.
package enum LifeFeature: Sendable, Hashable, CaseIterable {
    /// A plan bought while the next renewal is charged already.
    case replacedRenewals
    /// A failed charge whose renewal info leaves out that Apple retries.
    case silentRetries
    /// The nil UUID as an appAccountToken.
    case nobody
    /// A refund, or its reversal, of something bought once.
    case refundedThings
    /// Proofs, transfers, moves by staff and erasures; without them a purchase is whose token was signed.
    case claims
    /// Blocks, their ends, days added and changes of tier; without them staff does nothing but grant.
    case acts
}
