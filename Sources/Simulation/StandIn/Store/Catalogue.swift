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
