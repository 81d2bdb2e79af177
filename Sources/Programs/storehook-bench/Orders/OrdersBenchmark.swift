import Accounts
import ArgumentParser
import Base
import EvidenceStore
import OrderStore
import Postgres

/// Whether a list of orders takes the same time with every filter, and on every page.
struct OrdersBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orders",
        abstract:
            "Each filter of orders, each pair and each search among a million orders, the first page and page 10,000.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, and ten gigabytes there. It is filled by statements of
            SQL, which takes minutes; then one client asks for pages of 25 by random values, one after the other. Bound: a median of
            20 ms and a p99 of 100 ms for each.

            Example: storehook-bench orders --orders 1000000
            """)

    @Option(help: "Orders, and as many accounts; five to six times as many transactions.") var orders = 1_000_000
    @Option(help: "How often each is asked.") var asks = 200
    @Option(help: "Only what has this word in its name.") var only: String?
    @Flag(help: "DATABASE_URL names a migrated database: fill it where it is empty, and leave it.") var keep = false

    private static let bound = (median: 20.0, p99: 100.0)

    func validate() throws {
        guard (1000...20_000_000).contains(orders), (5...100_000).contains(asks) else {
            throw ValidationError("--orders begins at 1000, --asks at 5")
        }
    }

    func run() async throws {
        try await OrdersFilling(orders: orders, accounts: orders).filled(isKept: keep) { pool, _ in
            try await askAll(pool)
        }
    }

    private func askAll(_ pool: PostgresPool) async throws {
        let counts = try await pool.query(
            """
            select (select count(*) from storehook.booked_orders), (select count(*) from storehook.booked_transactions),
                   (select count(*) from storehook.accounts), (select count(*) from storehook.order_classes)
            """, deadline: .seconds(300)
        ).one()
        print(
            "\(try counts.decode(0, as: Int64.self)) orders, \(try counts.decode(1, as: Int64.self)) transactions, "
                + "\(try counts.decode(2, as: Int64.self)) accounts, \(try counts.decode(3, as: Int64.self)) classes; "
                + "\(asks) asks each, milliseconds")
        try await measure(pool)
    }

    private func measure(_ pool: PostgresPool) async throws {
        let (store, catalog) = (OrderStore(pool), try Catalog(yaml: OrdersFilling.catalog))
        let values = try await OrdersValues(pool)
        print(Self.line(["", "median", "p99", "page 10,000: median", "p99"]))
        var worst = (median: (0.0, ""), p99: (0.0, ""))
        for ask in Self.all(values) where only.map({ ask.name.contains($0) }) ?? true {
            var cells = [ask.name]
            for cursor in [nil, values.deep] {
                var latencies = Latencies()
                // The first ones warm up.
                for number in -5..<asks {
                    var filter = OrderFilter()
                    ask.add(&filter)
                    let start = ContinuousClock.now
                    _ = try await store.list(filter, under: catalog, after: cursor)
                    if number >= 0 { latencies.record(ContinuousClock.now - start) }
                }
                let (median, p99) = (latencies.milliseconds(percentile: 50), latencies.milliseconds(percentile: 99))
                let name = ask.name + (cursor == nil ? "" : ", page 10,000")
                worst.median = Self.higher(worst.median, (median, name))
                worst.p99 = Self.higher(worst.p99, (p99, name))
                let isBeyond = median > Self.bound.median || p99 > Self.bound.p99
                cells += ["\(median)", "\(p99)\(isBeyond ? " !" : "")"]
            }
            print(Self.line(cells))
        }
        print("worst median \(worst.median.0), \(worst.median.1); worst p99 \(worst.p99.0), \(worst.p99.1)")
    }

    /// No filter, each alone, each pair, each search.
    private static func all(_ values: OrdersValues) -> [OrdersAsk] {
        let filters = OrdersAsk.filters(values)
        let pairs = filters.indices.flatMap { first in
            filters[(first + 1)...].map { second in
                let (one, other) = (filters[first].add, second.add)
                return OrdersAsk(name: "\(filters[first].name) and \(second.name)") {
                    one(&$0)
                    other(&$0)
                }
            }
        }
        return [OrdersAsk(name: "no filter") { _ in }] + filters + pairs + OrdersAsk.searches(values)
    }

    /// Columns that stand below one another.
    private static func line(_ cells: [String]) -> String {
        zip(cells, [44, 10, 12, 22, 12]).enumerated().map { place, column in
            let padding = String(repeating: " ", count: max(1, column.1 - column.0.count))
            return place == 0 ? column.0 + padding : padding + column.0
        }.joined()
    }

    private static func higher(_ a: (Double, String), _ b: (Double, String)) -> (Double, String) { a.0 < b.0 ? b : a }
}
