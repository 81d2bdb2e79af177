import Base

extension StrictObject {
    /// The file of a policy as a whole.
    static let policy = StrictObject(
        what: "a policy",
        members: [
            .init(
                "rules", .array(.strict(rule), least: 1), needed: "rules: and below it a list, each with answer:",
                "Rules.")
        ])

    private static let products = SchemaWord(
        of: "A-Za-z0-9._*-", 1...255, "is Apple's ids of products, at whose end a * stands for anything")
    private static let share = SchemaWord(
        of: "0-9.%", 1...8,
        "is how much was used: 50%, or 12.5%; or as Apple counts, in thousandths of a percent, 50000")

    private static func choices(_ words: [String]) -> ValueSchema {
        .array(.choice(words), least: 1, most: 100)
    }

    /// A rule, in a policy's own file or in the catalog. A policy's file has rules of any number and texts of any length; the catalog
    /// checks all of this.
    static let rule = StrictObject(
        what: "a rule",
        members: [
            .init("name", .string(.init(1, 100)), "What people call it."),
            .init(
                "products", .array(.word(products), least: 1, most: 2000), "Apple's ids of products; all by default."),
            .init("types", choices(ConsumptionPolicy.types), "Kinds of product; all by default."),
            .init(
                "reasons", choices(ConsumptionPolicy.reasons),
                "The customers' reasons, as Apple calls them; by default all, and requests without one."),
            .init("environments", choices(ConsumptionPolicy.environments), "Environments; all by default."),
            .init("apps", .array(.word(.bundleID), least: 1, most: 1000), "Bundle ids; all by default."),
            .init(
                "answer", .either("leave_to_apple", answer), needed: "answer: leave_to_apple",
                "The answer for Apple, sent with the customer's consent; leave_to_apple sends nothing."),
        ])

    /// The consumption data that a rule sends to Apple.
    static let answer = StrictObject(
        what: "an answer",
        members: [
            .init(
                "delivery_status", .choice(ConsumptionPolicy.deliveryStatuses),
                needed: "delivery_status: DELIVERED", "Whether the customer got it, as Apple calls it."),
            .init(
                "sample_content_provided", .boolean, needed: "sample_content_provided: false",
                "Whether customers can try before they buy."),
            .init(
                "consumption_percentage", .word(share),
                "How much of it was used: 50%, or as Apple counts, in thousandths of a percent, 50000."),
            .init(
                "refund_preference", .choice(ConsumptionPolicy.refundPreferences),
                "What Apple is asked to do, as Apple calls it."),
        ])
}
