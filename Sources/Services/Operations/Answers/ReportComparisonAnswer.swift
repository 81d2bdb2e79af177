import Base
package import FigureStore
package import Figures
import Subscriptions

/// One of Apple's reports beside the books.
package struct ComparedReport: Sendable {
    /// The report.
    package let report: AppleReport
    /// The books of its days.
    package let books: ReportedBooks
    /// The comparison of both, key by key.
    package let comparison: ReportComparison
    /// The largest accepted share of differences.
    package let tolerance: PriceShare

    /// Compares them.
    package init(_ report: AppleReport, _ books: ReportedBooks, tolerance: PriceShare) {
        self.report = report
        self.books = books
        self.tolerance = tolerance
        comparison = ReportComparison(report, with: books.totals)
    }

    /// Whether the differences are small enough.
    package var isAccepted: Bool { comparison.isWithin(tolerance) }

    fileprivate var kind: String {
        switch report {
        case .sales: "sales"
        case .financial: "financial"
        }
    }
}

extension CommandAnswer {
    /// The result of a comparison.
    /// - Parameter isWhole: whether equal keys are listed, too.
    package init(_ compared: ComparedReport, isWhole: Bool) {
        let comparison = compared.comparison
        let lines = comparison.lines.filter { isWhole || $0.outcome != .equal }
        let shape = CommandShape<ReportComparison.Line>.line
        let counts = ReportComparison.Outcome.allCases.map { ($0.rawValue, comparison.count($0)) }
        let apart: [(name: String, count: Int64, words: String)] = [
            (
                "apple_other_rows", Int64(compared.report.otherRows),
                "rows of the report are of apps or of restored purchases"
            ),
            (
                "apple_rows_without_amount", Int64(compared.report.rowsWithoutAmount),
                "rows of the report have no units or no price"
            ),
            ("unpriced", compared.books.unpriced, "transactions or refunds have no signed price, country or currency"),
            (
                "partial_refunds", compared.books.partialRefunds,
                "refunds are of a part of the price, or of an unknown amount"
            ),
            ("reversals", compared.books.reversals, "refunds were taken back"),
        ]
        let days = compared.report.days
        self.init(
            .object(
                [
                    .init("report", compared.kind.json), .init("zone", AppleReport.timeZone.json),
                    .init("from", days?.lowerBound.description.json ?? .null),
                    .init("to", days?.upperBound.description.json ?? .null),
                    .init("tolerance", compared.tolerance.description.json),
                    .init("accepted", compared.isAccepted.json),
                    .init("lines", shape.values(of: lines)),
                    .init(
                        "partner_shares",
                        CommandShape<ReportComparison.PartnerShare>.share.values(
                            of: comparison.partnerShares)),
                ]
                    + (counts.map { ($0.0, Int64($0.1)) } + apart.map { ($0.name, $0.count) }).map {
                        JSONValue.Member($0.0, $0.1.json)
                    }),
            text: Self.text(
                compared, table: lines.isEmpty ? nil : shape.table(of: lines) + "\n", counts,
                apart.map { ($0.count, $0.words) }),
            csv: shape.csv(of: lines))
    }

    private static func text(
        _ compared: ComparedReport, table: String?, _ counts: [(String, Int)], _ apart: [(count: Int64, words: String)]
    ) -> String {
        let days = compared.report.days.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "none"
        let outcomes = counts.map { "\($0.1) \($0.0.replacing("_", with: " "))" }.joined(separator: ", ")
        let verdict = compared.isAccepted ? "within" : "more than"
        let lines = [
            table, "Days \(days), \(AppleReport.timeZone): \(outcomes).",
            "The differences are \(verdict) \(compared.tolerance).",
        ]
        return
            (lines.compactMap(\.self)
            + apart.filter { $0.count > 0 }.map { "Not compared: \($0.count) \($0.words)." }
            + compared.comparison.partnerShares.map(words)).joined(separator: "\n")
    }

    private static func words(_ share: ReportComparison.PartnerShare) -> String {
        let theirs = Money(milliunits: share.theirs, currency: share.currency)
        let ours = share.ours.map { ", estimated here \(Money(milliunits: $0, currency: share.currency).words)" } ?? ""
        return "Partner Share of the keys that both have: \(theirs.words)\(ours)."
    }
}

extension CommandShape<ReportComparison.Line> {
    fileprivate static var line: Self {
        @Sendable func amount(_ totals: ReportTotals?, _ key: ReportKey) -> String? {
            Money(totals?.amount, in: key.currency)?.amountWords
        }
        return .init([
            .init("outcome", column: "OUTCOME", \.outcome.rawValue), .init("kind", column: "KIND", \.key.kind.rawValue),
            .init("product_id", column: "PRODUCT", \.key.productID),
            .init("storefront", column: "COUNTRY", \.key.storefront),
            .init("currency", column: "CURRENCY", \.key.currency), .init("unit_price", \.key.unitPrice),
            .column("PRICE", isNumeric: true) { Money($0.key.unitPrice, in: $0.key.currency)?.amountWords },
            .init("apple_units", column: "APPLE'S UNITS") { $0.theirs?.units },
            .init("units", column: "UNITS") { $0.ours?.units },
            .init("apple_amount") { $0.theirs?.amount }, .init("amount") { $0.ours?.amount },
            .column("APPLE'S AMOUNT", isNumeric: true) { amount($0.theirs, $0.key) },
            .column("AMOUNT", isNumeric: true) { amount($0.ours, $0.key) },
        ])
    }
}

extension CommandShape<ReportComparison.PartnerShare> {
    fileprivate static var share: Self {
        .init([
            .init("currency", \.currency), .init("apple", \.theirs), .init("estimate", \.ours), .init("ratio", \.ratio),
        ])
    }
}
