import AppStorePayloads
public import Base

/// A transaction of the books: a period of a subscription, or something that was bought once.
public struct BookedTransaction: Sendable, Hashable {
    /// What it is to the one before it.
    public enum Relation: String, Sendable, Hashable, CaseIterable {
        /// The first of its order.
        case initial = "initial_purchase"
        /// Bought after access had ended.
        case resubscription
        /// Of the product before it.
        case renewal
        /// Of another product: an upgrade, a downgrade or a crossgrade by the tiers of both.
        case change
    }

    /// What all of its records have in common: a line item or a transaction of Apple's.
    public var item: String
    /// Apple's id of it, by its latest record.
    public var transactionID: String
    /// The product.
    public var productID: String?
    /// What it is to the one before it.
    public var relation = Relation.initial
    /// The item before it; nil of the first.
    public var follows: String?
    /// Whether it began before the end of the one before it.
    public var isWithin = false
    /// Its first instant.
    public var startsAt: Timestamp
    /// Its end by its own record; nil where it has none.
    public var endsAt: Timestamp?
    /// What was paid, in thousandths of ``currency``; nil where the latest record does not say it.
    public var price: Int64?
    /// The currency, ISO 4217.
    public var currency: String?
    /// The country of the App Store, ISO 3166-1 alpha-3.
    public var storefront: String?
    /// How many were bought.
    public var quantity: Int64
    /// Whether it is the introductory free trial.
    public var isTrial: Bool
    /// Whether it never begins: it was charged ahead, and another plan was bought before. No money is counted of it.
    public var isVoid: Bool
    /// How much is refunded now, in thousandths of a percent; nil where a part is that Apple does not state.
    public var revokedShare: Int64?
    /// The same in thousandths of the currency; nil where it is not known.
    public var refunded: Int64?
    /// When the refund of money that stands was made; nil where none stands.
    public var refundedAt: Timestamp?
    /// What was refunded and taken back, by the signing of the records.
    public var refunds: [BookedRefund]
    /// How long its payment lasts, where Apple signs that beside the dates; nil where the product's period counts.
    public var billedTime: BilledTime?
    /// The end that Apple signed first, where it moved it since; nil where it did not.
    public var firstEndsAt: Timestamp?
    /// How long it counts for recurring revenue. All periods of a subscription have these; see ``PurchaseState/orders(of:)``.
    public var recurring = RecurringTerms()
    /// When its order's first transaction was made, by its records.
    var originallyAt: Timestamp?

    /// - Parameter records: all of it, in the order of signing; not empty.
    init(
        item: String, _ record: TransactionFact, _ records: [TransactionFact], startsAt: Timestamp, isVoid: Bool = false
    ) {
        self.item = item
        transactionID = record.transactionID
        productID = record.productID
        self.startsAt = startsAt
        endsAt = record.expiresAt
        (price, currency, storefront) = (record.price, record.currency, record.storefront)
        quantity = record.quantity ?? 1
        isTrial = record.isFreeTrial
        self.isVoid = isVoid
        let history = RefundHistory(records, price: record.price)
        // A free period that is taken back is no refund of money.
        let refundedAt = record.price == 0 ? nil : history.refundedAt
        (revokedShare, refunded, self.refundedAt) = (history.share, history.refunded, refundedAt)
        refunds = history.rows
        billedTime = BilledTime(upFrontPeriod: record.upFrontPeriod, billingPlan: record.billingPlan)
        originallyAt = records.last { $0.originalPurchasedAt != nil }?.originalPurchasedAt
    }

    init(_ period: Period) {
        self.init(
            item: period.key, period.record, period.records, startsAt: period.start,
            isVoid: period.replacedAt != nil)
        if let first = period.records.first?.expiresAt, first != endsAt { firstEndsAt = first }
    }
}

extension FamilySharable {
    /// Whether this customer paid for it, and not another member of the family or the buyer of an assigned seat.
    var isBoughtHere: Bool { ownership == nil || ownership == OwnershipType.purchased.rawValue }
}
