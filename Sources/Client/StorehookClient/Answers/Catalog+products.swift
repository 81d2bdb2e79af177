extension Catalog {
    /// Apple's ids of all products, in the catalog's order.
    public var productIDs: [String] { products.map(\.productID) }

    /// The product that Apple calls so; nil where the catalog lacks it.
    public func product(_ productID: String) -> CatalogProduct? { products.first { $0.productID == productID } }
}
