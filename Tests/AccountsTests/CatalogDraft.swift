import Accounts
import Foundation

/// The parts of a catalog that a test changes; a catalog itself never changes.
struct CatalogDraft {
    var tiers: [Catalog.Tier]
    var products: [Catalog.Product]
    var features: [Catalog.Feature]
    var aliases: [String: String]
    var trial: Catalog.Trial?
    var timeZone: TimeZone
    var warningDays: Int
    var refunds: ConsumptionPolicy?

    init(_ catalog: Catalog) {
        tiers = catalog.tiers
        products = catalog.products
        features = catalog.features
        aliases = catalog.aliases
        trial = catalog.trial
        timeZone = catalog.timeZone
        warningDays = catalog.warningDays
        refunds = catalog.refunds
    }

    var catalog: Catalog {
        Catalog(
            tiers: tiers, products: products, features: features, aliases: aliases, trial: trial, timeZone: timeZone,
            warningDays: warningDays, refunds: refunds)
    }
}
