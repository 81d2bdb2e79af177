import Accounts
import AppStorePayloads
import Base
import Subscriptions
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

    @Test func `What an act was about stays what it was, whatever a later catalog makes of its instant`() {
        // Two that give pro: the one for life decides. Later the other gives premium.
        let lines = [
            bought(1, "pro.forever", .nonConsumable, at: 1, revoked: 60),
            subscription(2, [(2, .active, "pro.monthly"), (70, .expired, "pro.monthly")]),
        ]
        var draft = CatalogDraft(shop)
        draft.products[0].tier = "premium"
        var timeline = CatalogTimeline(shop)
        timeline.append(draft.catalog, from: day(20))
        func state(_ kind: StaffAct.Kind, from: Double = 0) -> AccountState {
            AccountState(
                AccountFacts(account: ann, lines: lines, acts: acts([(10, kind)])), by: timeline, from: day(from))
        }
        for from in [0.0, 30, 61] {
            let days = [15.0, 25, 59, 61, 69, 71].filter { $0 >= from }
            func told(_ state: AccountState) -> [String] { days.map { state.on($0) } }
            #expect(
                told(state(.changeTier(to: "premium"), from: from))
                    == Array(
                        [
                            "active premium apple", "active premium apple", "active premium apple",
                            "active premium apple",
                            "active premium apple", "expired free apple",
                        ].suffix(days.count)))
            #expect(
                told(state(.changeTier(to: "free"), from: from))
                    == Array(
                        [
                            "free free apple", "free free apple", "free free apple", "active premium apple",
                            "active premium apple", "expired free apple",
                        ].suffix(days.count)))
        }
        // Days go on with the tier that the account had.
        let month = [subscription(2, [(2, .active, "pro.monthly"), (30, .expired, "pro.monthly")])]
        let extended = AccountState(
            AccountFacts(account: ann, lines: month, acts: acts([(10, .extend(days: 5))])), by: timeline)
        #expect(
            [25, 31, 36].map { extended.on($0) } == ["active premium apple", "active pro grant", "expired free grant"])
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
