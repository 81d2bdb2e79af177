extension Catalog {
    /// The app's own trial: a tier for some days, once an account, without a purchase.
    public struct Trial: Sendable, Hashable {
        /// The tier that it gives.
        public var tier: String
        /// For how many days of 24 hours.
        public var days: Int
        /// The short ids of the products that it is offered with.
        public var products: [String]

        /// A trial.
        public init(tier: String, days: Int, products: [String] = []) {
            self.tier = tier
            self.days = days
            self.products = products
        }
    }
}
