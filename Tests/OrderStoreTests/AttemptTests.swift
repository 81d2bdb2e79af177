import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import OrderStore
import OrderSupport
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

@Suite("Attempts to buy that apps report")
struct AttemptTests {
    @Test("reports of one account, product and environment within 24 hours of the first are one order, to the second")
    func span() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let start = Shop.day(0)
            try await site.report("failed", at: start)
            try await site.report("failed", at: start.adding(seconds: 1), of: "yearly")
            try await site.report("failed", at: start.adding(seconds: 2), environment: "Sandbox")
            try await site.report("failed", at: start.adding(seconds: 3), as: "bob")
            try await site.report("cancelled", at: start.adding(seconds: 4), environment: "Production")
            try await site.step()
            try await site.report("failed", at: start.adding(days: 1))
            try await site.report("cancelled", at: start.adding(days: 1).adding(seconds: 1))
            try await site.report("failed", at: start.adding(days: 2))
            try await site.step()
            #expect(
                try await site.attempts() == [
                    "basic Production 01-01 00:00 3 failed", "yearly Production 01-01 00:00 1 failed",
                    "basic Sandbox 01-01 00:00 1 failed", "basic Production 01-01 00:00 1 failed",
                    "basic Production 01-02 00:00 2 failed",
                ])
            #expect(try await site.numbers().count == 5)
            #expect(try await !site.hasGaps())
        }
    }

    @Test("the latest outcome counts, with its reason, for every order of the reports' commits")
    func latest() async throws {
        try await OrderDatabase.with { site in
            try await site.report("pending", at: Shop.day(0, hours: 1), reason: "first")
            try await site.report("cancelled", at: Shop.day(0, hours: 3), reason: "last")
            try await site.match()
            try await site.report("failed", at: Shop.day(0, hours: 2), reason: "late")
            try await site.report("pending", at: Shop.day(0), reason: "earliest")
            try await site.match()
            #expect(try await site.attempts() == ["basic Production 01-01 00:00 4 cancelled"])
            #expect(try await site.texts("select reason from storehook.booked_attempts") == ["last"])
            try await site.report("failed", at: Shop.day(0, hours: 4))
            try await site.match()
            #expect(try await site.attempts() == ["basic Production 01-01 00:00 5 failed"])
        }
    }

    @Test("completed without a transaction is pending, until 7 days after the latest report have passed by the clock")
    func pending() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let now = try await site.clock()
            try await site.report("failed", at: now.adding(seconds: -60))
            try await site.report("completed", at: now)
            try await site.step()
            let listed: PostgresQuery = """
                select concat_ws(' ', o.number is not null, o.status, c.status, o.product_id, o.plan_type)
                  from storehook.orders o join storehook.booked_orders b using (order_key)
                  join storehook.order_classes c on c.id = b.class_id
                """
            #expect(try await site.texts(listed) == ["t pending pending basic unknown"])
            let numbers: PostgresQuery = "select number from storehook.orders"
            let before = try await site.texts(numbers)
            try await site.match(at: now.adding(days: 7).adding(seconds: -1))
            #expect(try await site.texts(listed) == ["t pending pending basic unknown"])
            try await site.match(at: now.adding(days: 7))
            #expect(try await site.texts(listed) == ["t cancelled cancelled basic unknown"])
            #expect(try await site.texts(numbers) == before)
            #expect(try await site.texts("select count(check_at)::text from storehook.booked_attempts") == ["0"])
        }
    }

    @Test(
        "an account has at most 20 orders of attempts on a day of the catalog's zone; what comes after is kept and counted"
    )
    func twenty() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog(zone: "Asia/Shanghai")) { site in
            // In Shanghai the day ends at 16:00 UTC.
            for number in 0..<18 {
                try await site.report("failed", at: Shop.day(0, hours: 15), of: "product-\(number)")
            }
            try await site.step()
            for number in 18..<25 {
                try await site.report("failed", at: Shop.day(0, hours: 15), of: "product-\(number)")
            }
            // Of one that is an order already.
            try await site.report("cancelled", at: Shop.day(0, hours: 15), of: "product-0")
            try await site.report("failed", at: Shop.day(0, hours: 16), of: "product-24")
            try await site.report("failed", at: Shop.day(0, hours: 15), as: "bob")
            try await site.step()
            let days: PostgresQuery = "select day || ' ' || count(*) from storehook.orders group by day order by day"
            #expect(try await site.texts(days) == ["2026-01-01 21", "2026-01-02 1"])
            let surplus: PostgresQuery =
                "select product_id from storehook.purchase_attempts where is_surplus order by id"
            #expect(try await site.texts(surplus) == (20..<25).map { "product-\($0)" })
            #expect(try await site.orders.bookAttempts(site.accounts) == 0)
            #expect(
                try await site.value("select count(*) from storehook.purchase_attempts where is_booked", as: Int64.self)
                    == 28)
        }
    }

    /// One attempt and one transaction each: seconds from the first report to the latest, from there to the transaction, and whether that
    /// completes it.
    private static let borders: [(outcome: String, between: Int64, purchase: Int64, isMatch: Bool)] = [
        ("failed", 0, -600, true), ("failed", 0, -601, false), ("failed", 0, 86_400, true),
        ("failed", 0, 86_401, false),
        ("cancelled", 0, -600, true), ("cancelled", 0, -601, false), ("cancelled", 0, 86_400, true),
        ("cancelled", 0, 86_401, false), ("pending", 0, -600, true), ("pending", 0, -601, false),
        ("pending", 0, 604_800, true), ("pending", 0, 604_801, false), ("completed", 0, 604_800, true),
        ("completed", 0, 604_801, false), ("failed", 3600, -4200, true), ("failed", 3600, -4201, false),
        ("failed", 3600, 86_400, true), ("failed", 3600, 86_401, false), ("failed", 3600, -1800, true),
    ]

    @Test("a transaction has the attempts looked at again that it may complete by product and date, and no others")
    func rechecked() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for day in [0, 60, 100] { try await site.report("failed", at: Shop.day(Int64(day))) }
            try await site.report("failed", at: Shop.day(60), of: "yearly")
            try await site.match(at: Shop.day(200))
            try await site.pool.query("update storehook.booked_attempts set check_at = null")
            try await site.apply([Shop.bought("1", at: Shop.day(60, hours: 1), as: "ann")])
            #expect(
                try await site.texts(
                    "select product_id || ' ' || first_at::date from storehook.booked_attempts where check_at is not null"
                )
                    == ["basic 2026-03-02"])
        }
    }

    @Test("a transaction completes an attempt from 10 minutes before it to 24 hours or 7 days after it, to the second")
    func windows() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for (number, border) in Self.borders.enumerated() {
                let last = Shop.day(50)
                if border.between > 0 {
                    try await site.report("failed", at: last.adding(seconds: -border.between), as: "\(number)")
                }
                try await site.report(border.outcome, at: last, as: "\(number)")
                try await site.apply([
                    Shop.bought("\(number)", at: last.adding(seconds: border.purchase), as: "\(number)")
                ])
            }
            // Another product, and another account's.
            try await site.report("failed", at: Shop.day(50), as: "other")
            try await site.apply([
                Shop.bought("other", at: Shop.day(50), product: "yearly", as: "other"),
                Shop.bought("nobody", at: Shop.day(50), as: "nobody"),
            ])
            try await site.step()
            for (number, border) in Self.borders.enumerated() {
                let matched = try await site.attempts(of: "\(number)").map { $0.hasSuffix("completed \(number)") }
                #expect(matched == [border.isMatch], "\(border)")
            }
            #expect(try await site.attempts(of: "other") == ["basic Production 02-20 00:00 1 failed"])
        }
    }

    @Test("the nearest pair comes first, each attempt and transaction once, and any order of arrival ends the same")
    func nearest() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for round in sampledSeeds(of: 24, oneIn: 3) {
                let account = "\(round)"
                var generator = SeededGenerator(seed: round)
                let things: [@Sendable () async throws -> Void] = [
                    { try await site.report("pending", at: Shop.day(0), as: account) },
                    { try await site.report("failed", at: Shop.day(2), as: account) },
                    { try await site.report("completed", at: Shop.day(3, hours: 6), as: account) },
                    { try await site.report("cancelled", at: Shop.day(8), as: account) },
                    { try await site.apply([Shop.bought("\(account)-a", at: Shop.day(-1), as: account)]) },
                    { try await site.apply([Shop.bought("\(account)-b", at: Shop.day(2, hours: 1), as: account)]) },
                    { try await site.apply([Shop.bought("\(account)-c", at: Shop.day(3, hours: 7), as: account)]) },
                    { try await site.apply([Shop.bought("\(account)-d", at: Shop.day(6), as: account)]) },
                ]
                for thing in things.shuffled(using: &generator) {
                    try await thing()
                    if Bool.random(using: &generator) { try await site.step() }
                }
                try await site.step()
                #expect(
                    try await site.attempts(of: account) == [
                        "basic Production 01-01 00:00 1 completed \(account)-d",
                        "basic Production 01-03 00:00 1 completed \(account)-b",
                        "basic Production 01-04 06:00 1 completed \(account)-c",
                        "basic Production 01-09 00:00 1 cancelled",
                    ], "seed \(round)")
            }
            #expect(try await site.differences().isEmpty)
            #expect(try await !site.hasGaps())
        }
    }

    @Test("an order without a number gets that of the attempt which it completes, with its day and when it was dealt")
    func moves() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.report("failed", at: Shop.day(0, hours: 23))
            try await site.step()
            #expect(try await site.numbers() == ["ORD-20260101-0001 attempt-1 failed"])
            let created: PostgresQuery = "select created_at::text from storehook.orders"
            let before = try await site.texts(created)
            try await site.apply([Shop.bought("1", at: Shop.day(1, hours: 1))])
            try await site.step()
            #expect(try await site.numbers() == ["ORD-20260101-0001 1 completed"])
            #expect(try await site.texts(created) == before)
            #expect(
                try await site.texts(
                    "select concat_ws(' ', number, alias, outcome, item is null) from storehook.order_attempts")
                    == ["ORD-20260101-0001 failed f"])
            // A later purchase of that day goes on after it, and a rebuild changes nothing.
            try await site.apply([Shop.coins("2", at: Shop.day(0)), Shop.coins("3", at: Shop.day(1))])
            try await site.step()
            let numbers = [
                "ORD-20260101-0001 1 completed", "ORD-20260101-0002 2 completed", "ORD-20260102-0001 3 completed",
            ]
            #expect(try await site.numbers() == numbers)
            #expect(try await site.differences(repair: true).isEmpty)
            try await site.step()
            #expect(try await site.numbers() == numbers)
            #expect(try await !site.hasGaps())
        }
    }

    @Test("where the order has a number, the attempt becomes a row of it, and its own number finds the order")
    func alias() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.apply([Shop.bought("1", at: Shop.day(0))])
            try await site.step()
            try await site.report("failed", at: Shop.day(29))
            try await site.step()
            try await site.apply([
                Shop.entry("1", "2", at: Shop.day(29, hours: 1), renewal: true, first: Shop.day(0)) {
                    $0.appAccountToken = OrderDatabase.token("ann")
                }
            ])
            try await site.step()
            #expect(try await site.numbers() == ["ORD-20260101-0001 1 completed"])
            #expect(
                try await site.texts(
                    "select concat_ws(' ', number, order_key, item, alias) from storehook.order_attempts")
                    == ["ORD-20260101-0001 1 w2 ORD-20260130-0001"])
            for text in ["ORD-20260130-0001", "ORD-20260101-0001"] {
                #expect(
                    try await site.orders.show(text, under: nil).map(\.number) == ["ORD-20260101-0001"], "\(text)")
            }
            // The alias is given to no other order.
            try await site.apply([Shop.coins("3", at: Shop.day(29))])
            try await site.step()
            #expect(
                try await site.numbers() == ["ORD-20260101-0001 1 completed", "ORD-20260130-0002 3 completed"])
            #expect(try await !site.hasGaps())
        }
    }

    @Test("an attempt is open again where its transaction goes, and is numbered again where the order has its number")
    func reopened() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.report("failed", at: Shop.day(0))
            try await site.step()
            try await site.apply([Shop.bought("1", at: Shop.day(0, hours: 1))])
            try await site.step()
            #expect(try await site.numbers() == ["ORD-20260101-0001 1 completed"])
            try await site.apply([
                Shop.entry("1", at: Shop.day(0, hours: 1), price: nil, signed: Shop.day(3)) {
                    $0.inAppOwnershipType = .familyShared
                }
            ])
            try await site.step()
            #expect(try await site.numbers() == ["ORD-20260101-0002 attempt-1 failed"])
            #expect(try await !site.hasGaps())
        }
    }

    @Test("what apps write for products that the catalog lacks makes no class of its own")
    func unknownProducts() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            for number in 0..<20 { try await site.report("failed", at: Shop.day(0), of: "Ann Miller \(number)") }
            try await site.report("failed", at: Shop.day(1))
            try await site.step()
            let products: PostgresQuery = """
                select distinct c.bundle_id || ' ' || c.product_id
                  from storehook.booked_orders o join storehook.order_classes c on c.id = o.class_id order by 1
                """
            #expect(try await site.texts(products) == [" ", "com.example.app basic"])
            #expect(
                try await site.texts("select distinct product_id from storehook.orders order by 1") == ["basic", "-"])
        }
    }

    @Test("an erasure removes the account and the reason, of booked attempts and of those that are not booked yet")
    func erasure() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let now = try await site.clock()
            try await site.report("pending", at: now, reason: "Ann Miller's")
            try await site.report("failed", at: Shop.day(0), of: "Ann Miller", reason: "Ann Miller's")
            try await site.report("failed", at: Shop.day(9))
            try await site.apply([Shop.bought("1", at: Shop.day(9))])
            try await site.step()
            let numbers = try await site.numbers()
            try await site.report("failed", at: Shop.day(20), reason: "Ann Miller's")
            #expect(try await EvidencePipeline(site.pool).erase("ann", by: "staff") != nil)
            try await site.step()
            #expect(try await site.numbers() == numbers)
            #expect(
                try await site.texts(
                    "select count(*)::text from storehook.booked_attempts a where a::text ilike '%miller%'")
                    == ["0"])
            #expect(try await site.texts("select distinct token::text from storehook.booked_attempts") == ["-"])
            #expect(
                try await site.texts(
                    "select count(*)::text from storehook.booked_attempts where matched_order_id is not null") == ["1"])
            // The clock goes on.
            try await site.match(at: now.adding(days: 7))
            #expect(try await site.attempts().last?.hasSuffix("1 cancelled") == true)
            #expect(try await site.attempts().contains { $0.hasSuffix("completed 1") })
        }
    }

    @Test("two clocks at once, beside writers, book each report once, and each transaction completes one attempt")
    func clocks() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for number in 0..<30 {
                            let account = "\(writer)-\(number % 5)"
                            let at = Shop.day(Int64(number) * 3)
                            try await site.report("pending", at: at, as: account)
                            try await site.apply([
                                Shop.bought("\(account)-\(number)", at: at.adding(seconds: 60), as: account)
                            ])
                            try await site.report("completed", at: at.adding(seconds: 70), as: account)
                        }
                    }
                }
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<60 {
                            _ = try await site.orders.bookAttempts(site.accounts, atMost: 7)
                            _ = try await site.orders.matchAttempts(atMost: 5)
                            _ = try await site.orders.deal(site.accounts, atMost: 9)
                        }
                    }
                }
                try await group.waitForAll()
            }
            // As a minute later, when what was being applied has been committed.
            try await site.match(at: try await site.clock().adding(seconds: 61))
            try await site.step()
            let attempts = try await site.attempts()
            #expect(attempts.count == 120)
            #expect(attempts.allSatisfy { $0.contains(" 2 completed ") })
            #expect(Set(attempts.compactMap { $0.split(separator: " ").last }).count == 120)
            #expect(try await site.value("select count(*) from storehook.orders", as: Int64.self) == 120)
            #expect(try await site.differences().isEmpty)
            #expect(try await !site.hasGaps())
        }
    }
}
