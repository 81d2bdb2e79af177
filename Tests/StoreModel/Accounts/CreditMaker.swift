/// Makes random lives of consumables: bought one by one and several at once, refunded in part, given back, and passed from
/// one account to another.
package struct CreditMaker {
    /// The accounts that there are.
    package let accounts: [String]
    private var random: ModelRandom
    private var life: AccountLife
    private var now: Int64
    private let mayTransfer: Bool

    private init(seed: UInt64, number: Int) {
        random = ModelRandom(seed: seed ^ 0xC0175)
        accounts = ["a", "b", "e"].map { "\($0)0000000-0000-4000-8000-\(200_000_000_000 + number)" }
        life = AccountLife(account: accounts[0], catalog: AccountLifeMaker.catalog, leeway: 0)
        life.seed = seed
        now = 1_700_000_000_000 + random.between(0, 100 * ModelTime.day)
        mayTransfer = random.chance(50)
    }

    /// The life that belongs to a seed. Lives of different numbers have no account and no purchase in common.
    package static func life(seed: UInt64, number: Int = 0, losing isLossy: Bool = false) -> AccountLife {
        var maker = CreditMaker(seed: seed, number: number)
        for place in 0..<Int(maker.random.between(1, 3)) {
            maker.sell(String(500_000_000 + 1_000 * number + 100 * place))
        }
        if isLossy {
            let lost = maker.random.between(0, Int64(maker.life.messages.count) - 1)
            maker.life.messages.remove(at: Int(lost))
        }
        return maker.life
    }

    /// Sells under one originalTransactionId once or more often, and what becomes of it.
    private mutating func sell(_ line: String) {
        var sold: [LifeTransaction] = []
        let token = random.pick([nil, nil, accounts[0], accounts[1], LifeShop.nobody])
        for _ in 0..<random.between(2, 9) {
            now += random.between(ModelTime.minute, 5 * ModelTime.day)
            switch random.between(0, 9) {
            case 0...2: sold.append(buy(line, sold.count, token))
            case 3...5:
                if sold.isEmpty { sold.append(buy(line, 0, token)) }
                let place = Int(random.between(0, Int64(sold.count) - 1))
                // A second refund may say how much was taken back in all.
                sold[place].revoked = sold[place].revoked ?? now
                sold[place].percentage = random.pick([nil, 100_000, 99_000, 33_333, 1, random.between(1, 100_000)])
                tell("REFUND", sold[place])
            case 6:
                guard let place = sold.firstIndex(where: { $0.revoked != nil }) else { continue }
                (sold[place].revoked, sold[place].percentage) = (nil, nil)
                tell("REFUND_REVERSED", sold[place])
            default: if !sold.isEmpty { pass(line) }
            }
        }
        if sold.isEmpty { _ = buy(line, 0, token) }
    }

    private mutating func buy(_ line: String, _ place: Int, _ token: String?) -> LifeTransaction {
        var bought = LifeTransaction(
            id: place == 0 ? line : "\(line)\(place)", line: line, product: "coins", purchased: now, expires: nil,
            reason: "PURCHASE", token: token)
        bought.kind = .consumable
        bought.quantity = random.pick([1, 1, 2, 3, 7, 10])
        tell("ONE_TIME_CHARGE", bought)
        return bought
    }

    private mutating func tell(_ name: String, _ record: LifeTransaction) {
        now += random.between(1, 30) * ModelTime.second
        var record = record
        record.signed = now
        life.messages.append(LifeMessage(name: name, signed: now, line: record.line, transaction: record))
    }

    /// An account proves the purchase, staff moves it, or its owner is erased.
    private mutating func pass(_ line: String) {
        guard let thing = ThingModel(life.messages.filter { $0.line == line }) else { return }
        let owners = OwnerModel(life.bindings[line] ?? [])
        let account = random.pick(accounts)
        switch random.between(0, 9) {
        case 0...6:
            guard let kind = owners.claim(thing, by: account, at: now, mayTransfer: mayTransfer) else { return }
            bind(line, kind, account)
        case 7...8: bind(line, .staff, account)
        default:
            guard let owner = owners.owner(of: thing, at: now) else { return }
            // The account that Apple signed it for does not count any more, either.
            for account in Set([owner] + [thing.token(at: now)].compactMap { $0 }).sorted() {
                bind(line, .erasure, account)
            }
        }
    }

    private mutating func bind(_ line: String, _ kind: LifeBinding.Kind, _ account: String) {
        now += 1
        let number = Int64(life.bindings.values.reduce(1) { $0 + $1.count })
        life.bindings[line, default: []].append(LifeBinding(id: number, kind: kind, account: account, at: now))
    }
}
