import Base
import Foundation
import OrderStore
import Postgres
import TestSupport
import Testing

/// What people type to find an order.
struct OrderSearchTests {
    private func found(_ text: String, _ database: OrderListDatabase, _ filter: OrderFilter = .init()) async throws
        -> [String]
    {
        var (filter, found, cursor) = (filter, [String](), ListCursor?.none)
        filter.search = text
        repeat {
            let page = try await database.store.list(filter, under: OrderListDatabase.catalog, after: cursor, limit: 60)
            found += page.elements.map(\.key)
            cursor = page.next
        } while cursor != nil
        return found
    }

    @Test func `The beginning of a number finds the orders with such numbers, in any case`() async throws {
        var generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...1500, seed: generator.seed, days: 3)
            // Beyond four digits, and beyond five.
            try await database.pool.query("update public.life set number = number + 9000 where number > 1000")
            try await database.pool.query("update public.life set number = number * 10 where number > 10200")
            try await database.pool.query(
                "update storehook.booked_orders o set number = l.number from public.life l where l.key = o.order_key")
            let numbers: [String] = try await database.pool.query(
                "select storehook.order_number(day, number) from public.life where number > 0 and not is_hidden"
            ).map { try $0.decode(0) }
            #expect(
                numbers.contains { $0.count == 17 } && numbers.contains { $0.count == 18 }
                    && numbers.contains { $0.count == 19 })
            for _ in 0..<samples(of: 60, oneIn: 3) {
                let number = try #require(numbers.randomElement(using: &generator))
                let prefix = String(number.prefix(Int.random(in: 4...19, using: &generator)))
                var filter = OrderFilter()
                if Bool.random(using: &generator) { filter.bundleID = OrderListDatabase.apps[0] }
                if Bool.random(using: &generator) { filter.from = CalendarDay("2026-03-02") }
                if Bool.random(using: &generator) {
                    filter.account = account(Int.random(in: 0..<40, using: &generator))
                }
                let expected = try await database.expected(
                    filter, search: "storehook.order_number(l.day, l.number) like '\(prefix)%'")
                let text = Bool.random(using: &generator) ? prefix : prefix.lowercased()
                #expect(try await found(text, database, filter) == expected, "\(text), \(filter), \(generator.seed)")
            }
            for none in [
                "ORD-2027", "ORD-20261301", "ORD-20260230", "ORD-20260301-0000", "ORD-0000", "ORD-20260301-000001",
            ] {
                #expect(try await found(none, database).isEmpty, "\(none)")
            }
        }
    }

    @Test func `Ids of Apple's find the orders that they belong to, and no sibling`() async throws {
        var generator = SeededGenerator()
        try await OrderListDatabase.with { database in
            try await database.add(1...600, seed: generator.seed)
            for sample in 0..<120 {
                let number = Int.random(in: 1...600, using: &generator)
                let key = "\(10_000 + number)"
                let (text, condition): (String, String) =
                    switch sample % 4 {
                    // The first transaction of a consumable may be the original one of its siblings.
                    case 0: (key, "'\(key)' in (l.key, l.original)")
                    case 1: (key + "-2", "l.key = '\(key)' and l.periods > 1")
                    case 2: ("line-\(key)-1", "l.key = '\(key)' and l.plan_type = 'auto_renewable'")
                    default: (key + "-9", "false")
                    }
                #expect(
                    try await found(text, database) == database.expected(OrderFilter(), search: condition),
                    "\(text), seed \(generator.seed)")
            }
        }
    }

    @Test func `An account's id and token find its orders, with other filters beside them`() async throws {
        try await OrderListDatabase.with { database in
            try await database.add(1...900, seed: 3)
            let name = "alice"
            let token = AccountDigest.token(of: name)
            // Alice has what account 5 had.
            for statement in ["account_lines", "purchase_bindings"] {
                try await database.pool.query(
                    "update storehook.\(unescaped: statement) set token = \(UUID(token)) where token = \(UUID(account(5)))"
                )
            }
            for column in ["app_account_token", "phase_account[1]"] {
                try await database.pool.query(
                    "update storehook.subscriptions set \(unescaped: column) = \(UUID(token)) where \(unescaped: column) = \(UUID(account(5)))"
                )
            }
            try await database.pool.query(
                "update storehook.one_time_purchases set app_account_token = \(UUID(token)) where app_account_token = \(UUID(account(5)))"
            )
            try await database.pool.query("update storehook.account_ids set rule = 'auto'")
            var filter = OrderFilter()
            filter.account = account(5)
            let expected = try await database.expected(filter)
            #expect(expected.count > 3)
            for text in [name, token.description, "token:\(token)"] {
                #expect(try await found(text, database) == expected, "\(text)")
            }
            filter = OrderFilter()
            filter.account = token
            #expect(try await found(name, database, filter) == expected)
            filter.account = account(6)
            #expect(try await found(name, database, filter).isEmpty)
        }
    }

    @Test func `A product's id, short id or the beginning of a name find the orders that show it`() async throws {
        try await OrderListDatabase.with { database in
            try await database.add(1...900, seed: 4)
            for (text, condition) in [
                ("product.2", "l.product_id = 'product.2'"), ("PRODUCT.2", "l.product_id = 'product.2'"),
                ("1-3", "l.product_id = 'product.3' and l.bundle_id = 'com.example.player'"),
                ("title 1", "l.product_id = 'product.1'"),
                ("TITLE", "l.product_id in ('product.0', 'product.1', 'product.2', 'product.4')"),
                (
                    "über 1",
                    "l.product_id in ('product.0', 'product.1', 'product.2', 'product.4') and l.bundle_id = 'com.example.player'"
                ),
                ("product.5", "false"), ("itle 1", "false"), ("\u{0}", "false"), ("'; drop table x; --", "false"),
            ] {
                #expect(
                    try await found(text, database) == database.expected(OrderFilter(), search: condition), "\(text)")
            }
        }
    }

    @Test func `One order is shown by its number and by ids; hidden ones are named as shared`() async throws {
        try await OrderListDatabase.with { database in
            try await database.add(1...400, seed: 5)
            let rows = try await database.pool.query(
                """
                select key, is_hidden, storehook.order_number(day, number) as number, periods, plan_type,
                       key || case when periods > 1 then '-' || periods else '' end as transaction
                  from public.life where number > 0 limit 120
                """)
            var (shared, whole) = (0, 0)
            for row in rows {
                let key: String = try row.decode("key")
                let number: String = try row.decode("number")
                let shown = try await database.store.show(number.lowercased(), under: OrderListDatabase.catalog)
                #expect(shown.count == 1 && shown.first?.number == number)
                switch try #require(shown.first) {
                case .shared(let order):
                    shared += 1
                    #expect(try row.decode("is_hidden") && order.key == key)
                case .order(let detail):
                    whole += 1
                    #expect(try !row.decode("is_hidden", as: Bool.self) && detail.order.key == key)
                    #expect(detail.lines.count == Int(try row.decode("periods", as: Int32.self)))
                    #expect(
                        detail.lines.map(\.type)
                            == detail.lines.indices.map { $0 == 0 ? "initial_purchase" : "renewal" })
                }
                let transaction: String = try row.decode("transaction")
                let byTransaction = try await database.store.show(transaction, under: nil).compactMap(\.number)
                #expect(byTransaction.contains(number), "\(transaction)")
            }
            #expect(shared > 0 && whole > 0)
            for none in ["ORD-20260301", "ORD-20260301-99999", "ORD-19990101-0001", "no such", "", "\u{0}"] {
                #expect(try await database.store.show(none, under: nil).isEmpty, "\(none)")
            }
        }
    }

    @Test func `Refunds stand beside their transactions`() async throws {
        try await OrderListDatabase.with { database in
            try await database.add(1...60, seed: 6)
            try await database.pool.query(
                """
                insert into storehook.booked_refunds (order_id, item, place, type, at, amount, is_computed, heard_at)
                select t.order_id, t.item, p.place, p.type, t.starts_at + p.place * interval '1 hour', 500 * p.place, true, now()
                  from storehook.booked_transactions t cross join (values (0, 'refund'), (1, 'refund_reversed')) p (place, type)
                 where t.transaction_id !~ '-'
                """)
            let order = try #require(try await database.store.list(under: nil, limit: 1).elements.first)
            guard case .order(let detail)? = try await database.store.show(order.number ?? order.key, under: nil).first
            else {
                throw NeverHappened("it is listed")
            }
            #expect(detail.lines.prefix(3).map(\.type) == ["initial_purchase", "refund", "refund_reversed"])
            #expect(detail.lines.prefix(3).map(\.amount) == [1000, 0, 500] && detail.lines[1].isComputed)
            #expect(detail.lines.dropFirst(3).allSatisfy { $0.type == "renewal" })
        }
    }
}
