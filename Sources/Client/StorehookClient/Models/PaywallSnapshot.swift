/// What a paywall shows at one moment.
public struct PaywallSnapshot: Sendable, Hashable {
    /// How far a purchase is.
    public enum Phase: Sendable, Hashable {
        /// Nothing goes on. The customer chooses.
        case choosing
        /// The store's window is open, or the server verifies.
        case purchasing
        /// Purchases are being restored.
        case restoring
        /// It was bought, or restored, and is verified: the paywall may close.
        case done
        /// The purchase waits for approval, as a parent's: the paywall may close.
        case pending
    }

    /// `Unlock Pro`, of the chosen tier.
    public let title: String
    /// What the chosen tier gives, and the account's does not.
    public let highlights: [String]
    /// What is for sale, in the catalog's order.
    public let options: [PaywallOption]
    /// What each tier gives; nil before the catalog was read.
    public let comparison: ComparisonTable?
    /// Whether the products are being read.
    public let isLoading: Bool
    /// What stands in place of products while there are none: that they are being read, or that there are none.
    public let placeholder: String?
    /// How far a purchase is.
    public let phase: Phase
    /// What to show after something did not work; nil after the customer has cancelled.
    public let message: ClientMessage?
    /// What to show after a purchase: that it was unlocked, or waits for approval.
    public let confirmation: String?
    /// What stands on the button that buys; nil where nothing is for sale.
    public let callToAction: String?
    /// Whether that button may be pressed.
    public let canPurchase: Bool
    /// That a subscription renews itself until it is cancelled; nil where the chosen product does not.
    public let renewalNotice: String?
    /// What stands on the button that restores.
    public let restoreTitle: String
    /// The link to the privacy policy.
    public let privacy: ModelLink
    /// The link to the terms of service.
    public let terms: ModelLink

    /// What is chosen; nil where nothing is for sale.
    public var selected: PaywallOption? { options.first(where: \.isSelected) }
}
