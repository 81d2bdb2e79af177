package import Base

/// Apple's Financial Report of a fiscal month, for one region or for all, plain or detailed.
///
/// Its columns are found by their names. The block of sums at its end is not read, but its number of rows is checked.
package struct FinancialReport: Sendable, Hashable {
    /// The days of the fiscal month; nil where it has no rows and no dates above them.
    package let days: ClosedRange<CalendarDay>?
    /// What it has of products that are sold in apps; the proceeds are Apple's Partner Share.
    package let totals: [ReportKey: ReportTotals]
    /// How many rows are of apps: the books have none of these.
    package private(set) var otherRows = 0
    /// How many rows have a quantity of 0.
    package private(set) var rowsWithoutAmount = 0

    private static let startDate = ReportColumn("Start Date")
    private static let endDate = ReportColumn("End Date")
    private static let sku = ReportColumn("Vendor Identifier", "SKU")
    private static let productType = ReportColumn("Product Type Identifier")
    private static let quantity = ReportColumn("Quantity")
    private static let partnerShare = ReportColumn("Extended Partner Share")
    private static let partnerShareCurrency = ReportColumn("Partner Share Currency")
    private static let saleOrReturn = ReportColumn("Sale or Return", "Sales or Return")
    private static let countryOfSale = ReportColumn("Country of Sale")
    private static let customerPrice = ReportColumn("Customer Price")
    private static let customerCurrency = ReportColumn("Customer Currency")
    /// What has to be there.
    static let columns = [
        sku, productType, quantity, partnerShare, partnerShareCurrency, saleOrReturn, countryOfSale, customerPrice,
        customerCurrency,
    ]

    /// Reads the rows below the names of columns.
    /// - Parameter preamble: the lines above these, which have the dates where no column has.
    init(_ header: ReportHeader, _ lines: inout ReportLines, after preamble: [ReportRow]) throws(ReportRefusal) {
        let hasDates = header.missing(of: [Self.startDate, Self.endDate]).isEmpty
        var body = ReportBody()
        var (otherRows, rowsWithoutAmount) = (0, 0)
        try body.read(&lines, header, isEnd: Self.isEnd) { body, record throws(ReportFault) in
            if hasDates { try body.takeDays(record, from: Self.startDate, to: Self.endDate) }
            guard SalesReport.isSoldInApp(record.text(Self.productType)) else {
                otherRows += 1
                return
            }
            let quantity = try record.units(Self.quantity)
            guard quantity != 0 else {
                rowsWithoutAmount += 1
                return
            }
            let isReturn = try record.value(Self.saleOrReturn, "is S or R") { ["S": false, "R": true][$0] }
            try body.add(
                record,
                productID: record.value(Self.sku, "is the id of a product") { $0.isEmpty ? nil : $0 },
                units: quantity.clampedMagnitude, price: record.amount(Self.customerPrice).clampedMagnitude,
                currency: record.currency(Self.customerCurrency), storefront: record.storefront(Self.countryOfSale),
                kind: isReturn || quantity < 0 ? .refund : .sale,
                proceeds: [
                    record.currency(Self.partnerShareCurrency): record.amount(Self.partnerShare).clampedMagnitude
                ])
        }
        days = hasDates ? body.days : try Self.days(preamble)
        totals = body.totals
        self.otherRows = otherRows
        self.rowsWithoutAmount = rowsWithoutAmount
    }

    /// Whether a line begins the sums at the end: `Total_Rows` and its like, or the names of columns of the countries' sums.
    private static func isEnd(_ row: ReportRow, _ count: Int) throws(ReportFault) -> Bool {
        let first = row.cells[0]
        if ReportColumn.key(first) == "total_rows" {
            guard row.cells.count > 1, DecimalText.scaled(row.cells[1], decimals: 0) == Int64(count) else {
                throw ReportFault(
                    line: row.line,
                    "\(first) is \(YAMLFault.quoting(row.cells.dropFirst().first ?? "")), and \(count) rows are above: the file is "
                        + "cut off; download it again")
            }
        }
        let names = Set(row.cells.map { ReportColumn.key($0) })
        return first.hasPrefix("Total_") || names.isSuperset(of: ["country of sale", "partner share currency"])
    }

    private static func days(_ preamble: [ReportRow]) throws(ReportRefusal) -> ClosedRange<CalendarDay> {
        func day(_ column: ReportColumn) throws(ReportRefusal) -> CalendarDay {
            guard
                let row = preamble.first(where: {
                    $0.cells.count > 1 && column.keys.contains(ReportColumn.key($0.cells[0]))
                }),
                let day = ReportRecord.day(row.cells[1])
            else {
                throw ReportRefusal(
                    "there is no \(column.name): neither a column nor a line above the columns, like 03/31/2026")
            }
            return day
        }
        let (first, last) = (try day(startDate), try day(endDate))
        guard first <= last else { throw ReportRefusal("Start Date \(first) is after End Date \(last)") }
        return first...last
    }
}
