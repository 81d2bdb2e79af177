package import Accounts

/// The terms of a subscription in the catalog, for recurring revenue.
package struct FigurePlan: Sendable, Hashable {
    /// The app.
    package var bundleID: String
    /// Apple's id of the product.
    package var productID: String
    /// The length of its period, in quarters of a month; a week is 1.
    package var quarters: Int16
    /// The subscription group; empty where the catalog names none.
    package var groupID: String

    /// Memberwise.
    package init(bundleID: String, productID: String, quarters: Int16, groupID: String) {
        (self.bundleID, self.productID, self.quarters, self.groupID) = (bundleID, productID, quarters, groupID)
    }

    /// The plans of a catalog: its products that renew themselves.
    package static func all(of catalog: Catalog?) -> [FigurePlan] {
        var plans: [[String]: FigurePlan] = [:]
        for product in catalog?.products ?? [] {
            guard let quarters = quarters(of: product.period) else { continue }
            plans[[product.bundleID, product.productID]] = FigurePlan(
                bundleID: product.bundleID, productID: product.productID, quarters: quarters,
                groupID: product.group ?? "")
        }
        return Array(plans.values)
    }

    private static func quarters(of period: Catalog.Period) -> Int16? {
        switch period {
        case .week: 1
        case .month: 4
        case .twoMonths: 8
        case .quarter: 12
        case .halfYear: 24
        case .year: 48
        case .lifetime, .term: nil
        }
    }
}
