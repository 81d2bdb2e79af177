/// What the simulated store holds true about one auto-renewable subscription, that is, about one original transaction.
public struct SubscriptionLine: Sendable, Hashable, Codable {
    /// The store's reportedStatus; the raw value is Apple's `status`.
    public enum Phase: Int, Sendable, Hashable, Codable {
        /// Paid for.
        case active = 1
        /// Over.
        case expired = 2
        /// Not paid, without access.
        case billingRetry = 3
        /// Not paid, with access.
        case gracePeriod = 4
        /// Taken back.
        case revoked = 5
    }

    /// A subscription's name within its subscriber.
    public struct Reference: Sendable, Hashable, Codable {
        let index: Int
    }

    /// The first transaction's identifier.
    public let originalTransactionId: String
    /// The store's reportedStatus now.
    public internal(set) var phase: Phase
    /// The product of the latest period.
    public internal(set) var product: SimulatedProduct
    /// The product of the coming renewal.
    public internal(set) var scheduledProduct: SimulatedProduct
    /// Every transaction so far, restored copies included, the latest last.
    public internal(set) var transactions: [TransactionRecord]
    /// The renewal info as it would be signed now.
    public internal(set) var renewal: RenewalRecord

    let originalPurchaseDate: Milliseconds
    let ownership: SimulatedSubscriber.Ownership
    var appAccountToken: String?
    var comingOffer: SimulatedOffer?
    /// A price, in thousandths of a dollar, that replaces the product's from the next renewal on.
    var raisedDollarMilliunits: Int64?
    var advancedCommerce: AdvancedCommerceRecord?

    /// End of the latest period.
    public var expiresDate: Milliseconds {
        transactions.last?.expiresDate ?? originalPurchaseDate
    }

    /// Start of the latest period.
    public var purchaseDate: Milliseconds {
        transactions.last?.purchaseDate ?? originalPurchaseDate
    }

    /// Apple's status at `instant`: the phase, except that nothing is active after its end.
    func status(at instant: Milliseconds) -> Int {
        phase == .active && instant >= expiresDate ? Phase.expired.rawValue : phase.rawValue
    }
}
