/// A subscription's product, as the records name it.
public struct SubscribedProduct: Sendable, Hashable {
    /// The app's bundle id.
    public var bundleID: String
    /// Apple's id of the product; nil where no record says it.
    public var productID: String?
    /// The subscription group that Apple signed; nil where it is not known.
    public var groupID: String?

    /// A product.
    public init(_ productID: String?, of bundleID: String, inGroup groupID: String? = nil) {
        self.productID = productID
        self.bundleID = bundleID
        self.groupID = groupID
    }
}

extension Catalog {
    /// A subscription group of an app.
    public struct SubscriptionGroup: Sendable, Hashable {
        /// The app's bundle id.
        public var bundleID: String
        /// Apple's id of it; nil for the one of all products that name none.
        public var id: String?

        init(bundleID: String, id: String? = nil) {
            self.bundleID = bundleID
            self.id = id
        }
    }

    /// The group of a product.
    public func group(of product: Product) -> SubscriptionGroup {
        SubscriptionGroup(bundleID: product.bundleID, id: product.group)
    }

    /// The groups of what was bought: the one that the catalog has its product in, and the one that Apple signed, where a product of
    /// the catalog names that. They differ only where the catalog is wrong. What is in neither is in the group without a name.
    public func groups(of bought: SubscribedProduct) -> Set<SubscriptionGroup> {
        var groups: Set<SubscriptionGroup> = []
        if let product = bought.productID.flatMap({ product($0, of: bought.bundleID) }) {
            groups.insert(group(of: product))
        }
        let signed = SubscriptionGroup(bundleID: bought.bundleID, id: bought.groupID)
        if products.contains(where: { group(of: $0) == signed && $0.group != nil }) { groups.insert(signed) }
        return groups.isEmpty ? [SubscriptionGroup(bundleID: bought.bundleID)] : groups
    }
}
