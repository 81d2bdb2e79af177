extension Catalog {
    /// A level of access. What it is worth is its place among the catalog's tiers.
    public struct Tier: Sendable, Hashable {
        /// Its id, of a to z, 0 to 9, _ and -, 64 at most.
        public var id: String
        /// What customers call it; nil where the file does not say.
        public var names: LocalizedText?

        /// A tier.
        public init(id: String, names: LocalizedText? = nil) {
            self.id = id
            self.names = names
        }
    }
}
