public import Foundation

/// What is sold and what it gives: tiers, products, features with their limits, the app's own trial. The operator
/// defines it in one file.
/// One object that all readers share: an account is read with it, and copied on its way to an answer.
public final class Catalog: Sendable {
    /// In rising order. Every account has the first.
    public let tiers: [Tier]
    /// The products, in the file's order; ``productsToShow(of:)`` returns the order for display.
    public let products: [Product]
    /// The indices of the products by Apple's ids: millions of accounts are derived, and each looks products up.
    private let places: [String: [Int]]
    /// What is allowed, counted or limited, by tier.
    public let features: [Feature]
    /// Other names for reports of a feature's use, each with the feature's id: `ai` is `ai_explain`.
    public let aliases: [String: String]
    /// The app's own trial, which has nothing to do with Apple's introductory offers; nil where there is none.
    public let trial: Trial?
    /// The time zone of the days and months that usage is counted by.
    public let timeZone: TimeZone
    /// The currency of figures of money (ISO 4217); nil for each currency by itself.
    public let reportingCurrency: String?
    /// Whether figures are kept by the months of Apple's fiscal year, too.
    public let hasFiscalMonths: Bool
    /// How many days before its end an access counts as ending soon.
    public let warningDays: Int
    /// The policy for Apple's refund requests; nil where the file has none: then it does not apply.
    public let refunds: ConsumptionPolicy?

    /// A catalog of these parts. Reading a file checks that they fit together.
    public init(
        tiers: [Tier], products: [Product] = [], features: [Feature] = [], aliases: [String: String] = [:],
        trial: Trial? = nil, timeZone: TimeZone = .gmt, reportingCurrency: String? = nil,
        hasFiscalMonths: Bool = false, warningDays: Int = Catalog.usualWarningDays, refunds: ConsumptionPolicy? = nil
    ) {
        self.tiers = tiers
        self.products = products
        places = Self.places(of: products)
        self.features = features
        self.aliases = aliases
        self.trial = trial
        self.timeZone = timeZone
        self.reportingCurrency = reportingCurrency
        self.hasFiscalMonths = hasFiscalMonths
        self.warningDays = warningDays
        self.refunds = refunds
    }

    /// ``warningDays`` by default.
    public static let usualWarningDays = 7

    /// The first tier, which every account has.
    public var free: Tier { tiers.first ?? Tier(id: "free") }

    /// The tier with this id; nil where there is none.
    public func tier(_ id: String) -> Tier? { tiers.first { $0.id == id } }

    /// A tier's index in ``tiers``, from 0 on: a higher tier has a higher one. Nil where there is no such tier.
    public func rank(of tier: String) -> Int? { tiers.firstIndex { $0.id == tier } }

    /// The catalog's entry for a product of Apple's; nil where it has none: a purchase of it gives nothing.
    public func product(_ productID: String, of bundleID: String) -> Product? {
        places[productID]?.first { products[$0].bundleID == bundleID }.map { products[$0] }
    }

    /// The rank of the tier that a product of Apple's gives; nil where it gives none.
    package func rank(ofProduct productID: String, of bundleID: String) -> Int? {
        product(productID, of: bundleID).flatMap { rank(of: $0.tier) }
    }

    private static func places(of products: [Product]) -> [String: [Int]] {
        Dictionary(grouping: products.indices) { products[$0].productID }
    }

    /// The product with this short id; nil where there is none.
    public func product(id: String) -> Product? { products.first { $0.id == id } }

    /// The products of an app, or of all apps, in the order for display: by sort order, ties in the file's order.
    public func productsToShow(of bundleID: String? = nil) -> [Product] {
        products.enumerated().filter { bundleID == nil || $0.element.bundleID == bundleID }
            .sorted { ($0.element.sortOrder, $0.offset) < ($1.element.sortOrder, $1.offset) }
            .map(\.element)
    }

    /// The feature with this id; nil where there is none.
    public func feature(_ id: String) -> Feature? { features.first { $0.id == id } }

    /// The feature that a path of the API names: by its id, or by an alias.
    public func feature(named name: String) -> Feature? { feature(name) ?? aliases[name].flatMap { feature($0) } }

    /// Whether the app's own trial is offered with a product.
    public func offersTrial(with product: Product) -> Bool { trial?.products.contains(product.id) ?? false }
}

extension Catalog: Hashable {
    /// Whether the two say the same.
    public static func == (a: Catalog, b: Catalog) -> Bool {
        a === b
            || a.tiers == b.tiers && a.products == b.products && a.features == b.features && a.aliases == b.aliases
                && a.trial == b.trial && a.timeZone == b.timeZone && a.reportingCurrency == b.reportingCurrency
                && a.hasFiscalMonths == b.hasFiscalMonths && a.warningDays == b.warningDays && a.refunds == b.refunds
    }

    /// By tiers and products, which nearly always differ where catalogs do.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(tiers)
        hasher.combine(products)
    }
}
