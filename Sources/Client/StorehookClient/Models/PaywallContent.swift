import Foundation

/// What a paywall shows, made of what is for sale: a value without I/O.
struct PaywallContent: Sendable, Hashable {
    /// All that is for sale, in the catalog's order.
    var offers: [PaywallOffer] = []
    /// What each tier gives; nil before it was read.
    var rules: FeatureRules?
    /// The account's tier; nil is the first one.
    var tier: String?
    /// What the account has bought, by Apple's ids.
    var purchased: Set<String> = []
    /// What the customer has chosen, by Apple's id; nil before that.
    var choice: String?

    /// What is chosen: by the customer, else the year, as the catalog recommends it, else the first.
    var selected: PaywallOffer? {
        if let choice, let chosen = offers.first(where: { $0.productID == choice }) { return chosen }
        let open = offers.filter { !purchased.contains($0.productID) }
        let yearly = open.filter { $0.period == .year }
        return yearly.first(where: \.isPopular) ?? yearly.first ?? open.first(where: \.isPopular) ?? open.first
            ?? offers.first
    }

    func options(_ texts: ClientTexts) -> [PaywallOption] {
        let selected = selected?.productID
        return offers.map {
            PaywallOption(
                $0, among: offers, isSelected: $0.productID == selected,
                isCurrent: purchased.contains($0.productID), texts)
        }
    }

    /// What the chosen tier gives and the account's does not, for people.
    func highlights(_ texts: ClientTexts) -> [String] {
        guard let rules, let chosen = selected?.tier, let gives = rules.tier(chosen) else { return [] }
        return rules.features.compactMap { feature in
            let limit = gives.limits[feature.id] ?? .closed
            guard limit.isMore(than: rules.limit(of: feature.id, in: tier) ?? .closed) else { return nil }
            return limit == .open
                ? feature.name
                : texts(
                    .highlight, ["feature": feature.name, "amount": limit.text(unit: feature.unit, texts)])
        }
    }

    func title(_ texts: ClientTexts) -> String {
        selected?.tierName.map { texts(.paywallTitle, ["tier": $0]) } ?? texts(.paywallTitleAny)
    }
}
