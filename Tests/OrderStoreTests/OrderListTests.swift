import Accounts
import Base
import Foundation
import OrderStore
import Postgres
import TestSupport
import Testing

/// Lists of orders.
struct OrderListTests {
    /// A filter by one thing, with a random value.
    private static let restrictions: [@Sendable (inout OrderFilter, inout SeededGenerator) -> Void] = [
        { $0.status = [.completed, .refunded, .partiallyRefunded, .pending, .failed].randomElement(using: &$1) },
        { filter, _ in filter.environment = "Sandbox" },
        { $0.bundleID = (OrderListDatabase.apps + ["com.example.none"]).randomElement(using: &$1) },
        { $0.account = account(Int.random(in: 0..<41, using: &$1)) },
        { $0.productID = "product.\(Int.random(in: 0..<7, using: &$1))" },
        { $0.currency = OrderListDatabase.currencies.randomElement(using: &$1) },
        { $0.storefront = OrderListDatabase.storefronts.randomElement(using: &$1) },
        { $0.tier = ["pro", "premium"].randomElement(using: &$1) },
        { $0.isRefunded = Bool.random(using: &$1) },
        { $0.from = day(Int.random(in: -1..<62, using: &$1)) },
        { $0.to = day(Int.random(in: -1..<62, using: &$1)) },
        { filter, generator in
            let start = Timestamp(iso8601: OrderListDatabase.day) ?? .distantPast
            filter.updatedSince = start.adding(seconds: 3600 * Int64.random(in: -10...2000, using: &generator))
        },
    ]

    private static func day(_ number: Int) -> CalendarDay? {
        let start = Timestamp(iso8601: OrderListDatabase.day) ?? .distantPast
        return CalendarDay(start.adding(days: Int64(number)).description.prefix(10))
    }

    /// Bounds at which each way of reading is taken.
    private static func bounds(_ generator: inout SeededGenerator) -> OrderBounds {
        var bounds = OrderBounds()
        bounds.glance = [1, 7, 60, 250].randomElement(using: &generator) ?? 1
        bounds.fewClasses = [0, 5, 400].randomElement(using: &generator) ?? 0
        bounds.someClasses = [0, 5, 400].randomElement(using: &generator) ?? 0
        bounds.window = [1, 7, 60, 50_000].randomElement(using: &generator) ?? 1
        bounds.readWindow = [1, 7, 60, 5000].randomElement(using: &generator) ?? 1
        bounds.fewChanges = [0, 100, 10_000].randomElement(using: &generator) ?? 0
        bounds.moreChanges = [0, 100, 10_000].randomElement(using: &generator) ?? 0
        bounds.walkedPerLookUp = [0, 6, 10_000].randomElement(using: &generator) ?? 0
        return bounds
    }

