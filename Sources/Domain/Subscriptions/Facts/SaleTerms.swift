public import AppStorePayloads

/// What a transaction was sold for, by its record: for those who read events. No state is derived from it.
public struct SaleTerms: Sendable, Hashable {
    /// An offer that it was sold with.
    public struct Offer: Sendable, Hashable {
        /// Apple's number of its kind (`offerType`), known or not.
        public var type: Int64?
        /// Its id in App Store Connect.
        public var id: String?
        /// What it gives, in Apple's word (`offerDiscountType`), known or not.
        public var discountType: String?

        /// An offer; nil where Apple names nothing of one.
        public init?(type: Int64? = nil, id: String? = nil, discountType: String? = nil) {
            if type == nil, id == nil, discountType == nil { return nil }
            self.type = type
            self.id = id
            self.discountType = discountType
        }
    }

    /// What was paid, in thousandths of the currency's unit, quantity and offer included; nil where Apple does not say.
    public var price: Int64?
    /// The currency, ISO 4217.
    public var currency: String?
    /// The country of the App Store, ISO 3166-1 alpha-3.
    public var storefront: String?
    /// The offer; nil for none.
    public var offer: Offer?
    /// How many were bought. Where Apple does not say, one.
    public var quantity: Int64

    /// Memberwise.
    public init(
        price: Int64? = nil, currency: String? = nil, storefront: String? = nil, offer: Offer? = nil,
        quantity: Int64? = nil
    ) {
        self.price = price
        self.currency = currency
        self.storefront = storefront
        self.offer = offer
        self.quantity = quantity ?? 1
    }

    /// Those of a transaction.
    public init(_ payload: TransactionPayload) {
        self.init(
            price: payload.price, currency: payload.currency, storefront: payload.storefront,
            offer: Offer(
                type: payload.offerType?.rawValue, id: payload.offerIdentifier,
                discountType: payload.offerDiscountType?.rawValue), quantity: payload.quantity)
    }
}
