import Base

extension StrictObject {
    private static let productID = SchemaWord(
        of: "A-Za-z0-9._-", 1...255,
        "is Apple's id of the product: 1 to 255 of A to Z, a to z, 0 to 9, ., _ and -, like com.example.pro.yearly")
    private static let currency = SchemaWord(of: "A-Z", 3...3, "is three capital letters, like CNY (ISO 4217)")
    private static let language = SchemaWord(
        first: "A-Za-z", of: "A-Za-z0-9-", 2...35, "is a language tag, like en or zh-Hans (BCP 47)")
    private static let group = SchemaWord(
        "is Apple's id of a subscription group, like 21752814",
        schema: ["type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9A-Za-z]{1,64}$"]
    ) { SchemaWord(of: "0-9A-Za-z", 1...64, "").accepts($0) }
    private static let offerDuration = SchemaWord(
        "is so many days, weeks, months or years, like 7 days",
        schema: ["type": "string", "pattern": "^[1-9][0-9]{0,2} (day|week|month|year)s?$"]
    ) { Catalog.OfferDuration($0) != nil }
    private static let timeZone = SchemaWord(
        of: "A-Za-z0-9_+/-", 1...64, "is a time zone of IANA's list, like Asia/Shanghai, or UTC")

    /// The file as a whole.
    static let catalog = StrictObject(
        what: "a catalog",
        members: [
            .init("language", .word(language), "The language of texts that name none; en by default."),
            .init(
                "time_zone", .word(timeZone),
                "The time zone of the days and months that usage is counted by (IANA); UTC by default."),
            .init(
                "reporting_currency", .word(currency),
                "The currency of figures of money (ISO 4217); by default, each currency by itself."
            ),
            .init(
                "fiscal_months", .boolean,
                "Whether figures are kept by the months of Apple's fiscal year, too, in days of Los Angeles; false by default."
            ),
            .init(
                "warning_days", .integer(0...365),
                "How many days before its end an access counts as ending soon; 7 by default."),
            .init("app", .word(.bundleID), "The bundle id of the products that name none."),
            .init("currency", .word(currency), "The currency of the prices that name none (ISO 4217)."),
            .init(
                "tiers", .array(.strict(tier), least: 1, most: 100),
                needed: "tiers: and below it a list, each with id:",
                "Levels of access, in rising order. Every account has the first."),
            .init("products", .array(.strict(product), least: 0, most: 2000), "What is sold."),
            .init(
                "features", .array(.strict(feature), least: 0, most: 1000),
                "What is allowed, counted or limited, by tier."),
            .init(
                "aliases", .map(.word(.id), keys: .id, 0...1000),
                "Other names under which the use of a feature is reported, each with the feature's id."),
            .init("trial", .strict(trial), "The app's own trial, apart from Apple's introductory offers."),
            .init(
                "refunds", .array(.strict(rule), least: 1, most: 1000),
                "The answers to Apple's refund requests: the first rule that matches decides."),
        ])

    /// One of the tiers.
    static let tier = StrictObject(
        what: "a tier",
        members: [
            .init("id", .word(.id), needed: "id: pro", "Its id, unique among the tiers."),
            .init("name", .localized(200, tags: .languageTag), "What customers call it."),
        ])

    /// One of the products.
    static let product = StrictObject(
        what: "a product",
        members: [
            .init("id", .word(.id), needed: "id: monthly", "Its short id, unique among the products."),
            .init(
                "product_id", .word(productID), needed: "product_id: com.example.pro.monthly", "Apple's id of it."),
            .init("app", .word(.bundleID), "The bundle id of its app, where that is not the catalog's."),
            .init("tier", .word(.id), needed: "tier: pro", "The tier that it gives."),
            .init(
                "period", .choice(Catalog.Period.allCases.map(\.rawValue)), needed: "period: month",
                "For how long it is bought. term is a time that does not renew itself, of lasts days; lifetime is for good."
            ),
            .init(
                "lasts", .integer(1...36_500), "The days that one purchase of a term lasts."),
            .init("name", .localized(200, tags: .languageTag), "What customers call it."),
            .init("text", .localized(4000, tags: .languageTag), "The description for customers."),
            .init("period_name", .localized(200, tags: .languageTag), "What customers call its period."),
            .init(
                "price", .word(.money), "Its price, for display: what a customer pays is Apple's to say."),
            .init("currency", .word(currency), "The price's currency, where that is not the catalog's."),
            .init(
                "price_text", .localized(200, tags: .languageTag),
                "The price as it is to be shown, where that is not to be made out of price and currency."),
            .init(
                "sort_order", .integer(0...1_000_000), "The lower, the earlier it is shown; 0 by default."),
            .init("popular", .boolean, "Whether it is to stand out; false by default."),
            .init(
                "group", .word(group),
                "Apple's id of its subscription group, where the app has several; those of an app that name none are one group."
            ),
            .init(
                "introductory", .strict(introductory), "Apple's introductory offer of it, as App Store Connect has it."),
        ])

    /// Apple's introductory offer of a product.
    static let introductory = StrictObject(
        what: "an introductory offer",
        members: [
            .init(
                "type", .choice(Catalog.IntroductoryOffer.Kind.allCases.map(\.rawValue)), needed: "type: free_trial",
                "How it is paid for: not at all, at once for its whole time, or by the product's periods."),
            .init(
                "duration", .word(offerDuration), needed: "duration: 7 days", "How long it lasts."),
            .init(
                "price", .word(.money),
                "What is paid, for display: of a pay_up_front for its whole time, of a pay_as_you_go for each period."),
        ])

    /// One of the features.
    static let feature = StrictObject(
        what: "a feature",
        members: [
            .init("id", .word(.id), needed: "id: export", "Its id, unique among the features."),
            .init("name", .localized(200, tags: .languageTag), "What customers call it."),
            .init("unit", .localized(200, tags: .languageTag), "What is counted, like minutes."),
            .init(
                "limits", .map(.word(.limit), keys: .id, 1...100), needed: "limits: {free: no, pro: yes}",
                "What each tier gives of it: no, yes, unlimited, or so many per day, per month or in total."),
        ])

    /// The app's own trial.
    static let trial = StrictObject(
        what: "a trial",
        members: [
            .init("tier", .word(.id), needed: "tier: pro", "The tier that it gives."),
            .init("days", .integer(1...366), needed: "days: 7", "For how many days of 24 hours."),
            .init(
                "products", .array(.word(.id), least: 0, most: 2000),
                "The short ids of the products that it is offered with."),
        ])
}
