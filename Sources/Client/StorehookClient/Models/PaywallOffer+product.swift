import Foundation

extension PaywallOffer {
    /// The catalog's product, with the store's price where the store has stated one: what is paid is the store's to say.
    init(_ product: CatalogProduct, _ stored: StoreProduct?) {
        self.init(
            productID: product.productID, name: product.name, tier: product.tier, tierName: product.tierName,
            period: PaywallPeriod(word: product.period.rawValue), periodName: product.periodName,
            displayPrice: stored?.displayPrice ?? product.displayPrice,
            price: stored?.price ?? product.price.map { Decimal($0) / 1000 },
            // A price in a currency that is not known is neither divided nor compared.
            currency: stored == nil ? product.currency : stored?.currency,
            // The catalog's price a day is of the catalog's price.
            displayPricePerDay: stored == nil ? product.displayPricePerDay : nil,
            introduction: product.introductory.flatMap { Introduction($0, beside: product, stored) },
            ownTrialDays: product.trial.map { Int($0.days) },
            isPopular: product.isPopular)
    }
}

extension PaywallOffer.Introduction {
    /// Apple's offer; nil where this account may not have it, where its price would be of another storefront than the product's, or of a
    /// kind that this release does not know.
    init?(_ offer: IntroductoryOffer, beside product: CatalogProduct, _ stored: StoreProduct?) {
        guard offer.eligible else { return nil }
        if offer.type != .freeTrial, let stored, stored.currency != product.currency { return nil }
        switch offer.type {
        case .freeTrial:
            // ISO 8601, as Apple writes it: P7D.
            guard offer.duration.first == "P", let unit = offer.duration.last.flatMap(Self.unit),
                let count = Int(offer.duration.dropFirst().dropLast())
            else { return nil }
            self = .freeTrial(count, unit)
        case .payUpFront:
            self = .payUpFront(price: offer.displayPrice ?? "", duration: offer.displayDuration)
        case .payAsYouGo:
            self = .payAsYouGo(price: offer.displayPrice ?? "", duration: offer.displayDuration)
        case .unknown: return nil
        }
    }

    private static func unit(_ letter: Character) -> Unit? {
        ["D": .day, "W": .week, "M": .month, "Y": .year][letter]
    }
}

extension PaywallPeriod {
    /// The period of a word of the server's; nil of a later word.
    init?(word: String) {
        switch word {
        case "two_months": self = .twoMonths
        case "half_year": self = .halfYear
        default: self.init(rawValue: word)
        }
    }
}