    @Test func `Lists have exactly the orders that fit the filters, alone and in pairs, with pages of every size`()
        async throws
    {
        var generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...2500, seed: generator.seed)
            var found = 0
            let all = Self.restrictions.indices
            let pairs = all.flatMap { first in all[first...].map { (first, $0) } }
            let some: [Set<Int>] = [[]] + sampled(pairs, oneIn: 3, using: &generator).map { Set([$0.0, $0.1]) }
            for places in some {
                var filter = OrderFilter()
                for place in places { Self.restrictions[place](&filter, &generator) }
                let expected = try await database.expected(filter)
                let bounds = Self.bounds(&generator)
                let listed = try await pages(database, filter, bounds, &generator)
                #expect(listed == expected, "\(filter), \(bounds), seed \(generator.seed)")
                found += expected.isEmpty ? 0 : 1
            }
            #expect(found > some.count / (takesAllSamples ? 2 : 4), "hardly a filter found anything: \(generator.seed)")
        }
    }

    /// Pages of random sizes to the end; a few orders of many are enough to compare.
    private func pages(
        _ database: OrderListDatabase, _ filter: OrderFilter, _ bounds: OrderBounds, _ generator: inout SeededGenerator
    ) async throws -> [String] {
        var (found, cursor) = ([String](), ListCursor?.none)
        while true {
            let limit = Int.random(in: 1...400, using: &generator)
            let page = try await database.store.list(
                filter, under: OrderListDatabase.catalog, after: cursor, limit: limit, within: bounds)
            #expect(page.elements.count <= limit)
            found += page.elements.map(\.key)
            guard let next = page.next, found.count < 5000 else { return found }
            cursor = ListCursor(next.description, parts: OrderStore.cursorParts)
            #expect(cursor == next && OrderStore.isCursor(next))
        }
    }

    @Test func `Attempts are among the orders that changed since an instant, in every way to read a page`()
        async throws
    {
        var generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...400, seed: generator.seed)
            try await database.addAttempts(60)
            var found = 0
            for _ in 0..<40 {
                var filter = OrderFilter()
                Self.restrictions[Self.restrictions.count - 1](&filter, &generator)
                let expected = try await database.changed(since: filter.updatedSince)
                let bounds = Self.bounds(&generator)
                let listed = try await pages(database, filter, bounds, &generator)
                #expect(listed == expected, "\(filter), \(bounds), seed \(generator.seed)")
                found += expected.count { $0.hasPrefix("attempt-") }
            }
            #expect(found > 40, "hardly an attempt was asked for: seed \(generator.seed)")
        }
    }

    @Test func `A walk by cursors repeats none and leaves none out while orders are added`() async throws {
        var generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...400, seed: generator.seed)
            let before = try await database.expected(OrderFilter())
            var (found, cursor, added) = ([String](), ListCursor?.none, 400)
            repeat {
                let page = try await database.store.list(
                    under: nil, after: cursor, limit: Int.random(in: 1...40, using: &generator))
                found += page.elements.map(\.key)
                cursor = page.next
                try await database.add((added + 1)...(added + 9), seed: generator.seed)
                added += 9
            } while cursor != nil
            let standing = Set(before)
            #expect(found.filter { standing.contains($0) } == before, "seed \(generator.seed)")
            #expect(Set(found).count == found.count && found.count > before.count, "seed \(generator.seed)")
        }
    }

    @Test func `A row has what its transactions and its account say`() async throws {
        try await OrderListDatabase.with { database in
            try await database.add(1...600, seed: 7)
            let orders = try await database.store.list(under: OrderListDatabase.catalog, limit: 600).elements
            let rows = try await database.pool.query(
                """
                select l.key, coalesce(storehook.order_number(l.day, l.number), '…') || '|' || l.day || '|' || l.status || '|'
                           || l.environment || '|' || l.bundle_id || '|' || l.product_id || '|' || l.plan_type || '|'
                           || coalesce(l.owner::text, '-') || '|' || l.original || '|' || l.currency || '|' || l.storefront || '|'
                           || coalesce(t.amount::text, '-') || '|' || (l.i % 50 = 7)::text || '|'
                           || (select coalesce(string_agg(s.currency || s.paid || '-' || s.refunded, ' ' order by s.currency), '')
                                 from storehook.order_totals s where s.order_key = l.key) as words
                  from public.life l
                  join storehook.orders t on t.order_key = l.key
                """)
            var expected: [String: String] = [:]
            for row in rows { expected[try row.decode("key")] = try row.decode("words") }
            for order in orders {
                let totals = order.totals.map { "\($0.currency)\($0.paid)-\($0.refunded)" }.joined(separator: " ")
                let words: [String] = [
                    order.number ?? "…", order.day.description, order.status.rawValue, order.environment,
                    order.bundleID,
                    order.productID ?? "-", order.planType, order.token?.description ?? "-",
                    order.originalTransactionID ?? "-", order.currency ?? "-", order.storefront ?? "-",
                    order.amount.map { "\($0)" } ?? "-", "\(order.unpriced > 0)", totals,
                ]
                #expect(words.joined(separator: "|") == expected[order.key])
                #expect((order.refundedAt != nil) == [.refunded, .partiallyRefunded].contains(order.status))
                let name = order.productID.flatMap { OrderListDatabase.catalog.product($0, of: order.bundleID) }
                #expect(order.productName == name.map { $0.names?.fallback ?? $0.id })
                #expect(order.account.map { "\($0)" == "name of \(order.token?.description ?? "")" } ?? true)
            }
            #expect(orders.contains { $0.account != nil } && orders.contains { $0.token == nil })
            #expect(orders.contains { $0.number == nil } && orders.contains { $0.productName == nil })
            #expect(orders.contains { $0.totals.count > 1 } && orders.contains { $0.unpriced > 0 })
        }
    }
}

/// The accounts of some orders of ``OrderListDatabase``.
func account(_ number: Int) -> UniqueIdentifier {
    UniqueIdentifier(UUID(uuidString: accountTexts[number]) ?? UUID())
}

/// MD5 of `a0` to `a40`, as the database makes them.
private let accountTexts: [String] = (0..<41).map { "a\($0)" }.map { AccountDigest.uuid(of: $0) }
