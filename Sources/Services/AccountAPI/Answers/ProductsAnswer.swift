import APIKit
import Accounts
import Base

/// `GET /v1/products`: what a paywall shows.
struct ProductsAnswer: Sendable, Hashable {
    /// What is sold, as a shop shows it.
    var products: [Catalog.Product]
    /// Whether the account may start the app's own trial.
    var trial: TrialEligibility
    /// What decides about Apple's introductory offers.
    var introductory: IntroductoryHistory

    /// An answer.
    init(
        _ products: [Catalog.Product], trial: TrialEligibility,
        introductory: IntroductoryHistory = IntroductoryHistory()
    ) {
        self.products = products
        self.trial = trial
        self.introductory = introductory
    }

    private static let feature = AccountShape<(feature: Catalog.Feature, tier: String)>(
        "TierFeature",
        [
            .init("feature") { $0.feature.id },
            .read("name") { $1.text($0.feature.names) },
            .read("unit", "What is counted.") { $1.text($0.feature.units) },
            .init("allowed") { $0.feature.limit(in: $0.tier).isOpen },
            .init("isUnlimited") { $0.feature.limit(in: $0.tier).isUnlimited },
            .init("limit", "How much in a period; null where there is no limit.") { offer -> Int64? in
                if case .count(let count, _) = offer.feature.limit(in: offer.tier) { count } else { nil }
            },
            .init("period") { offer -> Catalog.UsagePeriod? in
                if case .count(_, let period) = offer.feature.limit(in: offer.tier) { period } else { nil }
            },
        ])

    private static let tier = AccountShape<(tier: String, features: JSONValue)>(
        "Tier",
        [
            .init("tier") { $0.tier },
            .read("name") { $1.name(ofTier: $0.tier) },
            .init("features", .array(feature.schema), "In the catalog's order.") { $0.features },
        ])

    /// What a tier gives of every feature.
    private static func features(of tier: String, for reader: Reader) -> JSONValue {
        .array(reader.catalog.features.map { feature.value(of: ($0, tier), for: reader) })
    }

    /// A product, beside the account and what its tier gives.
    private struct Item: Sendable {
        var product: Catalog.Product
        var account: ProductsAnswer
        var features: JSONValue

        func eligibility(by catalog: Catalog) -> IntroductoryEligibility {
            account.introductory.eligibility(for: product, by: catalog)
        }
    }

    private static let introductory = AccountShape<(offer: Catalog.IntroductoryOffer, item: Item)>(
        "IntroductoryOffer",
        [
            .init("type") { $0.offer.kind },
            .init("duration", "ISO 8601, as Apple writes an offerPeriod: P7D.") { $0.offer.duration.iso8601 },
            .read("displayDuration", "The duration for people, in the language asked for.") {
                $0.offer.duration.names[$1.languages]
            },
            .init(
                "price",
                "In thousandths of the product's currency: of the whole time, with pay_as_you_go of each period; null for a free_trial."
            ) { $0.offer.price },
            .init("displayPrice") { $0.item.product.display($0.offer.price) },
            .read(
                "eligible",
                "Whether this account may have it, by the purchases that are known here; StoreKit's answer on the device goes first."
            ) { $0.item.eligibility(by: $1.catalog).isEligible },
            .read("reason", "Why not.") { $0.item.eligibility(by: $1.catalog).reason },
        ])

    private static let product = AccountShape<Item>(
        "Product",
        [
            .init("id", "The catalog's id.") { $0.product.id },
            .init("productId", "Apple's id.") { $0.product.productID },
            .init("bundleId", "The app.") { $0.product.bundleID },
            .read("name") { $0.product.names?[$1.languages] ?? $0.product.id },
            .read("description") { $1.text($0.product.texts) },
            .init("price", "In thousandths of the currency. What is paid is Apple's to say.") { $0.product.price },
            .init("currency", "ISO 4217.") { $0.product.currency },
            .read("displayPrice") { $0.product.displayPrice($1.languages) },
            .init("pricePerDay", "In thousandths of the currency.") { $0.product.pricePerDay() },
            .init("displayPricePerDay") { $0.product.displayPricePerDay },
            .init("period") { $0.product.period },
            .read("periodName") { $1.text($0.product.periodNames) },
            .init("tier") { $0.product.tier },
            .read("tierName") { $1.name(ofTier: $0.product.tier) },
            .init("features", .array(feature.schema), "What its tier gives.") { $0.features },
            .init("sortOrder") { $0.product.sortOrder },
            .init("isPopular") { $0.product.isPopular },
            .read(
                "trial", .nullable(TrialAnswers.offer.schema), "The app's own trial, where this account may start it."
            ) {
                guard $0.account.trial.isEligible, $1.catalog.offersTrial(with: $0.product),
                    let trial = $1.catalog.trial
                else { return .null }
                return TrialAnswers.offer.value(of: trial, for: $1)
            },
            .nullable("introductory", introductory, about: "Apple's introductory offer of it.") { item in
                item.product.introductory.map { ($0, item) }
            },
        ])

    /// An answer with the features of all tiers, each written once: a tier has them beside its own name and at each of its products.
    private struct Written: Sendable {
        var answer: ProductsAnswer
        var features: [String: JSONValue]

        init(_ answer: ProductsAnswer, for reader: Reader) {
            self.answer = answer
            features = Dictionary(
                reader.catalog.tiers.map { ($0.id, ProductsAnswer.features(of: $0.id, for: reader)) }
            ) { first, _ in first }
        }

        func features(of tier: String) -> JSONValue { features[tier] ?? .array([]) }
    }

    private static let written = AccountShape<Written>(
        "ProductList",
        [
            .read("products", .array(product.schema)) { written, reader in
                .array(
                    written.answer.products.map {
                        product.value(
                            of: Item(
                                product: $0, account: written.answer, features: written.features(of: $0.tier)),
                            for: reader)
                    })
            },
            .read(
                "tiers", .array(tier.schema),
                "All tiers in rising order, sold or not, to be compared: what each gives of every feature."
            ) { written, reader in
                .array(
                    reader.catalog.tiers.map {
                        tier.value(of: ($0.id, written.features(of: $0.id)), for: reader)
                    })
            },
            .read("trial", TrialAnswers.eligibility.schema, "Whether this account may start the app's own trial.") {
                TrialAnswers.eligibility.value(of: $0.answer.trial, for: $1)
            },
        ])

    /// What it looks like.
    static var schema: ValueSchema { written.schema }

    /// The answer for a reader.
    func value(for reader: Reader) -> JSONValue { Self.written.value(of: Written(self, for: reader), for: reader) }
}

extension Catalog.IntroductoryOffer.Kind: NamedWords {
    package static let schemaName = "IntroductoryOfferType"
}

extension Catalog.Product {
    /// The price for people: as the catalog writes it, else made of price and currency; nil where it has none.
    func displayPrice(_ languages: [String]) -> String? {
        priceTexts?[languages] ?? display(price)
    }

    /// The price of a day for people; nil where there is none.
    var displayPricePerDay: String? { display(pricePerDay()) }

    /// An amount in the product's currency for people; nil where there is none.
    fileprivate func display(_ milliunits: Int64?) -> String? {
        guard let milliunits, let currency else { return nil }
        return MoneyText.of(milliunits, currency)
    }
}
