/// A discount on one period.
package struct ModelOffer: Sendable, Hashable {
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    package var type: Int64
    /// The offer's name; introductory offers have none.
    package var identifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO` or `PAY_UP_FRONT`.
    package var discountType: String
    /// How long the period lasts under the offer, in days.
    package var days: Int64
    /// The same as an ISO 8601 duration.
    package var period: String

    /// Whether the customer pays nothing.
    package var isFree: Bool { discountType == "FREE_TRIAL" }
    /// Whether the period counts as a trial: free and introductory.
    package var isTrial: Bool { isFree && type == 1 }

    /// A week for nothing, once for a new customer.
    package static let trial = ModelOffer(type: 1, discountType: "FREE_TRIAL", days: 7, period: "P1W")

    /// The first period of a plan for less.
    package static func introductoryPrice(of plan: ModelPlan) -> ModelOffer {
        ModelOffer(type: 1, discountType: "PAY_AS_YOU_GO", days: plan.days, period: plan.period)
    }

    /// Two free weeks as a promotional offer (2), an offer code (3) or a win-back offer (4).
    package static func freeWeeks(type: Int64) -> ModelOffer {
        ModelOffer(type: type, identifier: "two-weeks-free", discountType: "FREE_TRIAL", days: 14, period: "P2W")
    }

    /// What a period of the plan costs under the offer, in thousandths of a dollar.
    package func price(of plan: ModelPlan) -> Int64 {
        isFree ? 0 : plan.price / 2
    }
}
