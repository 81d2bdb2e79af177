package import Base

/// An order with its transactions and refunds.
package struct OrderDetail: Sendable, Hashable {
    /// A paid period, something that was bought once, or a refund of one.
    package struct Line: Sendable, Hashable {
        /// `initial_purchase`, `renewal`, `resubscription`, `upgrade`, `downgrade`, `crossgrade`; `refund`, `refund_reversed`, `revoke`.
        package var type: String
        /// When it began, or when money went back.
        package var at: Timestamp
        /// Its end; nil where it has none, and of what went back.
        package var endsAt: Timestamp?
        /// The key of all records of the transaction: a line item of Apple's, or a transaction.
        package var item: String
        /// Apple's id of the transaction.
        package var transactionID: String
        /// The product.
        package var productID: String?
        /// The product's name in the catalog.
        package var productName: String?
        /// In thousandths of the currency, never negative: the type states the direction. Nil where it is not known.
        package var amount: Int64?
        /// ISO 4217.
        package var currency: String?
        /// The country of the App Store, ISO 3166-1 alpha-3.
        package var storefront: String?
        /// The quantity.
        package var quantity: Int64
        /// Whether it is the introductory free trial.
        package var isTrial: Bool
        /// Whether it never begins: it was charged ahead, and the customer bought another plan before its beginning.
        package var isVoid: Bool
        /// Whether the amount is a share of the price: Apple rounds the share.
        package var isComputed: Bool
        /// When its first record was stored.
        package var heardAt: Timestamp
    }

    /// The order.
    package var order: ListedOrder
    /// Its transactions and refunds in the order of time.
    package var lines: [Line]

    /// What kinds of lines say of a payment that went before.
    private static let givenBack: Set = ["refund", "refund_reversed", "revoke"]

    /// What can still be refunded of a payment, in thousandths of the currency: its price less what is refunded; see
    /// `RefundableTransaction.maxRefundable()`. Nil of what is no payment of money or never began, and where it is not known.
    package func maxRefundable(of line: Line) -> Int64? {
        guard !Self.givenBack.contains(line.type), !line.isVoid, let price = line.amount, price > 0 else { return nil }
        var left = price
        for other in lines where other.item == line.item && Self.givenBack.contains(other.type) {
            guard let amount = other.amount else { return nil }
            left += other.type == "refund_reversed" ? amount : -amount
        }
        return min(price, max(0, left))
    }
}

/// An order of a family member's purchase, as late evidence shows. Its number stays, and nothing else is stated about it.
package struct SharedOrder: Sendable, Hashable {
    /// Its number; nil without one.
    package var number: String?
    /// The environment.
    package var environment: String
    /// The app.
    package var bundleID: String
    /// What it is by.
    package var key: String
}

/// An order that was looked up by name.
package enum ShownOrder: Sendable, Hashable {
    /// A listed order.
    case order(OrderDetail)
    /// A hidden order.
    case shared(SharedOrder)

    /// Its number, where it has one.
    package var number: String? {
        switch self {
        case .order(let detail): detail.order.number
        case .shared(let order): order.number
        }
    }
}
