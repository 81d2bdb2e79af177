import Base
import Foundation
import OrderStore
import Postgres

/// A filter of the list of orders, or a kind of search, with random values.
struct OrdersAsk: Sendable {
    /// What people call it.
    let name: String
    /// Restricts a filter by it.
    let add: @Sendable (inout OrderFilter) -> Void

    /// Each filter.
    static func filters(_ values: OrdersValues) -> [OrdersAsk] {
        [
            OrdersAsk(name: "status") { $0.status = [.completed, .refunded, .partiallyRefunded].randomElement() },
            OrdersAsk(name: "environment") {
                $0.environment = ["Production", "Sandbox"].randomElement() ?? "Production"
            },
            OrdersAsk(name: "app") {
                $0.bundleID = ["reader", "player", "writer"].randomElement().map { "com.example.\($0)" }
            },
            OrdersAsk(name: "account") { $0.account = values.accounts.randomElement() },
            OrdersAsk(name: "product") { $0.productID = "product.\(Int.random(in: 0..<30))" },
            OrdersAsk(name: "currency") { $0.currency = values.currencies.randomElement() },
            OrdersAsk(name: "storefront") { $0.storefront = values.storefronts.randomElement() },
            OrdersAsk(name: "tier") { $0.tier = ["pro", "premium"].randomElement() },
            OrdersAsk(name: "refunded") { $0.isRefunded = Bool.random() },
            OrdersAsk(name: "from") { $0.from = values.days.randomElement() },
            OrdersAsk(name: "to") { $0.to = values.days.randomElement() },
            OrdersAsk(name: "updatedSince") {
                let hours = [1, 24, 168, 720].randomElement() ?? 1
                $0.updatedSince = values.now.adding(seconds: -3600 * Int64(hours))
            },
        ]
    }

    /// Each kind of search.
    static func searches(_ values: OrdersValues) -> [OrdersAsk] {
        func search(_ name: String, _ text: @escaping @Sendable () -> String?) -> OrdersAsk {
            OrdersAsk(name: "search \(name)") { $0.search = text() }
        }
        return [
            search("transaction") { values.transactions.randomElement()?.id },
            search("original transaction") { values.transactions.randomElement()?.originalID },
            search("order line") { values.transactions.randomElement()?.item },
            search("account id") { "person-\(Int.random(in: 0..<values.orders))" },
            search("account token") { values.accounts.randomElement()?.description },
            search("number") { values.numbers.randomElement() },
            search("number, two digits of the place") { values.numbers.randomElement().map { String($0.prefix(15)) } },
            search("number, day") { values.numbers.randomElement().map { String($0.prefix(12)) } },
            search("number, month") { values.numbers.randomElement().map { String($0.prefix(10)) } },
            search("product name") { "title \(Int.random(in: 0..<30))" },
            search("nothing that exists") { "unknown-\(Int.random(in: 0..<1_000_000))" },
        ]
    }
}

/// Values that occur in a filled database.
struct OrdersValues: Sendable {
    struct Transaction: Sendable {
        var id: String
        var originalID: String
        var item: String?
    }

    var orders = 0
    var now: Timestamp
    var accounts: [UniqueIdentifier] = []
    var currencies: [String] = []
    var storefronts: [String] = []
    var days: [CalendarDay] = []
    var numbers: [String] = []
    var transactions: [Transaction] = []
    /// The place behind page 9,999, or behind the middle of a smaller database.
    var deep: ListCursor?

    init(_ pool: PostgresPool) async throws {
        now = Timestamp(try await pool.query("select now()").one().decode(0, as: PostgresTimestamp.self))
        orders = Int(
            try await pool.query("select count(*) from storehook.booked_orders").one().decode(0, as: Int64.self))
        func texts(_ statement: PostgresQuery) async throws -> [String] {
            try await pool.query(statement, deadline: .seconds(120)).map { try $0.decode(0) }
        }
        accounts = try await pool.query("select token from storehook.account_lines tablesample system (1) limit 5000")
            .map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
        currencies = try await texts("select distinct currency from storehook.order_classes")
        storefronts = try await texts("select distinct storefront from storehook.order_classes")
        days = try await texts("select day::text from storehook.order_days").compactMap { CalendarDay($0) }
        numbers = try await texts(
            "select number from storehook.orders where number is not null order by random() limit 5000")
        transactions = try await pool.query(
            """
            select transaction_id, original_transaction_id, web_order_line_item_id from storehook.transactions
             tablesample system (1) limit 5000
            """, deadline: .seconds(120)
        ).map { Transaction(id: try $0.decode(0), originalID: try $0.decode(1), item: try $0.decode(2)) }
        let behind = Int64(min(9_999 * OrderStore.usualLimit, orders / 2)) - 1
        deep = try await pool.query(
            """
            select to_char(day, 'YYYY-MM-DD'), id::text from storehook.booked_orders where class_id is not null
             order by day desc, id desc offset \(max(0, behind)) limit 1
            """, deadline: .seconds(120)
        ).first.map { ListCursor(behind: [try $0.decode(0), try $0.decode(1)]) }
    }
}
