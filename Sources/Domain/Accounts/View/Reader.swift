package import Base
import Subscriptions

/// The reader that an answer is written for: by which catalog, and in which language.
package struct Reader: Sendable {
    /// The catalog that is current.
    package var catalog: Catalog
    /// What the reader understands, the most wanted first, as an `Accept-Language` lists it.
    package var languages: [String]

    /// A reader; in the catalog's own language by default.
    package init(_ catalog: Catalog, languages: [String] = []) {
        self.catalog = catalog
        self.languages = languages
    }

    /// A text in the reader's language, or nil.
    package func text(_ text: LocalizedText?) -> String? { text?[languages] }

    /// What customers call a tier; its id where the catalog does not say.
    package func name(ofTier tier: String) -> String { catalog.tier(tier)?.names?[languages] ?? tier }

    /// How long a purchase lasts each time: by the catalog, but for what was bought for good. Nil without a purchase, and of a
    /// subscription whose product the catalog does not know.
    package func period(of purchase: SubscriptionView?) -> Catalog.Period? {
        guard let purchase else { return nil }
        switch purchase.purchaseType {
        case .lifetime: return .lifetime
        case .term: return product(purchase)?.period ?? .term
        case .subscription: return product(purchase)?.period
        }
    }

    /// What the catalog says of a purchase's product; nil of one that it does not know.
    package func product(_ purchase: SubscriptionView) -> Catalog.Product? {
        catalog.product(purchase.productID ?? "", of: purchase.key.bundleID)
    }
}

/// What an answer of the account API looks like.
package typealias AccountShape<Subject: Sendable> = Shape<Subject, Reader>
