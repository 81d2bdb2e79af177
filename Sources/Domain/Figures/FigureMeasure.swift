/// What figures are sums of: rows of the books, by the day that counts for them.
package enum FigureMeasure: String, Sendable, Hashable, CaseIterable {
    /// An order, by the day in its number.
    case order
    /// A paid period, or something that was bought once, by its purchaseDate. Free ones are among them.
    case sale
    /// What is refunded now of a sale, by the day of the sale.
    case refundedSale = "refunded_sale"
    /// A refund, by its revocationDate.
    case refund
    /// What a refund is taken back by, by the date of the record that says so.
    case reversal
    /// A sale, by the day on which it was heard of, where its own had ended more than 24 hours before.
    case lateSale = "late_sale"
    /// Likewise a refund.
    case lateRefund = "late_refund"
    /// Likewise a reversal.
    case lateReversal = "late_reversal"
}
