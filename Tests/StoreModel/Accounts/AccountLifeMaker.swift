/// Makes random lives of accounts: what they bought, under which account, what they proved, and what staff did.
package struct AccountLifeMaker {
    /// What is sold: three tiers, subscriptions of two of them, and what is bought once.
    package static let catalog = LifeCatalog(
        tiers: ["free", "pro", "premium"],
        products: ["basic": "pro", "solo": "pro", "plus": "premium", "forever": "pro", "pass": "premium"],
        termDays: ["pass": 10])

    private static let tokenSet = "token set"

    private let number: Int
    private let features: Set<LifeFeature>
    /// The account that is judged, and two more.
    private let accounts: [String]
    private var random: ModelRandom
    private var life: AccountLife
    private var claims: [(at: Int64, line: String, account: String, kind: LifeBinding.Kind)] = []
    private var begins: Int64 = .max
    private var ends: Int64 = .min

    private init(seed: UInt64, number: Int, features: Set<LifeFeature>) {
        random = ModelRandom(seed: seed)
        self.number = number
        self.features = features
        accounts = ["a", "b", "e"].map { "\($0)0000000-0000-4000-8000-\(100_000_000_000 + number)" }
        life = AccountLife(
            account: accounts[0], catalog: Self.catalog,
            leeway: random.pick([0, 600 * ModelTime.second, ModelTime.hour]))
        life.seed = seed
    }

    /// The life that belongs to a seed. Lives of different numbers have no account and no purchase in common.
    /// - Parameters:
    ///   - features: what may be in it.
    ///   - isLossy: whether one message is lost for ever.
    ///   - leeway: in milliseconds; by default one of the life's own.
    package static func life(
        seed: UInt64, number: Int = 0, with features: Set<LifeFeature> = LifeFeature.first,
        losing isLossy: Bool = false, leeway: Int64? = nil
    ) -> AccountLife {
        var maker = AccountLifeMaker(seed: seed, number: number, features: features)
        if let leeway { maker.life.leeway = leeway }
        maker.shop()
        if features.contains(.claims) { maker.claim() }
        maker.act()
        if features.contains(.catalogs) { maker.changeCatalog() }
        if isLossy {
            let heard = maker.life.messages.indices.filter { maker.life.messages[$0].name != Self.tokenSet }
            maker.life.messages.remove(at: heard[Int(maker.random.between(0, Int64(heard.count) - 1))])
        }
        return maker.life
    }

    // MARK: - Purchases

    private mutating func shop() {
        let start = 1_700_000_000_000 + random.between(0, 100 * ModelTime.day)
        for place in 0..<Int(random.between(1, 3)) {
            let line = String(10_000_000 * (number + 1) + 1_000_000 * place)
            let at = start + random.between(0, 90 * ModelTime.day)
            if random.chance(25) { once(line, at: at) } else { subscribe(line, at: at) }
        }
        begins = life.messages.map(\.signed).min() ?? start
        ends = (life.messages.map(\.signed).max() ?? start) + 40 * ModelTime.day
    }

    private mutating func subscribe(_ line: String, at start: Int64) {
        let tokens: [String?] =
            switch random.between(0, 9) {
            case 0...3: [accounts[0]]
            case 4...5: [nil]
            case 6: features.contains(.nobody) ? [nil, LifeShop.nobody] : [nil]
            case 7: [accounts[0], accounts[0], nil]
            default: [accounts[0], accounts[1], nil]
            }
        let shop = LifeShop(
            line, random: ModelRandom(seed: random.next()), start: start, tokens: tokens,
            seams: Int(random.between(1, 5)), features: features)
        life.messages += shop.messages
        for at in shop.proofs { claim(line, at: at + 1_000) }
    }

    private mutating func once(_ line: String, at start: Int64) {
        let first = life.messages.count
        sell(line, at: start)
        if features.contains(.claims) { setToken(from: first) }
    }

    /// The app's server gives something bought once to another account by Apple's API, which signs it anew.
    private mutating func setToken(from first: Int) {
        var own = ModelRandom(seed: life.seed ^ UInt64(first + 1) << 32)
        guard own.chance(30) else { return }
        let place = Int(own.between(Int64(first), Int64(life.messages.count) - 1))
        let next = place + 1 < life.messages.count ? life.messages[place + 1].signed : .max
        var message = life.messages[place]
        message.signed = own.between(message.signed + 1, min(next - 1, message.signed + 20 * ModelTime.day))
        message.name = Self.tokenSet
        message.transaction?.signed = message.signed
        life.messages.insert(message, at: place + 1)
        let token = own.pick(accounts)
        for later in life.messages.indices.suffix(from: place + 1) { life.messages[later].transaction?.token = token }
    }

    private mutating func sell(_ line: String, at start: Int64) {
        let product = random.pick(["forever", "forever", "pass", "coins"])
        var bought = LifeTransaction(
            id: line, line: line, product: product, purchased: start, expires: nil, reason: "PURCHASE",
            token: random.pick([
                accounts[0], accounts[0], accounts[1], nil, nil, features.contains(.nobody) ? LifeShop.nobody : nil,
            ]))
        bought.kind = product == "forever" ? .forever : product == "pass" ? .term : .consumable
        var now = start
        func tell(_ name: String, _ random: inout ModelRandom, _ messages: inout [LifeMessage]) {
            now += random.between(2, 30) * ModelTime.second
            bought.signed = now
            messages.append(LifeMessage(name: name, signed: now, line: line, transaction: bought))
        }
        tell("ONE_TIME_CHARGE", &random, &life.messages)
        if random.chance(50) {
            now += random.between(ModelTime.hour, 20 * ModelTime.day)
            claim(line, at: now)
        }
        if features.contains(.boughtAgain), bought.kind == .forever { return buyAgain(bought, after: now) }
        guard random.chance(35), features.contains(.refundedThings) else { return }
        now += random.between(ModelTime.hour, 30 * ModelTime.day)
        bought.revoked = now
        tell("REFUND", &random, &life.messages)
        guard random.chance(50) else { return }
        now += random.between(ModelTime.hour, 30 * ModelTime.day)
        bought.revoked = nil
        tell("REFUND_REVERSED", &random, &life.messages)
    }

    /// What was bought for good is restored, refunded, perhaps given back, and bought again, more than once.
    private mutating func buyAgain(_ first: LifeTransaction, after instant: Int64) {
        var (bought, now) = (first, instant)
        for number in 1...4 {
            now += random.between(ModelTime.hour, 10 * ModelTime.day)
            switch random.between(0, 2) {
            case 0 where bought.revoked == nil:
                var copy = bought
                copy.id = "6\(first.id)\(number)"
                (copy.purchased, copy.firstPurchased) = (now, bought.purchased)
                tell("restored", copy, &now)
            case 0,
                1 where bought.revoked != nil:
                bought = first
                bought.id = "8\(first.id)\(number)"
                bought.purchased = now
                tell("ONE_TIME_CHARGE", bought, &now)
            case 1:
                bought.revoked = now
                tell("REFUND", bought, &now)
            default:
                guard bought.revoked != nil else { continue }
                bought.revoked = nil
                tell("REFUND_REVERSED", bought, &now)
            }
        }
    }

    private mutating func tell(_ name: String, _ record: LifeTransaction, _ now: inout Int64) {
        now += random.between(2, 30) * ModelTime.second
        var record = record
        record.signed = now
        life.messages.append(LifeMessage(name: name, signed: now, line: record.line, transaction: record))
    }

    // MARK: - Whose

    private mutating func claim(_ line: String, at instant: Int64) {
        claims.append((instant, line, random.pick(accounts), .proof))
    }

    private mutating func claim() {
        for line in life.lines where random.chance(20) {
            let first = life.messages.filter { $0.line == line }.map(\.signed).min() ?? begins
            claims.append((random.between(first, ends), line, random.pick(accounts), .staff))
        }
        let mayTransfer = random.chance(50)
        if features.contains(.erasedAccount) {
            var own = ModelRandom(seed: life.seed ^ 0xE7A5)
            let erased = own.between(begins, ends)
            life.erased = erased
            // Who was erased may come back.
            for line in life.lines where own.chance(50) {
                claims.append((own.between(erased + 1, ends + 1), line, accounts[0], .proof))
            }
        }
        var isErased = false
        func eraseOnce(by instant: Int64) {
            guard let erased = life.erased, erased <= instant, !isErased else { return }
            isErased = true
            eraseAccount(at: erased)
        }
        for (place, claim) in claims.sorted(by: { $0.at < $1.at }).enumerated() {
            eraseOnce(by: claim.at)
            let kind =
                claim.kind == .proof
                ? self.claim(claim.line, by: claim.account, at: claim.at, mayTransfer: mayTransfer) : claim.kind
            guard let kind else { continue }
            life.bindings[claim.line, default: []].append(
                LifeBinding(id: Int64(place + 1), kind: kind, account: claim.account, at: claim.at))
        }
        eraseOnce(by: .max)
        if random.chance(20), life.erased == nil { erase() }
    }

    /// The judged account is erased: what it has is free, whichever account Apple signed it for.
    private mutating func eraseAccount(at instant: Int64) {
        for (place, line) in life.lines.enumerated() {
            let heard = life.messages.filter { $0.line == line && $0.signed <= instant }
            let owners = OwnerModel(life.bindings[line] ?? [])
            let owner =
                ThingModel(heard).map { owners.owner(of: $0, at: instant) }
                ?? owners.owner(of: LineModel(heard, leeway: life.leeway), at: instant)
            guard !heard.isEmpty, owner == accounts[0] else { continue }
            let tokens = heard.flatMap { [$0.transaction?.token, $0.renewal?.token] }.compactMap { $0 }
            let freed = Set(tokens).subtracting([LifeShop.nobody]).union([accounts[0]])
            life.bindings[line, default: []] += freed.sorted().map {
                LifeBinding(id: Int64(100 + place), kind: .erasure, account: $0, at: instant)
            }
        }
    }

    /// Another account is erased, and the judged one proves what it had.
    private mutating func erase() {
        let at = random.between(begins, ends)
        for (place, line) in life.lines.enumerated() {
            let heard = life.messages.filter { $0.line == line && $0.signed <= at }
            let had =
                heard.contains { $0.transaction?.token == accounts[1] }
                || (life.bindings[line] ?? []).contains { $0.account == accounts[1] && $0.at <= at }
            // What the judged account had before belongs to other stories.
            let isOurs =
                heard.contains { $0.transaction?.token == accounts[0] }
                || (life.bindings[line] ?? []).contains { $0.account == accounts[0] && $0.at <= at }
            guard had, !isOurs else { continue }
            let proven = at + random.between(ModelTime.hour, 5 * ModelTime.day)
            let isProven = random.chance(60)
            // Only what is its own is released.
            guard owner(line, at: at) == accounts[1] else { continue }
            life.bindings[line, default: []].append(
                LifeBinding(id: Int64(100 + place), kind: .erasure, account: accounts[1], at: at))
            guard isProven, let kind = claim(line, by: accounts[0], at: proven, mayTransfer: false) else {
                continue
            }
            life.bindings[line, default: []].append(
                LifeBinding(id: Int64(200 + place), kind: kind, account: accounts[0], at: proven))
        }
    }

    /// Who has a purchase by what was heard and recorded until then.
    private func owner(_ line: String, at instant: Int64) -> String? {
        let heard = life.messages.filter { $0.line == line && $0.signed <= instant }
        let owners = OwnerModel(life.bindings[line] ?? [])
        if let thing = ThingModel(heard) { return owners.owner(of: thing, at: instant) }
        return owners.owner(of: LineModel(heard, leeway: life.leeway), at: instant)
    }

    /// What is recorded of a proof by what was heard and recorded until then.
    private func claim(
        _ line: String, by account: String, at instant: Int64, mayTransfer: Bool
    ) -> LifeBinding.Kind? {
        let heard = life.messages.filter { $0.line == line && $0.signed <= instant }
        guard !heard.isEmpty else { return nil }
        let owners = OwnerModel(life.bindings[line] ?? [])
        if let thing = ThingModel(heard) {
            return owners.claim(thing, by: account, at: instant, mayTransfer: mayTransfer)
        }
        return owners.claim(
            LineModel(heard, leeway: life.leeway), by: account, at: instant, mayTransfer: mayTransfer)
    }

    // MARK: - Staff

    private mutating func act() {
        if random.chance(30) {
            let start = random.between(begins - 10 * ModelTime.day, ends)
            life.trial = (random.pick(["pro", "premium"]), start, start + random.between(3, 14) * ModelTime.day)
        }
        guard random.chance(70) else { return }
        for number in 1...random.between(1, 4) {
            let kind: LifeAct.Kind =
                switch features.contains(.acts) ? random.between(0, 9) : 0 {
                case 0...1: .grant(tier: random.pick(["pro", "premium"]), days: random.between(3, 50))
                case 2...3: .extend(days: random.between(1, 20))
                case 4...5: .revoke
                case 6: .unrevoke
                default: .changeTier(to: random.pick(["free", "pro", "premium"]))
                }
            life.acts.append(LifeAct(id: number, at: random.between(begins, ends), kind: kind))
        }
    }

    // MARK: - What is sold

    private mutating func changeCatalog() {
        var own = ModelRandom(seed: life.seed ^ 0xCA7A)
        var catalog = life.catalog
        for at in (0..<own.between(1, 3)).map({ _ in own.between(begins, ends) }).sorted() {
            for _ in 0..<own.between(1, 2) { change(&catalog, &own) }
            life.laterCatalogs.append((at, catalog))
        }
    }

    private func change(_ catalog: inout LifeCatalog, _ random: inout ModelRandom) {
        let product = random.pick(["basic", "solo", "plus", "forever", "pass"])
        switch random.between(0, 9) {
        case 0...3: catalog.products[product] = random.pick(Array(catalog.tiers.dropFirst()))
        case 4...5: catalog.products[product] = catalog.products[product] == nil ? "pro" : nil
        case 6: catalog.termDays["pass"] = random.pick([5, 20, 40])
        case 7 where !catalog.tiers.contains("max"):
            catalog.tiers.insert("max", at: Int(random.between(1, Int64(catalog.tiers.count))))
        default: catalog.tiers.swapAt(1, catalog.tiers.count - 1)
        }
    }
}
