import Base

/// A row together with the columns of its report.
struct ReportRecord {
    let row: ReportRow
    let header: ReportHeader

    /// - Throws: where it has not one value for each column: a tab stands in one of them, or the line is cut off.
    init(_ row: ReportRow, _ header: ReportHeader) throws(ReportFault) {
        guard row.cells.count == header.count else {
            throw ReportFault(
                line: row.line,
                "it has \(row.cells.count) values, and the report has \(header.count) columns: a value has a tab in it, or the line is "
                    + "cut off")
        }
        self.row = row
        self.header = header
    }

    /// A value.
    func text(_ column: ReportColumn) -> String { header.place(of: column).map { row.cells[$0] } ?? "" }

    /// What a value means.
    /// - Parameter expectation: the words for a valid value in the fault of an invalid one: `is …`.
    func value<Value>(
        _ column: ReportColumn, _ expectation: String, _ meaning: (String) -> Value?
    ) throws(ReportFault) -> Value {
        let text = text(column)
        guard let value = meaning(text) else {
            throw ReportFault(
                line: row.line, "\(column.name) \(expectation), and not \(YAMLFault.quoting(text))")
        }
        return value
    }

    /// A whole number; `12` and `12.00`.
    func units(_ column: ReportColumn) throws(ReportFault) -> Int64 {
        try value(column, "is a whole number, like 12 or -3") { DecimalText.scaled($0, decimals: 0) }
    }

    /// An amount in milliunits.
    func amount(_ column: ReportColumn) throws(ReportFault) -> Int64 {
        try value(column, "is an amount with at most three decimals, like 4.99") {
            DecimalText.scaled($0, decimals: 3)
        }
    }

    /// A currency, ISO 4217.
    func currency(_ column: ReportColumn) throws(ReportFault) -> String {
        try value(column, "is a currency in three capital letters, like USD") {
            CurrencyCode.isKnown($0) ? $0 : nil
        }
    }

    /// A country's three letters, out of its two.
    func storefront(_ column: ReportColumn) throws(ReportFault) -> String {
        try value(column, "is a country in two capital letters, like US") { Territory(alpha2: $0)?.alpha3 }
    }

    /// A day, which Apple writes `MM/DD/YYYY`.
    func day(_ column: ReportColumn) throws(ReportFault) -> CalendarDay {
        try value(column, "is a day, like 03/31/2026") { Self.day($0) }
    }

    /// Reads `03/31/2026`; nil for what is no day.
    static func day(_ text: String) -> CalendarDay? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return CalendarDay("\(parts[2])-\(parts[0])-\(parts[1])")
    }
}
