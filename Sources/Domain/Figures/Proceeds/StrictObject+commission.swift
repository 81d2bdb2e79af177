import Base

extension StrictObject {
    private static let storefront = SchemaWord(
        "is a country or region of the App Store by its three letters, like CHN",
        schema: ["type": "string", "pattern": "^[A-Z]{3}$"]
    ) { Territory.isKnown(alpha3: $0) }
    /// All of a price is never taken from it.
    private static let share = SchemaWord(
        "is a share below 100% with at most three decimals, like 30% or 15.966%",
        schema: ["type": "string", "pattern": #"^[0-9]{1,2}(\.[0-9]{1,3})?%$"#]
    ) { text in PriceShare(text).map { $0.thousandthsOfPercent < PriceShare.whole } ?? false }
    private static let app = SchemaWord(of: "A-Za-z0-9.-", 1...155, "is a bundle id, like com.example.app")

    private static let from = ValueSchema.Property(
        "from", .word(day), needed: "from: 2026-01-01", "The first day, in the time zone of the figures.")
    private static let storefronts = ValueSchema.array(.word(storefront), least: 1, most: 300)

    /// A commission table as a whole.
    static let commission = StrictObject(
        what: "a commission table",
        members: [
            .init(
                "program", .array(.strict(membership), least: 0, most: 200),
                "By which of Apple's terms apps are sold; standard by default."),
            .init(
                "rates", .array(.strict(rate), least: 1, most: 200),
                needed: "rates: and below it a list, each with from: and first_year:", "What Apple keeps of a price."),
            .init(
                "taxes", .array(.strict(tax), least: 0, most: 1000),
                "What of the customers' prices is tax. Where nothing is said, no tax is taken off."),
        ])

    /// By which terms apps are sold.
    static let membership = StrictObject(
        what: "a program",
        members: [
            from,
            .init("apps", .array(.word(app), least: 1, most: 300), "Bundle ids; all apps by default."),
            .init(
                "program", .choice(Commission.Program.allCases.map(\.rawValue)), needed: "program: small_business",
                "Apple's terms."),
        ])

    /// What Apple keeps.
    static let rate = StrictObject(
        what: "a rate",
        members: [
            from, .init("storefronts", storefronts, "By three letters; all by default."),
            .init(
                "program", .choice(Commission.Program.allCases.map(\.rawValue)),
                "The terms that it belongs to; all by default."),
            .init(
                "first_year", .word(share), needed: "first_year: 30%",
                "Of subscriptions in their first year of paid service."),
            .init("later_years", .word(share), "Of subscriptions after it; first_year by default."),
            .init("one_time", .word(share), "Of what does not renew itself; first_year by default."),
        ])

    /// What is tax.
    static let tax = StrictObject(
        what: "a tax",
        members: [
            from,
            .init("storefronts", storefronts, needed: "storefronts: [DEU]", "By three letters."),
            .init(
                "included", .word(share), needed: "included: 15.966%",
                "The share of the price that the customer pays: 19% on top of a net price is 15.966% of it."),
        ])
}
