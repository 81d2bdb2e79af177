public import Foundation

/// What is sold and what it gives: tiers, products, features with their limits, the app's own trial. All of it is the operator's,
/// out of one file.
public struct Catalog: Sendable, Hashable {
    /// In rising order. The first is what everybody has.
    public var tiers: [Tier]
    /// What is sold, in the file's order; ``productsToShow(of:)`` has them as a shop shows them.
    public var products: [Product] { didSet { places = Self.places(of: products) } }
    /// Where the products of each of Apple's ids stand: accounts are derived by the million, and each asks.
    private var places: [String: [Int]]
    /// What is allowed, counted or limited, by tier.
    public var features: [Feature]
    /// Other names under which the use of a feature is reported, each with the feature's id: `ai` is `ai_explain`.
    public var aliases: [String: String]
    /// The app's own trial, which has nothing to do with Apple's introductory offers; nil where there is none.
    public var trial: Trial?
    /// Whose days and months usage is counted by.
    public var timeZone: TimeZone
    /// So many days before its end an access is said to end soon.
    public var warningDays: Int
    /// What Apple is told when customers want their money back; nil where the file does not say, and then it has no say.
    public var refunds: ConsumptionPolicy?

    /// A catalog of these parts. That they fit together is looked after where a file is read.
    public init(
        tiers: [Tier], products: [Product] = [], features: [Feature] = [], aliases: [String: String] = [:],
        trial: Trial? = nil, timeZone: TimeZone = .gmt, warningDays: Int = Catalog.usualWarningDays,
        refunds: ConsumptionPolicy? = nil
    ) {
        self.tiers = tiers
        self.products = products
        places = Self.places(of: products)
        self.features = features
        self.aliases = aliases
        self.trial = trial
        self.timeZone = timeZone
        self.warningDays = warningDays
        self.refunds = refunds
    }

    /// ``warningDays``, where the file does not say.
    public static let usualWarningDays = 7

    /// What everybody has: the first tier.
    public var free: Tier { tiers.first ?? Tier(id: "free") }

    /// The tier of this id; nil where there is none.
    public func tier(_ id: String) -> Tier? { tiers.first { $0.id == id } }

    /// The place of a tier among ``tiers``, from 0 on: the higher, the more it is. Nil where there is no such tier.
    public func rank(of tier: String) -> Int? { tiers.firstIndex { $0.id == tier } }

    /// What the catalog knows of a product of Apple's; nil where it is not in it, and then a purchase of it gives nothing.
    public func product(_ productID: String, of bundleID: String) -> Product? {
        places[productID]?.first { products[$0].bundleID == bundleID }.map { products[$0] }
    }

    private static func places(of products: [Product]) -> [String: [Int]] {
        Dictionary(grouping: products.indices) { products[$0].productID }
    }

    /// The product of this short id; nil where there is none.
    public func product(id: String) -> Product? { products.first { $0.id == id } }

    /// The products of an app, or of all apps, as a shop shows them: by their sort order, and as in the file where that is equal.
    public func productsToShow(of bundleID: String? = nil) -> [Product] {
        products.enumerated().filter { bundleID == nil || $0.element.bundleID == bundleID }
            .sorted { ($0.element.sortOrder, $0.offset) < ($1.element.sortOrder, $1.offset) }
            .map(\.element)
    }

    /// The feature of this id; nil where there is none.
    public func feature(_ id: String) -> Feature? { features.first { $0.id == id } }

    /// The feature that a path of the API means: by its id, or by an alias.
    public func feature(named name: String) -> Feature? { feature(name) ?? aliases[name].flatMap { feature($0) } }

    /// Whether the app's own trial is offered with a product.
    public func offersTrial(with product: Product) -> Bool { trial?.products.contains(product.id) ?? false }
}
