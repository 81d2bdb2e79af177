/// Something that the simulated app sells.
public struct SimulatedProduct: Sendable, Hashable, Codable {
    /// What kind of in-app purchase it is.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// Renews by itself until it is stopped.
        case autoRenewable = "Auto-Renewable Subscription"
        /// Bought once, owned for good.
        case nonConsumable = "Non-Consumable"
        /// Bought and used up.
        case consumable = "Consumable"
        /// Bought for a term that only the app knows.
        case nonRenewing = "Non-Renewing Subscription"
    }

    /// The product identifier.
    public var id: String
    /// The kind, as Apple spells it in a transaction's `type`.
    public var kind: Kind
    /// The subscription group, for auto-renewables.
    public var group: String?
    /// Rank in the group, 1 the highest, for auto-renewables: moving to a smaller number is an upgrade.
    public var level: Int
    /// Length of one paid period, 0 for what does not renew. A month is 30 days here and a year 365: a receiver must never add
    /// up periods itself, so nothing depends on the calendar.
    public var period: Milliseconds
    /// The price in thousandths of a dollar; storefronts convert it.
    public var dollarMilliunits: Int64

    private static func subscription(_ name: String, group: String, level: Int, days: Int64, price: Int64) -> Self {
        Self(
            id: "com.example.storehook.\(name)", kind: .autoRenewable, group: group, level: level, period: .days(days),
            dollarMilliunits: price)
    }

    private static func single(_ name: String, _ kind: Kind, price: Int64) -> Self {
        Self(id: "com.example.storehook.\(name)", kind: kind, group: nil, level: 0, period: 0, dollarMilliunits: price)
    }

    /// Premium by the month.
    public static let premiumMonthly = subscription("premium.monthly", group: plus, level: 1, days: 30, price: 9990)
    /// Premium by the year.
    public static let premiumYearly = subscription("premium.yearly", group: plus, level: 1, days: 365, price: 89_990)
    /// Basic by the week.
    public static let basicWeekly = subscription("basic.weekly", group: plus, level: 2, days: 7, price: 1990)
    /// Basic by the month.
    public static let basicMonthly = subscription("basic.monthly", group: plus, level: 2, days: 30, price: 4990)
    /// Basic by the year.
    public static let basicYearly = subscription("basic.yearly", group: plus, level: 2, days: 365, price: 39_990)
    /// A subscription of another group.
    public static let newsMonthly = subscription("news.monthly", group: "21752815", level: 1, days: 30, price: 2990)

    /// A consumable.
    public static let coins = single("coins.100", .consumable, price: 990)
    /// A non-consumable.
    public static let lifetime = single("lifetime.unlock", .nonConsumable, price: 149_990)
    /// A non-renewing subscription.
    public static let seasonPass = single("season.pass", .nonRenewing, price: 19_990)

    /// The subscription group of premium and basic.
    public static let plus = "21752814"
}
