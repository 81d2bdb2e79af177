/// A product of the model's one subscription group.
package struct ModelPlan: Sendable, Hashable {
    /// The product's identifier.
    package var productId: String
    /// How long one paid period lasts, in days.
    package var days: Int64
    /// The rank within the group: 1 is the best.
    package var level: Int
    /// The price of a period, in thousandths of a dollar.
    package var price: Int64
    /// The period as an ISO 8601 duration.
    package var period: String

    /// Top plan, by the week.
    package static let goldWeekly = ModelPlan(
        productId: "com.example.gold.weekly", days: 7, level: 1, price: 4_990, period: "P1W")
    /// Top plan, by the month.
    package static let goldMonthly = ModelPlan(
        productId: "com.example.gold.monthly", days: 30, level: 1, price: 14_990, period: "P1M")
    /// Another top plan by the month: between the two a change counts at once.
    package static let goldDuo = ModelPlan(
        productId: "com.example.gold.duo", days: 30, level: 1, price: 19_990, period: "P1M")
    /// Top plan, by the year.
    package static let goldYearly = ModelPlan(
        productId: "com.example.gold.yearly", days: 365, level: 1, price: 99_990, period: "P1Y")
    /// Middle plan, by the month.
    package static let silverMonthly = ModelPlan(
        productId: "com.example.silver.monthly", days: 30, level: 2, price: 7_990, period: "P1M")
    /// Middle plan, by the year.
    package static let silverYearly = ModelPlan(
        productId: "com.example.silver.yearly", days: 365, level: 2, price: 59_990, period: "P1Y")
    /// Small plan, by the week.
    package static let bronzeWeekly = ModelPlan(
        productId: "com.example.bronze.weekly", days: 7, level: 3, price: 990, period: "P1W")

    /// Every product of the group.
    package static let all = [
        goldWeekly, goldMonthly, goldDuo, goldYearly, silverMonthly, silverYearly, bronzeWeekly,
    ]

    /// Whether a change to the other plan counts at once; otherwise it waits for the next renewal.
    ///
    /// A better plan always does, and one of the same rank if it lasts as long.
    package func changesAtOnce(to other: ModelPlan) -> Bool {
        other.level < level || (other.level == level && other.days == days)
    }
}
