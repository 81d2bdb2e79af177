/// What separates kept sums. With few sums for each question, years are answered at once. A column that a grain does not separate is empty in it.
enum FigureGrain: String, CaseIterable {
    /// Month, app, product and currency.
    case monthProduct = "month_product"
    /// Month, app, country and currency.
    case monthCountry = "month_country"
    /// Month, country and currency, of all apps together.
    case allCountry = "all_country"
    /// Month, app and currency.
    case plainMonth = "plain_month"
    /// Day, app and currency.
    case day
    /// Day and currency, of all apps together.
    case allDay = "all_day"

    /// A FROM item: the sums that include a cell, as `g` (`grain`, `period`, `bundle_id`, `product_id`, `storefront`).
    /// - Parameters:
    ///   - cell: the alias of a row with `bundle_id`, `product_id` and `storefront`.
    ///   - day: an expression of the day on which the cell counts.
    static func sums(of cell: String, on day: String) -> String {
        let rows = allCases.map { grain in
            let parts = grain.parts(of: cell)
            return "('\(grain.rawValue)', \(grain.period(of: day)), \(parts.app), \(parts.product), \(parts.country))"
        }
        return "(values \(rows.joined(separator: ", "))) g (grain, period, bundle_id, product_id, storefront)"
    }

    private func period(of day: String) -> String {
        switch self {
        case .monthProduct, .monthCountry, .allCountry, .plainMonth: "date_trunc('month', (\(day))::timestamp)::date"
        case .day, .allDay: day
        }
    }

    private func parts(of cell: String) -> (app: String, product: String, country: String) {
        switch self {
        case .monthProduct: ("\(cell).bundle_id", "\(cell).product_id", "''")
        case .monthCountry: ("\(cell).bundle_id", "''", "\(cell).storefront")
        case .allCountry: ("''", "''", "\(cell).storefront")
        case .plainMonth, .day: ("\(cell).bundle_id", "''", "''")
        case .allDay: ("''", "''", "''")
        }
    }

    /// All of them, as an SQL literal.
    static let literals = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
}

extension FigureQuestion {
    /// The grain with the fewest sums for the question; nil where only cells answer it.
    var grain: FigureGrain? {
        switch (step, split) {
        case (.month, nil), (.month, .app), (.month, .currency): .plainMonth
        case (.month, .product), (.month, .plan): .monthProduct
        case (.month, .country): apps == nil ? .allCountry : .monthCountry
        // Fiscal months are sums of days: their calendar may be replaced.
        case (_, nil), (_, .currency): apps == nil ? .allDay : .day
        case (_, .app): .day
        default: nil
        }
    }
}
