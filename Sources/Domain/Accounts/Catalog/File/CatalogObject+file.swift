extension CatalogObject {
    private static let bundleID = CatalogWord(
        of: "A-Za-z0-9.-", 1...155, "is a bundle id: 1 to 155 of A to Z, a to z, 0 to 9, . and -, like com.example.app")
    private static let productID = CatalogWord(
        of: "A-Za-z0-9._-", 1...255,
        "is Apple's id of the product: 1 to 255 of A to Z, a to z, 0 to 9, ., _ and -, like com.example.pro.yearly")
    private static let currency = CatalogWord(of: "A-Z", 3...3, "is three capital letters, like CNY (ISO 4217)")
    private static let language = CatalogWord(
        first: "A-Za-z", of: "A-Za-z0-9-", 2...35, "is a language tag, like en or zh-Hans (BCP 47)")
    private static let timeZone = CatalogWord(
        of: "A-Za-z0-9_+/-", 1...64, "is a time zone of IANA's list, like Asia/Shanghai, or UTC")

    /// The file as a whole.
    static let catalog = CatalogObject(
        what: "a catalog",
        members: [
            CatalogMember("language", .word(language), "The language of texts that name none; en unless told."),
            CatalogMember(
                "time_zone", .word(timeZone), "Whose days and months usage is counted by (IANA); UTC unless told."),
            CatalogMember(
                "warning_days", .scalar(.whole(0...365)),
                "So many days before its end an access is said to end soon; 7 unless told."),
            CatalogMember("app", .word(bundleID), "The bundle id of the products that name none."),
            CatalogMember("currency", .word(currency), "The currency of the prices that name none (ISO 4217)."),
            CatalogMember(
                "tiers", .list(of: .object(tier), 1...100), needed: "tiers: and below it a list, each with id:",
                "Levels of access, in rising order. The first is what everybody has."),
            CatalogMember("products", .list(of: .object(product), 0...2000), "What is sold."),
            CatalogMember(
                "features", .list(of: .object(feature), 0...1000), "What is allowed, counted or limited, by tier."),
            CatalogMember(
                "aliases", .map(of: .word(.id), 0...1000),
                "Other names under which the use of a feature is reported, each with the feature's id."),
            CatalogMember("trial", .object(trial), "The app's own trial, apart from Apple's introductory offers."),
            CatalogMember(
                "refunds", .list(of: .object(rule), 1...1000),
                "What Apple is told when customers want their money back: the first rule that fits speaks."),
        ])

    /// One of the tiers.
    static let tier = CatalogObject(
        what: "a tier",
        members: [
            CatalogMember("id", .id, needed: "id: pro", "Its id, unique among the tiers."),
            CatalogMember("name", .localized(longest: 200), "What customers call it."),
        ])

    /// One of the products.
    static let product = CatalogObject(
        what: "a product",
        members: [
            CatalogMember("id", .id, needed: "id: monthly", "Its short id, unique among the products."),
            CatalogMember(
                "product_id", .word(productID), needed: "product_id: com.example.pro.monthly", "Apple's id of it."),
            CatalogMember("app", .word(bundleID), "The bundle id of its app, where that is not the catalog's."),
            CatalogMember("tier", .id, needed: "tier: pro", "The tier that it gives."),
            CatalogMember(
                "period", .scalar(.choice(Catalog.Period.allCases.map(\.rawValue))), needed: "period: month",
                "For how long it is bought. term is a time that does not renew itself, of lasts days; lifetime is for good."
            ),
            CatalogMember(
                "lasts", .scalar(.whole(1...36_500)), "The days that one purchase of a term lasts."),
            CatalogMember("name", .localized(longest: 200), "What customers call it."),
            CatalogMember("text", .localized(longest: 4000), "What customers are told about it."),
            CatalogMember("period_name", .localized(longest: 200), "What customers call its period."),
            CatalogMember(
                "price", .scalar(.money), "Its price, for display: what a customer pays is Apple's to say."),
            CatalogMember("currency", .word(currency), "The price's currency, where that is not the catalog's."),
            CatalogMember(
                "price_text", .localized(longest: 200),
                "The price as it is to be shown, where that is not to be made out of price and currency."),
            CatalogMember(
                "sort_order", .scalar(.whole(0...1_000_000)), "The lower, the earlier it is shown; 0 unless told."),
            CatalogMember("popular", .scalar(.flag), "Whether it is to stand out; false unless told."),
        ])

    /// One of the features.
    static let feature = CatalogObject(
        what: "a feature",
        members: [
            CatalogMember("id", .id, needed: "id: export", "Its id, unique among the features."),
            CatalogMember("name", .localized(longest: 200), "What customers call it."),
            CatalogMember("unit", .localized(longest: 200), "What is counted, like minutes."),
            CatalogMember(
                "limits", .map(of: .limit, 1...100), needed: "limits: {free: no, pro: yes}",
                "What each tier gives of it: no, yes, unlimited, or so many per day, per month or in total."),
        ])

    private static let products = CatalogWord(
        of: "A-Za-z0-9._*-", 1...255, "is Apple's ids of products, at whose end a * stands for anything")
    private static let share = CatalogWord(
        of: "0-9.%", 1...8,
        "is how much was used: 50%, or 12.5%; or as Apple counts, in thousandths of a percent, 50000")

    private static func choices(_ words: [String]) -> CatalogForm {
        .list(of: .scalar(.choice(words)), 1...100)
    }

    /// One of the rules about refunds. `ConsumptionPolicy` reads them, here and in a file of their own.
    static let rule = CatalogObject(
        what: "a rule",
        members: [
            CatalogMember("name", .scalar(.text(longest: 100)), "What people call it."),
            CatalogMember(
                "products", .list(of: .word(products), 1...2000), "Apple's ids of products; all unless told."),
            CatalogMember("types", choices(ConsumptionPolicy.types), "Kinds of product; all unless told."),
            CatalogMember(
                "reasons", choices(ConsumptionPolicy.reasons),
                "The customers' reasons, as Apple calls them; all, and none given, unless told."),
            CatalogMember("environments", choices(ConsumptionPolicy.environments), "Environments; all unless told."),
            CatalogMember("apps", .list(of: .word(bundleID), 1...1000), "Bundle ids; all unless told."),
            CatalogMember(
                "answer", .word("leave_to_apple", or: answer), needed: "answer: leave_to_apple",
                "What Apple is told, with the customer's consent; or leave_to_apple, and nothing is sent."),
        ])

    /// The consumption data that a rule sends to Apple.
    static let answer = CatalogObject(
        what: "an answer",
        members: [
            CatalogMember(
                "delivery_status", .scalar(.choice(ConsumptionPolicy.deliveryStatuses)),
                needed: "delivery_status: DELIVERED", "Whether the customer got it, as Apple calls it."),
            CatalogMember(
                "sample_content_provided", .scalar(.flag), needed: "sample_content_provided: false",
                "Whether customers can try before they buy."),
            CatalogMember(
                "consumption_percentage", .word(share),
                "How much of it was used: 50%, or as Apple counts, in thousandths of a percent, 50000."),
            CatalogMember(
                "refund_preference", .scalar(.choice(ConsumptionPolicy.refundPreferences)),
                "What Apple is asked to do, as Apple calls it."),
        ])

    /// The app's own trial.
    static let trial = CatalogObject(
        what: "a trial",
        members: [
            CatalogMember("tier", .id, needed: "tier: pro", "The tier that it gives."),
            CatalogMember("days", .scalar(.whole(1...366)), needed: "days: 7", "For how many days of 24 hours."),
            CatalogMember(
                "products", .list(of: .id, 0...2000), "The short ids of the products that it is offered with."),
        ])
}
