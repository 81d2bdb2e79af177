package import Base

/// Apple's Summary Sales Report, of the versions 1_0 to 1_3, added up by product, storefront, currency and price.
///
/// Its columns are found by their names, so that a version's further columns and another order of them change nothing.
package struct SalesReport: Sendable, Hashable {
    /// Its days, in the time of Los Angeles; nil without rows.
    package let days: ClosedRange<CalendarDay>?
    /// Units and amounts of products that are sold in apps, by key.
    package let totals: [ReportKey: ReportTotals]
    /// The number of rows about apps, their updates, and restored purchases: the books have none of these.
    package private(set) var otherRows = 0
    /// The number of rows without an amount from units and price: rows with 0 units, which may be Apple's form of a partial refund, and sold units
    /// with a price below 0.
    package private(set) var rowsWithoutAmount = 0

    private static let sku = ReportColumn("SKU")
    private static let productType = ReportColumn("Product Type Identifier")
    private static let units = ReportColumn("Units")
    private static let beginDate = ReportColumn("Begin Date")
    private static let endDate = ReportColumn("End Date")
    private static let customerCurrency = ReportColumn("Customer Currency")
    private static let countryCode = ReportColumn("Country Code")
    private static let customerPrice = ReportColumn("Customer Price")
    /// What has to be there.
    static let columns = [
        sku, productType, units, beginDate, endDate, customerCurrency, countryCode, customerPrice,
    ]

    /// Reads the rows below the names of columns.
    init(_ header: ReportHeader, _ lines: inout ReportLines) throws(ReportRefusal) {
        var body = ReportBody()
        var (otherRows, rowsWithoutAmount) = (0, 0)
        try body.read(&lines, header) { body, record throws(ReportFault) in
            try body.takeDays(record, from: Self.beginDate, to: Self.endDate)
            guard Self.isSoldInApp(record.text(Self.productType)) else {
                otherRows += 1
                return
            }
            let (units, price) = (try record.units(Self.units), try record.amount(Self.customerPrice))
            // Apple writes a refund's units and its price with a sign each.
            guard units < 0 || units > 0 && price >= 0 else {
                rowsWithoutAmount += 1
                return
            }
            try body.add(
                record,
                productID: record.value(Self.sku, "is the id of a product") { $0.isEmpty ? nil : $0 },
                units: units.clampedMagnitude, price: price.clampedMagnitude,
                currency: record.currency(Self.customerCurrency), storefront: record.storefront(Self.countryCode),
                kind: units < 0 ? .refund : .sale)
        }
        days = body.days
        totals = body.totals
        self.otherRows = otherRows
        self.rowsWithoutAmount = rowsWithoutAmount
    }

    /// Whether a product type identifier is one of Apple's of in-app purchases: IA1, IA9, IAY, IAC, FI1, each also with `-M`. IA3 is a
    /// purchase that was restored.
    static func isSoldInApp(_ identifier: String) -> Bool {
        (identifier.hasPrefix("IA") || identifier.hasPrefix("FI")) && !identifier.hasPrefix("IA3")
    }
}
