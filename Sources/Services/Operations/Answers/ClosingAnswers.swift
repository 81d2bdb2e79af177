package import Base
package import FigureStore
import Figures
import Subscriptions

extension CommandAnswer {
    /// What a figure's answer says of the months that it is of; nil of what figures say now.
    static func closings(_ months: [ClosedMonth]?) -> String? {
        guard let months else { return nil }
        guard !months.isEmpty else { return "No month of these days is closed." }
        let named = months.map { month in
            "\(month.month) (days of \(month.zone)\(month.isProven ? "" : ", not proven"), closed \(month.closedAt.minute) by \(month.closedBy))"
        }
        return "Closed: \(named.joined(separator: ", ")). Other months are left out."
    }

    /// A month that was closed.
    package init(_ month: ClosedMonth) {
        let proof = month.isProven ? "it is proven that nothing is missing" : "not proven"
        self.init(
            month, .closed, text: "closed \(month.month): \(month.rows) rows, days of \(month.zone), \(proof)")
    }

    /// Corrections of closed months, a page.
    package init(_ page: ListPage<FigureCorrection>) { self.init(page, "corrections", .correction) }
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
