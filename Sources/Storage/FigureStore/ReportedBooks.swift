package import Figures

/// What the books have of the days of one of Apple's reports.
package struct ReportedBooks: Sendable, Hashable {
    /// By what reports are compared by.
    package var totals: [ReportKey: ReportTotals]
    /// Transactions without a signed price, currency, country or product: a report has them under a key that is not known here.
    package var unpriced: Int64
    /// Refunds of a part of the price. Apple's page of columns does not say under which units and price a report has them.
    package var partialRefunds: Int64
    /// Refunds that were taken back. Likewise.
    package var reversals: Int64

    /// Nothing by default.
    package init(
        totals: [ReportKey: ReportTotals] = [:], unpriced: Int64 = 0, partialRefunds: Int64 = 0, reversals: Int64 = 0
    ) {
        self.totals = totals
        (self.unpriced, self.partialRefunds, self.reversals) = (unpriced, partialRefunds, reversals)
    }
}
