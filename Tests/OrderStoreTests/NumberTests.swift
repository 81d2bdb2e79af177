import AccountStore
import AppStorePayloads
import Base
import OrderStore
import OrderSupport
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

@Suite("The numbers of orders")
struct NumberTests {
    @Test("eight writers and two that deal give each order one number, 1 to n on each day, and a rebuild changes none")
    func writers() async throws {
        let each = samples(of: 120, oneIn: 3)
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        let entries = (0..<each).map { number in
                            Shop.coins("\(writer)-\(number)", at: Shop.day(Int64(number % 3), hours: Int64(writer)))
                        }
                        for batch in entries.batches(of: 7) { try await site.apply(batch) }
                    }
                }
                for _ in 0..<2 { group.addTask { for _ in 0..<40 { _ = try await site.orders.deal(site.accounts) } } }
                try await group.waitForAll()
            }
            try await site.number()
            #expect(try await site.value("select count(*) from storehook.orders", as: Int64.self) == Int64(8 * each))
            #expect(try await !site.hasGaps())
            let numbers: PostgresQuery = "select order_key || number || created_at from storehook.orders order by 1"
            let before = try await site.texts(numbers)
            #expect(try await site.differences(repair: true).isEmpty)
            // All that can be derived is lost.
            try await site.pool.query(
                """
                with emptied as (delete from storehook.booked_transactions)
                update storehook.booked_orders set item = null, status = 'refunded', plan_type = 'non_renewing'
                """)
            #expect(try await !site.differences(repair: true).isEmpty)
            #expect(try await site.differences().isEmpty)
            #expect(try await site.texts(numbers) == before)
        }
    }

    /// By default the day's first numbers are given already.
    @Test("ten thousand orders of one day are 0001 to 10000")
    func tenThousand() async throws {
        try await OrderDatabase.with { site in
            let given = takesAllSamples ? 0 : 9_500
            if given > 0 {
                try await site.pool.query(
                    "insert into storehook.order_days (day, last) values ('2026-01-01', \(Int32(given)))")
            }
            let entries = (given + 1...10_000).map { Shop.coins("\($0)", at: Shop.day(0, hours: Int64($0 % 24))) }
            for batch in entries.batches(of: entries.count / 10) {
                try await site.apply(batch)
                _ = try await site.orders.deal(site.accounts, atMost: entries.count * 9 / 100)
            }
            try await site.number()
            let numbers = try await site.texts("select number from storehook.orders order by length(number), number")
            #expect(numbers.count == entries.count && Set(numbers).count == entries.count)
            #expect(numbers.first == (given == 0 ? "ORD-20260101-0001" : "ORD-20260101-9501"))
            #expect(numbers.suffix(2) == ["ORD-20260101-9999", "ORD-20260101-10000"])
            if given == 0 { #expect(try await !site.hasGaps()) }
        }
    }

    @Test("the day is that of the zone at numbering; neither another zone nor an earlier first purchase changes it")
    func zones() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog(zone: "Asia/Shanghai")) { site in
            try await site.apply([
                Shop.entry("1", "2", at: Shop.day(30, hours: 20), renewal: true, first: Shop.day(0, hours: 20))
            ])
            try await site.number()
            let numbers: PostgresQuery = "select number from storehook.orders order by created_at"
            #expect(try await site.texts(numbers) == ["ORD-20260102-0001"])
            _ = try await site.accounts.apply(Shop.catalog(zone: "America/Los_Angeles"), by: "test")
            try await site.apply([Shop.entry("1", at: Shop.day(-3), first: Shop.day(-3))])
            try await site.apply([Shop.entry("3", at: Shop.day(1, hours: 3))])
            try await site.number()
            #expect(try await site.texts(numbers) == ["ORD-20260102-0001", "ORD-20260101-0001"])
            #expect(try await site.differences().isEmpty)
        }
    }

    @Test("an order has no number until it is dealt one, and one that is being changed gets it in the next round")
    func later() async throws {
        try await OrderDatabase.with { site in
            try await site.apply([Shop.coins("1", at: Shop.day(0)), Shop.coins("2", at: Shop.day(0))])
            #expect(try await site.texts("select number from storehook.orders") == ["-", "-"])
            let writer = try await HeldTransaction(
                in: site.database, "select from storehook.booked_orders where order_key = '1' for no key update")
            #expect(try await site.orders.deal(site.accounts) == 1)
            try await writer.release()
            #expect(try await site.orders.deal(site.accounts) == 1)
            #expect(
                try await site.texts("select order_key || ' ' || number from storehook.orders order by 1")
                    == ["1 ORD-20260101-0002", "2 ORD-20260101-0001"])
        }
    }

    @Test("transactions that book other orders do not wait for the dealer of numbers")
    func waiting() async throws {
        try await OrderDatabase.with { site in
            try await site.apply([Shop.coins("1", at: Shop.day(0)), Shop.entry("2", at: Shop.day(0))])
            try await site.number()
            try await site.apply([Shop.coins("3", at: Shop.day(0))])
            let dealer = try await HeldTransaction(
                in: site.database,
                """
                with turn as (update storehook.order_clock set environment = null where task = 'number'),
                day as (update storehook.order_days set last = last + 1)
                update storehook.booked_orders set number = 3 where order_key = '3'
                """)
            try await site.apply([Shop.coins("4", at: Shop.day(0))])
            try await site.apply([Shop.entry("2", "5", at: Shop.day(30), renewal: true, first: Shop.day(0))])
            // Another that deals leaves it to the first.
            #expect(try await site.orders.deal(site.accounts) == 0)
            try await dealer.release()
            try await site.number()
            #expect(try await !site.hasGaps())
        }
    }

    @Test("purchases of 400 days are booked beside live orders, without a deadlock and without a gap")
    func backfill() async throws {
        let (before, each) = takesAllSamples ? (800, 200) : (400, 60)
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.pool.query("update storehook.order_clock set finished_at = null where task = 'rebook'")
            let old = (0..<before).map { number in
                Shop.entry("old-\(number)", at: Shop.day(Int64(number % 400) - 400), signed: Shop.day(-1))
            }
            for batch in old.batches(of: 200) { try await site.apply(batch, isBooked: false) }
            #expect(try await site.texts("select order_key from storehook.orders").isEmpty)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for walker in 0..<2 {
                    group.addTask {
                        while try await site.orders.isDue() {
                            _ = try await site.orders.walk(site.ledger, site.accounts, atMost: 20 + walker)
                            _ = try await site.orders.deal(site.accounts, atMost: 50)
                        }
                    }
                }
                for writer in 0..<4 {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(writer))
                        let live = (0..<each).map { number in
                            let old = Int.random(in: 0..<before, using: &generator)
                            return number.isMultiple(of: 2)
                                ? Shop.entry(
                                    "old-\(old)", "renewed-\(old)-\(writer)-\(number)",
                                    at: Shop.day(Int64(number % 30)),
                                    renewal: true, first: Shop.day(Int64(old % 400) - 400))
                                : Shop.entry("new-\(writer)-\(number)", at: Shop.day(Int64(number % 400) - 400))
                        }
                        for batch in live.batches(of: 9) { try await site.apply(batch) }
                    }
                }
                try await group.waitForAll()
            }
            while try await site.orders.walk(site.ledger, site.accounts) > 0 {}
            try await site.number()
            #expect(
                try await site.value("select count(*) from storehook.orders", as: Int64.self)
                    == Int64(before + 4 * each / 2))
            #expect(try await !site.hasGaps())
            #expect(try await site.differences().isEmpty)
            #expect(try await site.orders.walk(site.ledger, site.accounts) == 0)
        }
    }
}
