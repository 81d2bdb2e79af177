/// Which accounts may be another thing under one catalog than under another, told from the catalogs alone.
///
/// The rules of an account's status (``AccountState``) ask a catalog for the order of the tiers, for what everybody has, and of each
/// product for its tier and for how long it lasts. Everything else, like names, prices and features, changes no account.
public struct CatalogChange: Sendable, Hashable {
    /// Whether any account may change.
    public private(set) var isOfAll = false
    /// Apple's ids of the products that give another thing.
    public private(set) var products: Set<String> = []
    /// The tiers that are only in one of the two: grants, changes of tier and trials may name them.
    public private(set) var tiers: Set<String> = []

    /// Whether no account can change.
    public var isOfNone: Bool { !isOfAll && products.isEmpty && tiers.isEmpty }

    /// What one catalog changes where another counted before.
    public init(from before: Catalog, to after: Catalog) {
        let (old, new) = (before.tiers.map(\.id), after.tiers.map(\.id))
        tiers = Set(old).symmetricDifference(new)
        // Ranks are compared and nothing else: as long as the tiers that stay keep their order, those between do not matter.
        isOfAll = before.free.id != after.free.id || old.filter(new.contains) != new.filter(old.contains)
        let (had, has) = (Self.worths(before), Self.worths(after))
        for (place, worth) in had where has[place] != worth { products.insert(place.productID) }
        for place in has.keys where had[place] == nil { products.insert(place.productID) }
    }

    private struct Place: Hashable {
        var productID: String
        var bundleID: String
    }

    /// What the rules ask of a product.
    private struct Worth: Hashable {
        /// Nil where the catalog has no such tier, and then it gives nothing.
        var tier: String?
        var isForLife: Bool
        var days: Int?
    }

    private static func worths(_ catalog: Catalog) -> [Place: Worth] {
        let pairs = catalog.products.map { product in
            (
                Place(productID: product.productID, bundleID: product.bundleID),
                Worth(
                    tier: catalog.tier(product.tier)?.id, isForLife: product.period == .lifetime, days: product.days)
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
