public import Base

extension Catalog {
    /// A level of access. Its rank is its index among the catalog's tiers.
    public struct Tier: Sendable, Hashable {
        /// Its id, of a to z, 0 to 9, _ and -, at most 64 characters.
        public var id: String
        /// Its name for customers; nil where the file has none.
        public var names: LocalizedText?

        /// A tier.
        public init(id: String, names: LocalizedText? = nil) {
            self.id = id
            self.names = names
        }
    }
}
