import Foundation

/// A product as the paywall knows it: the catalog's entry, with the store's price where the store has stated one.
struct PaywallOffer: Sendable, Hashable {
    /// What new subscribers get first, by the store or the app.
    enum Introduction: Sendable, Hashable {
        /// So many of a unit free, by Apple.
        case freeTrial(Int, Unit)
        /// The whole time paid for at once, by Apple.
        case payUpFront(price: String, duration: String)
        /// Each period at a lower price, by Apple.
        case payAsYouGo(price: String, duration: String)

        /// What the time of a trial is counted in.
        enum Unit: Sendable, Hashable { case day, week, month, year }
    }

    /// Apple's id.
    var productID: String
    /// What customers call it.
    var name: String
    /// The tier that it gives; nil where the catalog does not have it.
    var tier: String?
    /// What customers call that tier.
    var tierName: String?
    /// How long it lasts each time.
    var period: PaywallPeriod?
    /// What the catalog calls that period; nil where it does not.
    var periodName: String?
    /// The price as the store writes it, else as the catalog does; nil where neither has one.
    var displayPrice: String?
    /// The amount in the currency's unit, to be compared and divided.
    var price: Decimal?
    /// ISO 4217.
    var currency: String?
    /// The price a day as the catalog writes it.
    var displayPricePerDay: String?
    /// Apple's introductory offer, where this customer may have it.
    var introduction: Introduction?
    /// For how many days this account may try it by the app's own trial.
    var ownTrialDays: Int?
    /// Whether the catalog recommends it.
    var isPopular = false
}
