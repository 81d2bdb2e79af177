package import Base

/// One of Apple's reports that the books are compared with.
package enum AppleReport: Sendable, Hashable {
    /// What customers bought and what came back, by day, week, month or year.
    case sales(SalesReport)
    /// What Apple pays for a fiscal month.
    case financial(FinancialReport)

    /// The time zone of the days in Apple's reports (IANA).
    package static let timeZone = "America/Los_Angeles"
    /// The most bytes of a report's text by default.
    package static let longest = 64 << 20
    /// The most lines above the names of columns.
    private static let mostLinesAbove = 20

    /// Reads a file as Apple sends it: tab separated, compressed with gzip or not. Which report it is follows from its columns.
    /// - Parameters:
    ///   - file: its bytes.
    ///   - limit: the most bytes of its text.
    /// - Throws: the faults, by line; nothing of the file is used then. For a file that is neither report: the columns that it lacks for each.
    package init(_ file: [UInt8], atMost limit: Int = longest) throws(ReportRefusal) {
        var lines = try ReportLines(file, atMost: limit)
        var above: [ReportRow] = []
        while above.count < Self.mostLinesAbove, let line = lines.next() {
            let row: ReportRow
            do throws(ReportFault) { row = try ReportRow(line) } catch { throw ReportRefusal([error]) }
            let header = ReportHeader(row)
            if header.missing(of: SalesReport.columns).isEmpty {
                self = .sales(try SalesReport(header, &lines))
                return
            }
            if header.missing(of: FinancialReport.columns).isEmpty {
                self = .financial(try FinancialReport(header, &lines, after: above))
                return
            }
            above.append(row)
        }
        throw Self.refusal(above)
    }

    /// Its days, in ``timeZone``; nil where it does not state them.
    package var days: ClosedRange<CalendarDay>? {
        switch self {
        case .sales(let report): report.days
        case .financial(let report): report.days
        }
    }

    /// The number of rows about things that the books do not have: apps and their updates.
    package var otherRows: Int {
        switch self {
        case .sales(let report): report.otherRows
        case .financial(let report): report.otherRows
        }
    }

    /// The number of rows that are not compared: rows without units, and sold units with a price below 0.
    package var rowsWithoutAmount: Int {
        switch self {
        case .sales(let report): report.rowsWithoutAmount
        case .financial(let report): report.rowsWithoutAmount
        }
    }

    /// What it has, by key.
    package var totals: [ReportKey: ReportTotals] {
        switch self {
        case .sales(let report): report.totals
        case .financial(let report): report.totals
        }
    }

    /// The line with most of a report's columns was meant to name them.
    private static func refusal(_ rows: [ReportRow]) -> ReportRefusal {
        func missing(_ row: ReportRow, _ columns: [ReportColumn]) -> [String] {
            ReportHeader(row).missing(of: columns)
        }
        func least(_ row: ReportRow) -> Int {
            min(missing(row, SalesReport.columns).count, missing(row, FinancialReport.columns).count)
        }
        guard let row = rows.min(by: { least($0) < least($1) }) else { return ReportRefusal("the file is empty") }
        return ReportRefusal([
            ReportFault(
                line: row.line,
                "these are no columns of a Summary Sales Report, for which there are missing: "
                    + missing(row, SalesReport.columns).joined(separator: ", ") + "; and none of a Financial Report: "
                    + missing(row, FinancialReport.columns).joined(separator: ", "))
        ])
    }
}
