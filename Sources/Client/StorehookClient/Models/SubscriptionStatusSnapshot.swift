/// What the screen of the account's plan shows at one moment.
public struct SubscriptionStatusSnapshot: Sendable, Hashable {
    /// The plan.
    public let card: PlanCard
    /// What stands above the details.
    public let detailsTitle: String
    /// The end date, the renewal and the transaction; none where nothing was ever bought.
    public let details: [PlanDetail]
    /// What stands above the bars.
    public let usageTitle: String
    /// How much was used of what the tier limits, such as that of free users.
    public let usage: [UsageBar]
    /// What stands above the locked features.
    public let lockedTitle: String
    /// What a higher tier gives and this one does not.
    public let locked: [LockedFeature]
    /// The way to manage the subscription; nil where there is none.
    public let manage: ModelLink?
    /// What stands on the button that leads to the paywall; nil where no tier gives more.
    public let upgradeTitle: String?
    /// That access ends soon; nil where it does not.
    public let banner: RenewalBanner?
}
