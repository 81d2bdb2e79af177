/// What the stand-in sells.
enum Catalogue {
    private static let products: [SimulatedProduct] = [
        .premiumMonthly, .premiumYearly, .basicWeekly, .basicMonthly, .basicYearly, .newsMonthly, .coins, .lifetime,
        .seasonPass,
    ]

    /// What simulated customers buy: one in four buys a year.
    static let plans: [SimulatedProduct] = [
        .basicWeekly, .basicWeekly, .basicMonthly, .basicMonthly, .premiumMonthly, .premiumMonthly, .basicYearly,
        .premiumYearly,
    ]

    /// A product by its identifier, its period fit for a speed.
    static func product(_ id: String, _ speed: StandInConfiguration.Speed) -> SimulatedProduct? {
        guard var product = products.first(where: { $0.id == id }) else { return nil }
        // Apple's Sandbox does not shorten evenly: 3 minutes are 18 of its days for a week, an hour 360 for a year.
        if speed == .sandbox {
            switch product.period {
            case .days(7): product.period = .days(18)
            case .days(365): product.period = .days(360)
            default: break
            }
        }
        return product
    }

    /// An offer by its name in App Store Connect, or by what it is.
    static func offer(_ name: String) -> SimulatedOffer? {
        switch name {
        case "trial", "free_week": .freeWeek
        case "quarter_up_front": .quarterUpFront
        case "spring_half_price": .promotion
        case "welcome_code": .codeFreeMonth
        case "come_back": .winBack
        default: nil
        }
    }
}
