package import Base
package import FigureStore
package import Figures
import Subscriptions

extension CommandAnswer {
    /// Sentences about the closed months of an answer from their records; nil for an answer from the books.
    static func closings(_ answer: FigureAnswer) -> String? {
        guard let months = answer.closed else { return nil }
        let lacking = unrecorded(answer.unrecorded, of: answer.question.figure)
        guard !months.isEmpty else { return lacking ?? "No month of these days is closed." }
        let named = months.map { month in
            "\(month.month) (days of \(month.zone)\(month.isProven ? "" : ", not proven"), closed \(month.closedAt.minute) by \(month.closedBy))"
        }
        return "Closed: \(named.joined(separator: ", ")). Other months are left out.\(lacking.map { " \($0)" } ?? "")"
    }

    /// A sentence about closed months without a figure on record; nil where all have it.
    private static func unrecorded(_ months: [ClosingMonth], of figure: Figure) -> String? {
        guard !months.isEmpty else { return nil }
        let names = months.map(\.description).joined(separator: ", ")
        return
            "\(figure.rawValue) is not on record for \(names): the release that closed it lacked this figure. So there are no corrections. To record the figure, open the month again and close it anew."
    }

    /// The member with the closed months without a figure on record.
    static func unrecorded(_ months: [ClosingMonth]) -> JSONValue.Member {
        .init("not_recorded", months.map(\.description).json)
    }

    /// The result of closing a month.
    package init(_ month: ClosedMonth) {
        let proof = month.isProven ? "it is proven that nothing is missing" : "not proven"
        self.init(
            month, .closed, text: "closed \(month.month): \(month.rows) rows, days of \(month.zone), \(proof)")
    }

    /// A page of corrections of closed months.
    /// - Parameter unrecorded: the closed months without the figure on record.
    package init(_ page: ListPage<FigureCorrection>, of figure: Figure, unrecorded: [ClosingMonth]) {
        self.init(
            page, "corrections", .correction, [Self.unrecorded(unrecorded)],
            sentence: Self.unrecorded(unrecorded, of: figure))
    }
}

extension CommandShape<ClosedMonth> {
    static var closed: Self {
        .init([
            .init("month", \.month.description), .init("zone", \.zone), .init("catalog_version", \.catalogVersion),
            .init("commission_version", \.commissionVersion),
            .init("proven", \.isProven), .init("rows", \.rows), .init("closed_at", \.closedAt),
            .init("closed_by", \.closedBy),
        ])
    }
}

extension CommandShape<FigureCorrection> {
    fileprivate static var correction: Self {
        @Sendable func words(_ row: FigureRow?) -> String? { Money(row?.amount, in: row?.currency)?.words }
        return .init([
            .init("month", column: "MONTH", \.month.description),
            .init("change", column: "CHANGE") { $0.was == nil ? "added" : $0.now == nil ? "taken_away" : "changed" },
            .init("measure", column: "WHAT") { ($0.now ?? $0.was)?.measure.rawValue },
            .init("order", column: "ORDER") { ($0.now ?? $0.was)?.order },
            .init("bundle_id", column: "APP") { ($0.now ?? $0.was)?.bundleID },
            .init("product_id", column: "PRODUCT") { ($0.now ?? $0.was)?.productID },
            .init("storefront", column: "COUNTRY") { ($0.now ?? $0.was)?.storefront },
            .init("former_product_id") { $0.was?.productID }, .init("former_storefront") { $0.was?.storefront },
            .init("former_at") { $0.was?.at }, .init("former_amount") { $0.was?.amount },
            .init("former_currency") { $0.was?.currency }, .column("WAS", isNumeric: true) { words($0.was) },
            .init("at") { $0.now?.at }, .init("amount") { $0.now?.amount }, .init("currency") { $0.now?.currency },
            .column("NOW", isNumeric: true) { words($0.now) },
            .init("transaction_id", column: "TRANSACTION") { ($0.now ?? $0.was)?.transactionID },
        ])
    }
}
