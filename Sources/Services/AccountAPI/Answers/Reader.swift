import APIKit
package import Accounts
import Base

/// For whom an answer is written: by which catalog, and in which language.
package struct Reader: Sendable {
    /// The catalog that is current.
    package var catalog: Catalog
    /// What the reader understands, the most wanted first, as an `Accept-Language` lists it.
    package var languages: [String]

    /// A reader; in the catalog's own language unless told.
    package init(_ catalog: Catalog, languages: [String] = []) {
        self.catalog = catalog
        self.languages = languages
    }

    /// A text in the reader's language, or null.
    func text(_ text: LocalizedText?) -> JSONValue { .text(text?[languages]) }

    /// What customers call a tier; its id where the catalog does not say.
    func name(ofTier tier: String) -> String { catalog.tier(tier)?.names?[languages] ?? tier }
}
