/// What is really so with one purchase at an instant.
package struct ModelTruth: Sendable, Hashable {
    /// The store's number: 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
    package var status: Int
    /// The product in force, or the last one that was.
    package var productId: String
    /// Whether the customer may use what was bought.
    package var hasAccess: Bool
    /// Whether the period in force is a free introductory one.
    package var isTrial: Bool
    /// When access ends by what the store knew at the instant, in epoch milliseconds; absent without access.
    ///
    /// Periods of one product that are charged already are joined to one stretch, and grace counts.
    package var accessUntil: Int64?
    /// Whether the store will charge again; false once expired or revoked.
    package var renews: Bool
    /// The account of the period in force, or of the last one that was.
    package var appAccountToken: String?

    /// An access that lasts, or in grace may last, until the instant in epoch milliseconds.
    package static func access(
        _ plan: ModelPlan, until: Int64, renews: Bool = true, isTrial: Bool = false, inGrace: Bool = false,
        appAccountToken: String? = nil
    ) -> ModelTruth {
        ModelTruth(
            status: inGrace ? 4 : 1, productId: plan.productId, hasAccess: true, isTrial: isTrial, accessUntil: until,
            renews: renews, appAccountToken: appAccountToken)
    }

    /// No access, with the store's number for why: 2, 3 or 5.
    package static func noAccess(_ plan: ModelPlan, status: Int, appAccountToken: String? = nil) -> ModelTruth {
        ModelTruth(
            status: status, productId: plan.productId, hasAccess: false, isTrial: false, accessUntil: nil,
            renews: status == 3, appAccountToken: appAccountToken)
    }
}
