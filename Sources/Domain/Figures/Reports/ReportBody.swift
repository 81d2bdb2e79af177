import Base

/// The rows below a report's names of columns, added up by their keys.
struct ReportBody {
    /// The most rows of a report.
    static let mostRows = 1_000_000

    /// What each key has.
    private(set) var totals: [ReportKey: ReportTotals] = [:]
    /// How many rows there are.
    private(set) var count = 0
    /// The period that all rows name; nil without rows.
    private(set) var days: ClosedRange<CalendarDay>?
    private var faults: [ReportFault] = []

    /// Reads all rows.
    /// - Parameters:
    ///   - isEnd: whether a line ends the rows. Throws where its count contradicts the rows.
    ///   - take: what to do with a row.
    /// - Throws: all faults of the rows.
    mutating func read(
        _ lines: inout ReportLines, _ header: ReportHeader,
        isEnd: (ReportRow, _ count: Int) throws(ReportFault) -> Bool = { _, _ in false },
        _ take: (inout ReportBody, ReportRecord) throws(ReportFault) -> Void
    ) throws(ReportRefusal) {
        while let line = lines.next() {
            do throws(ReportFault) {
                let row = try ReportRow(line)
                if row.isBlank { continue }
                if try isEnd(row, count) { break }
                count += 1
                guard count <= Self.mostRows else {
                    faults.append(
                        ReportFault(
                            line: line.number, "the report has more than \(Self.mostRows) rows; ask Apple for days"))
                    break
                }
                try take(&self, ReportRecord(row, header))
            } catch {
                faults.append(error)
                guard faults.count < ReportRefusal.mostFaults else { break }
            }
        }
        guard faults.isEmpty else { throw ReportRefusal(faults) }
    }

    /// A row's period, which has to be that of the rows before it.
    mutating func takeDays(_ record: ReportRecord, from: ReportColumn, to: ReportColumn) throws(ReportFault) {
        let (first, last) = (try record.day(from), try record.day(to))
        guard first <= last else {
            throw ReportFault(line: record.row.line, "\(from.name) \(first) is after \(to.name) \(last)")
        }
        guard first...last == days ?? first...last else {
            throw ReportFault(
                line: record.row.line,
                "it is of another period than the rows before it; compare one report after the other")
        }
        days = first...last
    }

    /// Adds a row to its key's.
    /// - Parameters:
    ///   - units: above 0.
    ///   - price: of one, not negative.
    mutating func add(
        _ record: ReportRecord, productID: String, units: Int64, price: Int64, currency: String, storefront: String,
        kind: ReportKey.Kind, proceeds: [String: Int64] = [:]
    ) throws(ReportFault) {
        let key = ReportKey(
            productID: productID, storefront: storefront, currency: currency, unitPrice: price, kind: kind)
        let (amount, overflow) = units.multipliedReportingOverflow(by: price)
        let row = ReportTotals(units: units, amount: amount, proceeds: proceeds)
        guard !overflow, let sum = (totals[key] ?? ReportTotals()).adding(row) else {
            throw ReportFault(line: record.row.line, "its amount is more than can be counted")
        }
        totals[key] = sum
    }
}
