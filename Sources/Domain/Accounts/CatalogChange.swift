/// Which accounts may change between two catalogs, determined from the catalogs alone.
///
/// The rules of an account's status (``AccountState``) use a catalog's order of tiers, its free tier, and each
/// product's tier and length. Everything else, like names, prices and features, changes no account.
public struct CatalogChange: Sendable, Hashable {
    /// Whether any account may change.
    public private(set) var isOfAll = false
    /// Apple's ids of the products whose tier or length changes.
    public private(set) var products: Set<String> = []
    /// The tiers that only one of the two has: grants, changes of tier and trials may name them.
    public private(set) var tiers: Set<String> = []

    /// Whether no account can change.
    public var isOfNone: Bool { !isOfAll && products.isEmpty && tiers.isEmpty }

    /// The change from one catalog to another.
    public init(from before: Catalog, to after: Catalog) {
        let (old, new) = (before.tiers.map(\.id), after.tiers.map(\.id))
        tiers = Set(old).symmetricDifference(new)
        // Ranks are only compared: as long as the remaining tiers keep their order, those between do not matter.
        isOfAll = before.free.id != after.free.id || old.filter(new.contains) != new.filter(old.contains)
        let (had, has) = (Self.worths(before), Self.worths(after))
        for (place, worth) in had where has[place] != worth { products.insert(place.productID) }
        for place in has.keys where had[place] == nil { products.insert(place.productID) }
    }

    private struct Place: Hashable {
        var productID: String
        var bundleID: String
    }

    /// The part of a product that the rules use.
    private struct Worth: Hashable {
        /// Nil where the catalog has no such tier: the product gives nothing.
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
