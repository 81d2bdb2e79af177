/// What the Advanced Commerce API sold under one generic product: the part `advancedCommerceInfo` of a transaction.
public struct AdvancedCommerceRecord: Sendable, Hashable, Codable {
    /// One item sold.
    public struct Item: Sendable, Hashable, Codable {
        /// The seller's own identifier.
        public var sku: String
        /// The name shown to the customer.
        public var displayName: String
        /// The description shown to the customer.
        public var description: String
        /// Price in milliunits of the transaction's currency.
        public var price: Int64
    }

    /// The seller's reference, a UUID.
    public var requestReferenceId: String
    /// Apple's tax category.
    public var taxCode: String
    /// What was sold.
    public var items: [Item]

    func write(_ json: inout JSONObjectWriter) {
        json.member("requestReferenceId", requestReferenceId)
        json.member("taxCode", taxCode)
        json.objects("items", items) { item, json in
            json.member("SKU", item.sku)
            json.member("displayName", item.displayName)
            json.member("description", item.description)
            json.member("price", item.price)
        }
    }
}
