/// What Apple's reports and the books are compared by.
package struct ReportKey: Sendable, Hashable, Comparable {
    /// Whether units were sold or came back.
    package enum Kind: String, Sendable, Hashable, CaseIterable, Comparable {
        /// Sold.
        case sale
        /// Came back.
        case refund

        package static func < (one: Kind, other: Kind) -> Bool { one == .sale && other == .refund }
    }

    /// Apple's id of the product, which reports call SKU.
    package var productID: String
    /// ISO 3166-1 alpha-3.
    package var storefront: String
    /// The customer's currency, ISO 4217.
    package var currency: String
    /// What one unit cost the customer, in milliunits; never negative.
    package var unitPrice: Int64
    /// Whether units were sold or came back.
    package var kind: Kind

    /// Memberwise.
    package init(productID: String, storefront: String, currency: String, unitPrice: Int64, kind: Kind) {
        self.productID = productID
        self.storefront = storefront
        self.currency = currency
        self.unitPrice = unitPrice
        self.kind = kind
    }

    package static func < (one: ReportKey, other: ReportKey) -> Bool {
        (one.productID, one.storefront, one.currency, one.unitPrice, one.kind)
            < (other.productID, other.storefront, other.currency, other.unitPrice, other.kind)
    }
}
