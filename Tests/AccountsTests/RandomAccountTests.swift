import Accounts
import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

/// What holds of an account's phases whatever the facts are, also of facts that no line would come to.
struct RandomAccountTests {
    @Test func `No order of purchases, acts and bindings changes anything`() {
        var generator = SeededGenerator()
        for number in 0..<samples(of: 2_000) {
            let (facts, catalog) = (RandomAccount.facts(&generator), RandomAccount.catalog(&generator))
            var shuffled = facts
            shuffled.lines.shuffle(using: &generator)
            shuffled.acts.shuffle(using: &generator)
            for index in shuffled.lines.indices {
                shuffled.lines[index].ownership = PurchaseOwnership(
                    shuffled.lines[index].ownership.bindings.shuffled(using: &generator))
            }
            #expect(
                AccountState(shuffled, catalog: catalog) == AccountState(facts, catalog: catalog),
                "account \(number), seed \(generator.seed)")
        }
    }

    @Test func `Each phase differs from the one before it, and they are in order`() {
        var generator = SeededGenerator()
        for _ in 0..<samples(of: 2_000) {
            let state = AccountState(RandomAccount.facts(&generator), catalog: RandomAccount.catalog(&generator))
            #expect(state.phases.first?.startsAt == .distantPast)
            for (phase, next) in zip(state.phases, state.phases.dropFirst()) {
                var moved = next
                moved.startsAt = phase.startsAt
                #expect(phase.startsAt < next.startsAt && moved != phase, "seed \(generator.seed)")
            }
        }
    }
}

/// Accounts with everything that may happen, on so few days that much of it meets.
enum RandomAccount {
    private static let accounts = [ann, bob, eve]
    private static let products = ["pro.monthly", "premium.monthly", "pro.forever", "premium.pass", "unknown"]

    static func catalog(_ generator: inout SeededGenerator) -> Catalog {
        var draft = CatalogDraft(shop)
        draft.products.removeAll { _ in Int.random(in: 0..<8, using: &generator) == 0 }
        for index in draft.products.indices where Int.random(in: 0..<6, using: &generator) == 0 {
            draft.products[index].tier = draft.tiers.randomElement(using: &generator)?.id ?? "pro"
        }
        if Int.random(in: 0..<8, using: &generator) == 0 { draft.tiers.swapAt(1, 2) }
        if Int.random(in: 0..<12, using: &generator) == 0 { draft.tiers.removeLast() }
        return draft.catalog
    }

    static func facts(_ generator: inout SeededGenerator) -> AccountFacts {
        let lines = (0..<Int.random(in: 0...4, using: &generator)).map { line($0 + 1, &generator) }
        let acts = (0..<Int.random(in: 0...5, using: &generator)).map {
            StaffAct(id: Int64($0 + 1), at: instant(&generator), kind: kind(&generator))
        }
        var trial: StartedTrial?
        if Bool.random(using: &generator) {
            let start = instant(&generator)
            trial = StartedTrial(
                tier: ["pro", "premium", "gone"].randomElement(using: &generator) ?? "pro", startedAt: start,
                endsAt: start.adding(days: Int64.random(in: 1...14, using: &generator)))
        }
        return AccountFacts(account: ann, lines: lines, acts: acts, trial: trial)
    }

    private static func instant(_ generator: inout SeededGenerator) -> Timestamp {
        day(Double(Int.random(in: 0...80, using: &generator)) / 2)
    }

    private static func kind(_ generator: inout SeededGenerator) -> StaffAct.Kind {
        let tier = ["free", "pro", "premium", "gone"].randomElement(using: &generator) ?? "pro"
        return switch Int.random(in: 0..<6, using: &generator) {
        case 0: .grant(tier: tier, days: Int64.random(in: 1...12, using: &generator))
        case 1, 2: .extend(days: Int64.random(in: 1...6, using: &generator))
        case 3: .revoke
        case 4: .unrevoke
        default: .changeTier(to: tier)
        }
    }

    private static func line(_ number: Int, _ generator: inout SeededGenerator) -> AccountLine {
        let bindings = (0..<max(0, Int.random(in: -2...3, using: &generator))).map {
            PurchaseBinding(
                id: Int64(number * 10 + $0),
                kind: PurchaseBinding.Kind.allCases.randomElement(using: &generator) ?? .proof,
                account: accounts.randomElement(using: &generator) ?? ann, at: instant(&generator))
        }
        let content = Int.random(in: 0..<4, using: &generator) == 0 ? once(&generator) : phases(&generator)
        var ends: [StretchEnd] = []
        if Int.random(in: 0..<3, using: &generator) == 0 {
            ends = Set((0..<Int.random(in: 1...2, using: &generator)).map { _ in instant(&generator) }).sorted()
                .map { StretchEnd(at: $0, account: account(&generator)) }
        }
        if case .oneTime = content { ends = [] }
        return AccountLine(
            key: key(number), content: content, ownership: PurchaseOwnership(bindings), stretchEnds: ends)
    }

    private static func account(_ generator: inout SeededGenerator) -> UniqueIdentifier? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: nil
        case 1: accounts.randomElement(using: &generator)
        default: ann
        }
    }

    private static func once(_ generator: inout SeededGenerator) -> AccountLine.Content {
        let at = instant(&generator)
        return .oneTime(
            AccountLine.BoughtOnce(
                kind: OneTimePurchase.Kind.allCases.randomElement(using: &generator) ?? .nonConsumable,
                productID: products.randomElement(using: &generator), purchasedAt: at,
                expiresAt: Bool.random(using: &generator)
                    ? at.adding(days: Int64.random(in: 1...20, using: &generator)) : nil,
                revokedAt: Int.random(in: 0..<4, using: &generator) == 0
                    ? at.adding(days: Int64.random(in: 0...20, using: &generator)) : nil,
                signedAccount: account(&generator)))
    }

    private static func phases(_ generator: inout SeededGenerator) -> AccountLine.Content {
        let starts = Set((0..<Int.random(in: 1...7, using: &generator)).map { _ in instant(&generator) }).sorted()
        var (product, signed) = (products.randomElement(using: &generator), account(&generator))
        var bought: Timestamp?
        return .subscription(
            starts.map { start in
                if Int.random(in: 0..<4, using: &generator) == 0 { product = products.randomElement(using: &generator) }
                if Int.random(in: 0..<5, using: &generator) == 0 { signed = account(&generator) }
                let status = SubscriptionStatus.allCases.randomElement(using: &generator) ?? .active
                if Int.random(in: 0..<5, using: &generator) == 0 { bought = start }
                let isCharged = Int.random(in: 0..<3, using: &generator) == 0
                let upcoming = Int.random(in: 0..<8, using: &generator) == 0 ? account(&generator) : nil
                return LinePhase(
                    startsAt: start, status: status, productID: product,
                    accessUntil: start.adding(days: Int64.random(in: 1...6, using: &generator)),
                    inTrial: status == .trial, willRenew: status == .active || Bool.random(using: &generator),
                    signedAccount: upcoming == nil ? signed : nil, upcomingAccount: upcoming,
                    periodEndsAt: start.adding(days: 1), boughtAt: bought,
                    chargedAt: isCharged ? start.adding(days: -1) : nil,
                    namedProductID: products.randomElement(using: &generator))
            })
    }
}
