/// What the stand-in sells.
enum Catalogue {
    static let products: [SimulatedProduct] = [
        .premiumMonthly, .premiumYearly, .basicWeekly, .basicMonthly, .basicYearly, .newsMonthly, .coins, .lifetime,
        .seasonPass,
    ]

    /// What ``offer(_:_:)`` knows: an introductory week for nothing and a quarter paid up front, a promotional offer, a code, and
    /// one to win customers back.
    static let offers = ["trial", "quarter_up_front", "spring_half_price", "welcome_code", "come_back"]

    /// What simulated customers buy: one in four buys a year.
    static let plans: [SimulatedProduct] = [
        .basicWeekly, .basicWeekly, .basicMonthly, .basicMonthly, .premiumMonthly, .premiumMonthly, .basicYearly,
        .premiumYearly,
    ]

    /// A product by its identifier, its period fit for a speed.
    static func product(_ id: String, _ speed: StandInConfiguration.Speed) -> SimulatedProduct? {
        guard var product = products.first(where: { $0.id == id }) else { return nil }
        product.period = speed.fit(product.period)
        return product
    }

    /// An offer by its name in App Store Connect, or by what it is; its length fit for a speed.
    static func offer(_ name: String, _ speed: StandInConfiguration.Speed) -> SimulatedOffer? {
        let offer: SimulatedOffer? =
            switch name {
            case "trial", "free_week": .freeWeek
            case "quarter_up_front": .quarterUpFront
            case "spring_half_price": .promotion
            case "welcome_code": .codeFreeMonth
            case "come_back": .winBack
            default: nil
            }
        guard var offer else { return nil }
        offer.length = offer.length.map(speed.fit)
        return offer
    }
}
