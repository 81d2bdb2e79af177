import Foundation

/// A product to choose on the paywall, ready to be shown.
public struct PaywallOption: Sendable, Hashable, Identifiable {
    /// Apple's id of the product.
    public let id: String
    /// What customers call it.
    public let name: String
    /// The catalog's id of the tier that it gives; nil where the catalog does not have it.
    public let tier: String?
    /// What customers call that tier.
    public let tierName: String?
    /// How long it lasts each time; nil where this release does not know the word.
    public let period: PaywallPeriod?
    /// The same for people: `年度`.
    public let periodName: String
    /// The price with its period: `¥128/年`; nil where neither store nor catalog states a price.
    public let price: String?
    /// What a day of it costs: `仅需¥0.35/天`; nil where there is no price or no period.
    public let pricePerDay: String?
    /// How much less it costs than the shortest period of its tier: `省41%`; nil where it does not.
    public let saving: String?
    /// Whether the catalog recommends it.
    public let isPopular: Bool
    /// What says so: `最受欢迎`; nil where it does not.
    public let popularTitle: String?
    /// Whether the customer has chosen it.
    public let isSelected: Bool
    /// Whether the account has bought it.
    public let isCurrent: Bool
    /// The introductory offer or the app's own trial: `开始 7 天免费试用`; nil where there is none for this account.
    public let trial: String?
    /// What is paid after the trial, and that cancelling before costs nothing; nil where there is no trial.
    public let trialNotice: String?
    /// What stands on the button that buys it.
    public let callToAction: String
}

extension PaywallOption {
    /// An option.
    /// - Parameters:
    ///   - others: all that are for sale: the shortest period of the same tier among them is what it is compared with.
    init(
        _ offer: PaywallOffer, among others: [PaywallOffer], isSelected: Bool, isCurrent: Bool, _ texts: ClientTexts
    ) {
        id = offer.productID
        name = offer.name
        (tier, tierName) = (offer.tier, offer.tierName)
        period = offer.period
        periodName = offer.periodName ?? offer.period.map { texts($0.nameKey) } ?? offer.name
        price = offer.priceText(texts)
        pricePerDay = offer.pricePerDayText(texts).map { texts(.pricePerDay, ["price": $0]) }
        saving = offer.saving(among: others).map { texts(.saving, ["percent": texts.percent($0)]) }
        isPopular = offer.isPopular
        popularTitle = offer.isPopular ? texts(.popular) : nil
        (self.isSelected, self.isCurrent) = (isSelected, isCurrent)
        trial = offer.trialText(texts)
        trialNotice = offer.trialNotice(texts)
        callToAction =
            isCurrent
            ? texts(.currentPlan)
            : offer.freeTrialText(texts) ?? texts(offer.period?.renews ?? true ? .subscribe : .buy)
    }
}

extension PaywallOffer {
    func priceText(_ texts: ClientTexts) -> String? {
        guard let displayPrice else { return nil }
        return period.map { texts($0.priceKey, ["price": displayPrice]) } ?? displayPrice
    }

    /// The store's price divided by days, else the catalog's own; nil where it would be nothing.
    func pricePerDayText(_ texts: ClientTexts) -> String? {
        if let displayPricePerDay { return displayPricePerDay }
        guard let price, let currency, let days = period?.days, price > 0 else { return nil }
        var (exact, rounded) = (price / Decimal(days), Decimal())
        NSDecimalRound(&rounded, &exact, 2, .plain)
        return rounded > 0 ? texts.price(rounded, currency: currency) : nil
    }

    /// How much less it costs than as many of the shortest period of its tier: 0 to 1; nil where it is not at least a percent less.
    func saving(among others: [PaywallOffer]) -> Double? {
        guard let months = period?.months, let price, let currency else { return nil }
        let shorter = others.compactMap { other -> (months: Double, price: Decimal)? in
            guard other.tier == tier, other.currency == currency, let length = other.period?.months, length < months,
                let price = other.price, price > 0
            else { return nil }
            return (length, price)
        }.min { $0.months < $1.months }
        guard let shorter else { return nil }
        let many = NSDecimalNumber(decimal: shorter.price).doubleValue * (months / shorter.months)
        let saving = 1 - NSDecimalNumber(decimal: price).doubleValue / many
        return saving >= 0.01 ? saving : nil
    }

    func trialText(_ texts: ClientTexts) -> String? {
        switch introduction {
        case .payUpFront(let price, let duration):
            texts(.offerPayUpFront, ["price": price, "duration": duration])
        case .payAsYouGo(let price, let duration):
            texts(.offerPayAsYouGo, ["price": price, "duration": duration])
        case .freeTrial, nil:
            freeTrialText(texts)
                ?? ownTrialDays.map {
                    texts(.ownTrialStart, count: Int64($0), ["tier": tierName ?? name])
                }
        }
    }

    /// What starts Apple's free trial; nil where there is none.
    func freeTrialText(_ texts: ClientTexts) -> String? {
        guard case .freeTrial(let count, let unit) = introduction else { return nil }
        let key: TextKey =
            switch unit {
            case .day: .trialStartDays
            case .week: .trialStartWeeks
            case .month: .trialStartMonths
            case .year: .trialStartYears
            }
        return texts(key, count: Int64(count))
    }

    func trialNotice(_ texts: ClientTexts) -> String? {
        guard case .freeTrial = introduction else { return nil }
        return priceText(texts).map { texts(.trialNotice, ["price": $0]) } ?? texts(.trialNoticeAny)
    }
}

extension PaywallPeriod {
    /// How many months it lasts, to compare prices; nil where it does not renew itself.
    fileprivate var months: Double? {
        switch self {
        case .week: 7 * 12 / 365
        case .month: 1
        case .twoMonths: 2
        case .quarter: 3
        case .halfYear: 6
        case .year: 12
        case .lifetime, .term: nil
        }
    }
}
