@testable import Simulation

/// What the shop itself holds true of a customer at an instant.
struct ShopTruth: Hashable {
    /// The products that are paid for, in grace, or owned, without their prefix.
    var products: Set<String> = []
    /// Apple's status of each subscription, by its original transaction.
    var statuses: [String: Int] = [:]
    /// The product of each subscription that gives access.
    var covered: [String: String] = [:]
    /// When the running period of each of these ends, unless it is in grace.
    var ends: [String: Milliseconds] = [:]
    /// Those of the products whose period was bought in the place of one that had been charged ahead: without its notification that one is
    /// taken for the running period.
    var replacing: Set<String> = []

    init() {}

    init(_ customer: Customer, at now: Milliseconds) {
        let subscriber = customer.subscriber
        for line in subscriber.allLines {
            let state = subscriber[line]
            let status = subscriber.appleStatus(of: line, at: now)
            statuses[state.originalTransactionId] = status
            // Transactions stand in the order of buying: of those that have begun the one that was bought last.
            guard [1, 4].contains(status),
                let place = state.transactions.lastIndex(where: { $0.purchaseDate <= now })
            else {
                continue
            }
            let period = state.transactions[place]
            let isReplacing = state.transactions[..<place].contains {
                period.purchaseDate < $0.purchaseDate && $0.purchaseDate <= now
            }
            if isReplacing { replacing.formUnion(ShopListener.short([period.productId])) }
            covered[state.originalTransactionId] = period.productId
            if status == 1 { ends[state.originalTransactionId] = period.expiresDate }
        }
        var given = Set(covered.values)
        for item in subscriber.allItems {
            let record = subscriber[item]
            guard record.revocationDate == nil, record.purchaseDate <= now else { continue }
            switch record.type {
            case "Non-Consumable": given.insert(record.productId)
            case "Non-Renewing Subscription" where now < record.purchaseDate + .days(ShopListener.seasonDays):
                given.insert(record.productId)
            default: break
            }
        }
        products = ShopListener.short(given)
    }

    /// The highest tier of the products.
    var tier: String {
        let given = Set(products.compactMap { ShopListener.tiers[$0] })
        return given.contains("premium") ? "premium" : given.contains("pro") ? "pro" : "free"
    }
}

extension Customer {
    /// A customer whose life a seed decides, whatever other customers there are.
    init(_ id: String, by seed: UInt64, token: String, bornAt birth: Milliseconds, in app: SimulatedApp) {
        self.init(
            id: id, joined: birth, isLively: true,
            life: SimulatedLife(
                SimulatedSubscriber(app: app, appAccountToken: token, lane: Int(seed), seed: seed),
                random: SeededGenerator(seed: seed &+ 1_000_003), habits: nil))
    }
}
