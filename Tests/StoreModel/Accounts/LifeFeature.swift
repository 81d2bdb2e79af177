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
    /// Seats that are added to a running period, each a transaction of its own, and refunds of some or all of them.
    case seats
    /// Something bought for good that is restored, refunded, and bought again under the same originalTransactionId.
    case boughtAgain
    /// The erasure of the account itself; it may prove again what it had.
    case erasedAccount
    /// Catalogs that take each other's place during the life.
    case catalogs

    /// Those that lives have by default, so that a seed goes on to be the same life.
    package static let first: Set<LifeFeature> = [
        .replacedRenewals, .silentRetries, .nobody, .refundedThings, .claims, .acts,
    ]
}
