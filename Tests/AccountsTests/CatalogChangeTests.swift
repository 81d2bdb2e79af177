import Accounts
import AppStorePayloads
import TestSupport
import Testing

/// Which accounts a change of catalogs may concern.
struct CatalogChangeTests {
    @Test func `Whoever a change does not concern is the same under both catalogs, at every instant`() {
        var generator = SeededGenerator()
        var (same, changed) = (0, 0)
        let count = samples(of: 20_000)
        for number in 0..<count {
            let facts = RandomAccount.facts(&generator)
            let (before, after) = (RandomAccount.catalog(&generator), RandomAccount.catalog(&generator))
            let states = (AccountState(facts, catalog: before), AccountState(facts, catalog: after))
            if CatalogChange(from: before, to: after).concerns(facts) {
                changed += states.0 == states.1 ? 0 : 1
            } else {
                same += 1
                guard states.0 == states.1 else {
                    Issue.record("account \(number), seed \(generator.seed): \(states), \(facts)")
                    return
                }
            }
        }
        #expect(
            isEnough(same, of: count / 20) && isEnough(changed, of: count / 20),
            "\(same) and \(changed) are too few to tell, seed \(generator.seed)")
    }

    @Test func `Names, prices, features and texts concern nobody`() {
        var after = CatalogDraft(shop)
        after.products[0].price = 12_000
        after.products[0].currency = "CNY"
        after.products[1].names = LocalizedText("Best")
        after.products.swapAt(0, 1)
        after.features = [Catalog.Feature(id: "export", limits: [:])]
        after.trial = nil
        after.warningDays = 3
        #expect(CatalogChange(from: shop, to: after.catalog).isOfNone)
    }

    @Test func `A tier more concerns who was granted it; another order of tiers concerns everybody`() {
        var more = CatalogDraft(shop)
        more.tiers.insert(Catalog.Tier(id: "plus"), at: 1)
        let change = CatalogChange(from: shop, to: more.catalog)
        #expect(!change.isOfAll && change.tiers == ["plus"] && change.products.isEmpty)
        var turned = CatalogDraft(shop)
        turned.tiers.swapAt(1, 2)
        #expect(CatalogChange(from: shop, to: turned.catalog).isOfAll)
        var others = CatalogDraft(shop)
        others.tiers.insert(Catalog.Tier(id: "nothing"), at: 0)
        #expect(CatalogChange(from: shop, to: others.catalog).isOfAll)
    }

    @Test func `Another duration of a term concerns who bought it`() {
        var after = CatalogDraft(shop)
        after.products[3].lasts = 11
        #expect(CatalogChange(from: shop, to: after.catalog).products == ["premium.pass"])
    }
}

extension CatalogChange {
    /// What the store asks in SQL.
    fileprivate func concerns(_ facts: AccountFacts) -> Bool {
        let bought = facts.lines.flatMap { line -> [String?] in
            switch line.content {
            case .subscription(let phases): phases.map(\.productID)
            case .oneTime(let bought): [bought.productID]
            }
        }
        let named = facts.acts.compactMap { act -> String? in
            switch act.kind {
            case .grant(let tier, _), .changeTier(let tier): tier
            case .extend, .revoke, .unrevoke: nil
            }
        }
        return isOfAll || bought.compactMap(\.self).contains(where: products.contains)
            || (named + [facts.trial?.tier].compactMap(\.self)).contains(where: tiers.contains)
    }
}
