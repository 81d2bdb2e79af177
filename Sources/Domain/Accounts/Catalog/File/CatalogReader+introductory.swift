import Base
import Yams

extension CatalogReader {
    /// Apple's introductory offer of a product; nil where the file has none. What cannot be read is nil, and was reported.
    mutating func introductory(_ entry: CatalogEntry, _ period: Catalog.Period?) -> Catalog.IntroductoryOffer? {
        for name in ["group", "introductory"] {
            if let node = entry[name], let period, period.renewal == nil {
                complain(node, "\(name) is for what renews itself; a \(period.rawValue) does not: take it out")
            }
        }
        guard let offer = entry.entry("introductory"),
            let kind = offer.text("type").flatMap(Catalog.IntroductoryOffer.Kind.init(rawValue:))
        else { return nil }
        let price = offer.text("price").flatMap(Catalog.milliunits)
        switch kind {
        case .freeTrial:
            if let node = offer["price"] { complain(node, "a free_trial costs nothing; take its price out") }
        case .payUpFront, .payAsYouGo:
            if offer["price"] == nil { complain(offer.node, "a \(kind.rawValue) needs price; write price: 1.99") }
            if price == 0 {
                complain(offer["price"], "an offer that costs nothing is type: free_trial, without a price")
            }
        }
        guard let duration = offer.text("duration").flatMap(Catalog.OfferDuration.init) else { return nil }
        if kind == .freeTrial, !duration.isOfFreeTrials {
            warn(
                offer["duration"],
                "Apple has no free trial of \(duration): it has 3 days, 1 or 2 weeks, 1, 2, 3 or 6 months, and 1 year")
        }
        if kind == .payAsYouGo, let period, let renewal = period.renewal, !duration.isMultiple(of: renewal) {
            warn(
                offer["duration"],
                "a pay_as_you_go lasts so many of the product's periods; \(duration) is no number of a \(period.rawValue)"
            )
        }
        return Catalog.IntroductoryOffer(kind, for: duration, price: price)
    }
}
