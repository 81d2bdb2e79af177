import Accounts
import Base
import OrderStore
import Postgres
import Staff
import Subscriptions
import TestSupport
import Testing

/// What customers have paid in all, and whose purchases are.
struct LifetimeTests {
    /// All orders that a list has.
    private func listed(_ database: OrderListDatabase, _ filter: OrderFilter) async throws -> [ListedOrder] {
        var (found, cursor) = ([ListedOrder](), ListCursor?.none)
        repeat {
            let page = try await database.store.list(
                filter, under: OrderListDatabase.catalog, after: cursor, limit: 100)
            found += page.elements
            cursor = page.next
        } while cursor != nil
        return found
    }

    @Test func `What an account has paid is the sum of its orders, by environment, app and currency`() async throws {
        let generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...1200, seed: generator.seed)
            var paid: Int64 = 0
            for number in 0..<41 {
                for environment in ["Production", "Sandbox"] {
                    for scope in [StaffScope.all, .some([OrderListDatabase.apps[0]]), .some([])] {
                        var filter = OrderFilter()
                        (filter.account, filter.environment, filter.scope) = (account(number), environment, scope)
                        let orders = try await listed(database, filter)
                        let lifetime = try await database.store.lifetime(
                            of: account(number), in: environment, scope: scope)
                        let place = "\(number), \(environment), \(scope), \(generator.seed)"
                        #expect(lifetime.orders == Int64(orders.count) && !lifetime.isMore, "\(place)")
                        #expect(lifetime.unpriced == orders.reduce(0) { $0 + $1.unpriced }, "\(place)")
                        var sums: [String: [Int64]] = [:]
                        for total in orders.flatMap(\.totals) {
                            let sum = sums[total.currency] ?? [0, 0]
                            sums[total.currency] = [sum[0] + total.paid, sum[1] + total.refunded]
                        }
                        let added = Dictionary(
                            uniqueKeysWithValues: lifetime.totals.map { ($0.currency, [$0.paid, $0.refunded]) })
                        #expect(added == sums, "\(place)")
                        #expect(lifetime.totals.map(\.currency) == lifetime.totals.map(\.currency).sorted())
                        paid += lifetime.totals.reduce(0) { $0 + $1.paid }
                    }
                }
            }
            #expect(paid > 0, "nobody has paid: \(generator.seed)")
        }
    }

    @Test func `A purchase has the owner that its orders name, and a text names the orders that are shown for it`()
        async throws
    {
        let generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...300, seed: generator.seed)
            let orders = try await listed(database, OrderFilter())
            var owners: [PurchaseKey: UniqueIdentifier] = [:]
            for order in orders {
                guard let original = order.originalTransactionID else { continue }
                let key = PurchaseKey(
                    environment: order.environment, bundleID: order.bundleID, originalTransactionID: original)
                owners[key] = order.token
            }
            #expect(!owners.isEmpty)
            let nobody = PurchaseKey(
                environment: "Production", bundleID: "com.example.none", originalTransactionID: "1")
            #expect(try await database.store.owners(of: Array(owners.keys) + [nobody]) == owners, "\(generator.seed)")
            #expect(try await database.store.owners(of: []) == [:])
            var found = 0
            for order in orders.prefix(40) {
                let named = try await database.store.orders(naming: order.key, under: OrderListDatabase.catalog)
                let shown = try await database.store.show(order.key, under: OrderListDatabase.catalog)
                let whole = shown.compactMap { shown -> ListedOrder? in
                    guard case .order(let detail) = shown else { return nil }
                    return detail.order
                }
                #expect(named == whole, "\(order.key), \(generator.seed)")
                found += named.count
            }
            #expect(found > 0)
            for text in ["a\u{0}", "ORD-2026", "none"] {
                #expect(try await database.store.orders(naming: text, under: nil).isEmpty)
            }
        }
    }
}
