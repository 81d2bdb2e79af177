package import Base

/// The shares of a price that are Apple's commission and tax, by storefront, program, kind of product and day: a table with dates.
///
/// The entries of each list stand in the order of their days. For a purchase the last entry counts that fits it and does not begin later.
package struct Commission: Sendable, Hashable {
    /// Apple's terms for a developer.
    package enum Program: String, Sendable, Hashable, CaseIterable {
        /// The usual ones.
        case standard
        /// The terms of the App Store Small Business Program.
        case smallBusiness = "small_business"
    }

    /// By which terms apps are sold from a day on.
    package struct Membership: Sendable, Hashable {
        /// The first day.
        package var from: CalendarDay
        /// The apps, by bundle id; nil for all.
        package var apps: [String]?
        /// The terms.
        package var program: Program
    }

    /// What Apple keeps from a day on.
    package struct Rate: Sendable, Hashable {
        /// The first day.
        package var from: CalendarDay
        /// The storefronts, by their three letters; nil for all.
        package var storefronts: [String]?
        /// The terms that it belongs to; nil for all.
        package var program: Program?
        /// Of subscriptions in their first year of paid service.
        package var firstYear: PriceShare
        /// Of subscriptions after it.
        package var laterYears: PriceShare
        /// Of all that does not renew itself.
        package var oneTime: PriceShare
    }

    /// The share of tax in the customer's price, from a day on.
    package struct Tax: Sendable, Hashable {
        /// The first day.
        package var from: CalendarDay
        /// The storefronts, by their three letters.
        package var storefronts: [String]
        /// The share of the price that the customer pays, not of the price without tax.
        package var included: PriceShare
    }

    /// Before the first that fits an app, it is sold by ``Program/standard`` terms.
    package var memberships: [Membership]
    /// At least one.
    package var rates: [Rate]
    /// Where none fits, no tax is taken off.
    package var taxes: [Tax]

    init(memberships: [Membership], rates: [Rate], taxes: [Tax]) {
        (self.memberships, self.rates, self.taxes) = (memberships, rates, taxes)
    }
}
