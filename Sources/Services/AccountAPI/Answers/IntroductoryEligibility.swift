package import Accounts
import Base

/// Whether an account may have Apple's introductory offer of a product as far as is known here, and why not.
///
/// Apple gives each customer one introductory offer in a subscription group, and none while the customer subscribes to it. Apple decides
/// by the customer on the device, who may not be the account's: StoreKit's answer goes first.
package enum IntroductoryEligibility: Sendable, Hashable {
    /// It may.
    case eligible
    /// It may not.
    case refused(Reason)

    /// Why it may not. The raw values stay.
    package enum Reason: String, Sendable, Hashable, CaseIterable, NamedWords {
        /// See `NamedWords`.
        package static let schemaName = "IntroductoryRefusal"

        /// The account has had an introductory offer in the product's group, refunded or not.
        case used = "offer_used"
        /// The account subscribes to a product of the group.
        case subscribed = "active_subscription"
    }

    /// Whether it may.
    package var isEligible: Bool { self == .eligible }

    /// Why it may not; nil where it may.
    package var reason: Reason? {
        if case .refused(let reason) = self { reason } else { nil }
    }
}

/// The subscription groups in which an account has had an offer, or subscribes.
package struct IntroductoryHistory: Sendable, Hashable {
    /// The groups in which it had an introductory offer.
    private let taken: Set<Catalog.SubscriptionGroup>
    /// The groups that it subscribes to.
    private let running: Set<Catalog.SubscriptionGroup>

    /// Nothing.
    package init() { (taken, running) = ([], []) }

    /// A history.
    /// - Parameters:
    ///   - taken: what it had under an introductory offer.
    ///   - running: what it subscribes to.
    package init(taken: [SubscribedProduct] = [], running: [SubscribedProduct] = [], by catalog: Catalog) {
        self.taken = taken.reduce(into: []) { $0.formUnion(catalog.groups(of: $1)) }
        self.running = running.reduce(into: []) { $0.formUnion(catalog.groups(of: $1)) }
    }

    /// Whether the account may have the offer of a product of the same catalog.
    package func eligibility(for product: Catalog.Product, by catalog: Catalog) -> IntroductoryEligibility {
        let group = catalog.group(of: product)
        if taken.contains(group) { return .refused(.used) }
        return running.contains(group) ? .refused(.subscribed) : .eligible
    }
}
