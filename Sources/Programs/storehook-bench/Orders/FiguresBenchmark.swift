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
            "Three years of each figure by month, by day and by part, in euros, too; its rows' first page; a late refund.",
        discussion: """
            Fills a database as the bench orders does, and sums it. Then one client asks. Bound: a median of 200 ms for a figure and of
            100 ms for the first page of its rows; a refund of a year ago is in the figures within ten seconds.

            Example: storehook-bench figures --orders 1000000
            """)

    @Option(help: "Orders, and as many accounts; five to six times as many transactions.") var orders = 1_000_000
    @Option(help: "How often each is asked.") var asks = 50
    @Flag(help: "DATABASE_URL names a migrated database: fill it where it is empty, and leave it.") var keep = false

    private static let bound = (figure: 200.0, rows: 100.0)

    func validate() throws {
        guard (1000...20_000_000).contains(orders), (5...100_000).contains(asks) else {
            throw ValidationError("--orders begins at 1000, --asks at 5")
        }
    }

    func run() async throws {
        try await OrdersFilling(orders: orders, accounts: orders).filled(isKept: keep) { pool in
            let store = FigureStore(pool)
            let start = ContinuousClock.now
            while try await store.isDue(in: "UTC"), try await store.sum(in: "UTC") {}
            try await pool.query("vacuum (analyze) storehook.figure_sums", deadline: .seconds(600))
            print("summed in \(Int((ContinuousClock.now - start) / .seconds(1))) s; \(asks) asks each, milliseconds")
            try await ask(store, pool)
            try await convert(store, pool)
            try await refund(store, pool)
        }
    }

    private func ask(_ store: FigureStore, _ pool: PostgresPool) async throws {
        let today = Int64(Date.now.timeIntervalSince1970) / 86_400
        let days = CalendarDay(number: today - 1095)...CalendarDay(number: today)
        for figure in Figure.allCases {
            for (step, split) in [
                (FigureQuestion.Step.month, nil), (.day, nil), (.month, .app), (.month, .product), (.month, .country),
                (.month, .currency),
            ] as [(FigureQuestion.Step, FigureQuestion.Split?)] {
                let name = "\(figure.rawValue) by \(step.rawValue)" + (split.map { " and \($0.rawValue)" } ?? "")
                let question = FigureQuestion(figure, days, by: step, split)
                do {
                    let latencies = try await latencies { _ = try await store.answer(question) }
                    report(name, latencies, Self.bound.figure)
                } catch let many as TooManyCells { print("\(name): \(many)") }
            }
            let rows = FigureRowQuestion(
                FigureQuestion(figure, days, by: .month), productID: "product.\(Int.random(in: 0..<30))")
            report(
                "\(figure.rawValue), rows of a product",
                try await latencies { _ = try await store.rows(rows, limit: 25) }, Self.bound.rows)
        }
    }

    /// Three years in the reporting currency, and in one that is worked out from the cells.
    private func convert(_ store: FigureStore, _ pool: PostgresPool) async throws {
        try await pool.query(
            """
            insert into storehook.exchange_rates (currency, day, billionths, imported_at)
            select c.currency, current_date - n, 1000000000 + (hashint8(n + length(c.currency) * 7919) & 268435455), now()
              from (select distinct currency from storehook.order_classes where currency not in ('', 'EUR')) c
             cross join generate_series(0, 1200) n where n % 7 < 5
                on conflict do nothing
            """)
        let start = ContinuousClock.now
        while try await store.isDue(in: "UTC", currency: "EUR"), try await store.sum(in: "UTC", currency: "EUR") {}
        try await pool.query("vacuum (analyze) storehook.converted_sums", deadline: .seconds(600))
        print("converted in \(Int((ContinuousClock.now - start) / .seconds(1))) s")
        let today = Int64(Date.now.timeIntervalSince1970) / 86_400
        let days = CalendarDay(number: today - 1095)...CalendarDay(number: today)
        for figure in Figure.allCases where figure.isMoney {
            for (step, split) in [
                (FigureQuestion.Step.month, nil), (.day, nil), (.month, .app), (.month, .product), (.month, .country),
                (.month, .currency),
            ] as [(FigureQuestion.Step, FigureQuestion.Split?)] {
                let name = "\(figure.rawValue) in EUR by \(step.rawValue)" + (split.map { " and \($0.rawValue)" } ?? "")
                let question = FigureQuestion(figure, days, by: step, split, in: "EUR")
                do {
                    report(name, try await latencies { _ = try await store.answer(question) }, Self.bound.figure)
                } catch let many as TooManyCells { print("\(name): \(many)") }
            }
        }
        let other = ContinuousClock.now
        _ = try await store.answer(FigureQuestion(.net, days, by: .month, in: "USD"))
        print("net in USD by month, from the cells: \((ContinuousClock.now - other) / .milliseconds(1)) ms")
        // What follows is measured without.
        while try await store.isDue(in: "UTC"), try await store.sum(in: "UTC") {}
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
