import ArgumentParser
import Base
import EvidenceStore
import FigureStore
import Figures
import Foundation
import Postgres

/// Whether figures of years answer at once, and how long a refund takes to be in them.
struct FiguresBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "figures",
        abstract:
            "Three years of each figure by month, by day and by part, in each currency and in one; its rows' first page; a late refund.",
        discussion: """
            Fills a database as the bench orders does, and sums it. Then one client asks: in each currency by itself, in the reporting
            currency, and in another one, first from the cells and then from the sums that workers keep of it. Bound: a median of 200 ms
            for a figure and of 100 ms for the first page of its rows, but for the first answers in another currency; a refund of a
            year ago is in the figures within ten seconds.

            Example: storehook-bench figures --orders 1000000
            """)

    @Option(help: "Orders, and as many accounts; five to six times as many transactions.") var orders = 1_000_000
    @Option(help: "How often each is asked.") var asks = 50
    @Option(help: "Asks only what has this text in its name.") var only = ""
    @Flag(help: "DATABASE_URL names a migrated database: fill it where it is empty, and leave it.") var keep = false

    private static let bound = (figure: 200.0, rows: 100.0)

    func validate() throws {
        guard (1000...20_000_000).contains(orders), (5...100_000).contains(asks) else {
            throw ValidationError("--orders begins at 1000, --asks at 5")
        }
    }

    func run() async throws {
        try await OrdersFilling(orders: orders, accounts: orders).filled(isKept: keep) { pool, _ in
            let store = FigureStore(pool)
            try await sum(store, pool, "summed")
            print("\(asks) asks each, milliseconds")
            try await ask(store)
            try await addRates(pool)
            try await sum(store, pool, currency: "EUR", "converted to euros")
            try await ask(store, in: "EUR")
            try await askFirst(store, in: "GBP")
            try await sum(store, pool, currency: "EUR", "converted to pounds, too")
            try await ask(store, in: "GBP")
            // What follows is measured without.
            try await pool.query("delete from storehook.asked_currencies")
            try await sum(store, pool, "without currencies again")
            try await refund(store, pool)
        }
    }

    private func sum(
        _ store: FigureStore, _ pool: PostgresPool, currency: String? = nil, _ what: String
    ) async throws {
        let start = ContinuousClock.now
        while try await store.isDue(in: "UTC", currency: currency), try await store.sum(in: "UTC", currency: currency) {
        }
        let took = Int((ContinuousClock.now - start) / .seconds(1))
        try await pool.query(
            "vacuum (analyze) storehook.figure_sums, storehook.currency_sums, storehook.value_sums, storehook.currency_values, storehook.currency_value_days",
            deadline: .seconds(600))
        print("\(what) in \(took) s")
    }

    private static let parts: [(step: FigureQuestion.Step, split: FigureQuestion.Split?)] = [
        (.month, nil), (.day, nil), (.month, .app), (.month, .product), (.month, .country), (.month, .currency),
        (.month, .plan),
    ]

    private static var days: ClosedRange<CalendarDay> {
        let today = Int64(Date.now.timeIntervalSince1970) / 86_400
        return CalendarDay(number: today - 1095)...CalendarDay(number: today)
    }

    /// The questions of a figure, each with its name.
    private func questions(_ figure: Figure, in currency: String?) -> [(name: String, question: FigureQuestion)] {
        Self.parts.filter { $0.split.map { figure.splits.contains($0) } ?? true }.map { step, split in
            (
                "\(figure.rawValue)\(currency.map { " in \($0)" } ?? "") by \(step.rawValue)"
                    + (split.map { " and \($0.rawValue)" } ?? ""),
                FigureQuestion(figure, Self.days, by: step, split, in: currency)
            )
        }
    }

    /// - Parameter currency: nil for each by itself.
    private func ask(_ store: FigureStore, in currency: String? = nil) async throws {
        for figure in Figure.allCases where currency == nil || figure.isMoney {
            for (name, question) in questions(figure, in: currency) where isWanted(name) {
                do {
                    report(name, try await latencies { _ = try await store.answer(question) }, Self.bound.figure)
                } catch let many as TooManyCells { print("\(name): \(many)") }
            }
            let question = FigureQuestion(figure, Self.days, by: .month, in: currency)
            var app = question
            app.apps = ["com.example.writer"]
            let name = figure.rawValue + (currency.map { " in \($0)" } ?? "")
            let narrowed = [
                ("", FigureRowQuestion(question)),
                (" of a product", FigureRowQuestion(question, productID: "product.3")),
                (" of a country", FigureRowQuestion(question, storefront: "ABX")),
                (" of a currency", FigureRowQuestion(question, currency: "JPY")),
                (" of an app", FigureRowQuestion(app)),
            ]
            for (part, asked) in narrowed
            where isWanted("\(name), rows\(part)") && (asked.question.apps == nil || figure.splits.contains(.app)) {
                report(
                    "\(name), rows\(part)", try await latencies { _ = try await store.rows(asked, limit: 25) },
                    Self.bound.rows)
            }
        }
    }

    /// The first answers in a currency, from the cells: one of each.
    private func askFirst(_ store: FigureStore, in currency: String) async throws {
        for figure in Figure.allCases where figure.isMoney {
            for (name, question) in questions(figure, in: currency) where isWanted(name) {
                let start = ContinuousClock.now
                do { _ = try await store.answer(question) } catch let many as TooManyCells {
                    print("\(name): \(many)")
                    continue
                }
                print("\(name), for the first time: \((ContinuousClock.now - start) / .milliseconds(1)) ms")
            }
        }
    }

    private func isWanted(_ name: String) -> Bool { only.isEmpty || name.contains(only) }

    private func addRates(_ pool: PostgresPool) async throws {
        try await pool.query(
            """
            insert into storehook.exchange_rates (currency, day, billionths, imported_at)
            select c.currency, current_date - n, 1000000000 + (hashint8(n + length(c.currency) * 7919) & 268435455), now()
              from (select distinct currency from storehook.order_classes where currency not in ('', 'EUR')) c
             cross join generate_series(0, 1200) n where n % 7 < 5
                on conflict do nothing
            """)
    }

    /// How long a refund of a year ago takes until its day is summed.
    private func refund(_ store: FigureStore, _ pool: PostgresPool) async throws {
        let latencies = try await latencies {
            try await pool.query(
                """
                insert into storehook.booked_refunds (order_id, item, place, type, at, amount, is_computed, heard_at)
                select t.order_id, t.item, (select count(*) from storehook.booked_refunds r where (r.order_id, r.item) = (t.order_id, t.item)),
                       'refund', now() - interval '1 year', 10, false, now()
                  from storehook.booked_transactions t
                 where t.starts_at > now() - interval '1 year' - random() * interval '30 days' and t.price > 0
                 order by t.starts_at limit 1
                """, deadline: .seconds(60))
            while try await store.isDue(in: "UTC"), try await store.sum(in: "UTC") {}
        }
        report("a refund of a year ago, until it is summed", latencies, 10_000)
    }

    private func latencies(_ body: () async throws -> Void) async throws -> Latencies {
        var latencies = Latencies()
        // The first ones warm up.
        for number in -3..<asks {
            let start = ContinuousClock.now
            try await body()
            if number >= 0 { latencies.record(ContinuousClock.now - start) }
        }
        return latencies
    }

    private func report(_ name: String, _ latencies: Latencies, _ bound: Double) {
        let median = latencies.milliseconds(percentile: 50)
        print(
            name + String(repeating: " ", count: max(1, 46 - name.count))
                + "\(median) (p99 \(latencies.milliseconds(percentile: 99)))" + (median > bound ? " !" : ""))
    }
}
