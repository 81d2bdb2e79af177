package import Figures

/// The books of the days of one of Apple's reports.
package struct ReportedBooks: Sendable, Hashable {
    /// Units and amounts, by the key of the comparison.
    package var totals: [ReportKey: ReportTotals]
    /// The number of transactions without a signed price, currency, country or product. Their key in a report is not known.
    package var unpriced: Int64
    /// The number of refunds of a part of the price. Apple does not document their units and price in a report.
    package var partialRefunds: Int64
    /// The number of reversals of refunds. Apple does not document their units and price in a report.
    package var reversals: Int64

    /// Nothing by default.
    package init(
        totals: [ReportKey: ReportTotals] = [:], unpriced: Int64 = 0, partialRefunds: Int64 = 0, reversals: Int64 = 0
    ) {
        self.totals = totals
        (self.unpriced, self.partialRefunds, self.reversals) = (unpriced, partialRefunds, reversals)
    }
}
