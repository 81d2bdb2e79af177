import AccountStore
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import Synchronization

/// A migrated database of a test's own with orders and figures.
struct FigureDatabase: Sendable {
    let site: OrderDatabase
    let figures: FigureStore

    /// Runs `body` with a database. Its first catalog has this zone, and its figures stand without rows.
    static func with<T>(zone: String = "UTC", _ body: (FigureDatabase) async throws -> T) async throws -> T {
        try await OrderDatabase.with(catalog: Shop.catalog(zone: zone)) { site in
            // No currency is noted because a machine is busy.
            let database = FigureDatabase(site: site, figures: FigureStore(site.pool, patience: .seconds(3600)))
            try await database.settle(in: zone)
            return try await body(database)
        }
    }

    /// Hears messages one after the other, and numbers the orders.
    func hear(_ entries: LedgerEntry...) async throws {
        for entry in entries { try await site.apply([entry]) }
        try await site.number()
    }

    /// Sums all that is due, in portions greater than a worker's: most days between bookings of these tests and now have nothing.
    /// - Parameters:
    ///   - currency: the reporting currency.
    ///   - hasFiscalMonths: whether fiscal months are kept; nil leaves it as it is.
    func settle(in zone: String = "UTC", currency: String? = nil, hasFiscalMonths: Bool? = nil) async throws {
        let current = try await site.accounts.current()
        let plans = FigurePlan.all(of: current?.catalog)
        let commission = try await CommissionStore(site.pool).counting()
        while try await figures.sum(
            in: zone, currency: currency, plans: plans, catalogVersion: current?.version, commission: commission,
            hasFiscalMonths: hasFiscalMonths, atMost: 120)
        {}
    }

    /// Imports rates, each like `2026-01-02 USD 1.0823`.
    @discardableResult
    func take(_ rates: String...) async throws -> RateImport { try await take(rates) }

    /// Imports rates, each like `2026-01-02 USD 1.0823`.
    @discardableResult
    func take(_ rates: [String]) async throws -> RateImport {
        let text = "date,currency,rate\n" + rates.map { $0.replacing(" ", with: ",") + "\n" }.joined()
        let last = CalendarDay(number: 40_000)
        return try await RateStore(site.pool).take(
            RateFile(Array(text.utf8), through: last).rates, digest: Fingerprint(of: Array(text.utf8)), by: "cli:test")
    }

    /// Sums again and again while `body` runs, in one of the zones after the other.
    func summing<T>(in zones: [String], _ body: () async throws -> T) async throws -> T {
        let end = End()
        let clock = Task {
            var round = 0
            while !end.isReached.load(ordering: .relaxed) {
                // A new zone gets some rounds of its own.
                _ = try await figures.sum(in: zones[round / 20 % zones.count])
                round += 1
            }
        }
        do {
            let value = try await body()
            end.isReached.store(true, ordering: .relaxed)
            try await clock.value
            return value
        } catch {
            end.isReached.store(true, ordering: .relaxed)
            _ = await clock.result
            throw error
        }
    }

    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// What differs from the books.
    func differences(repair: Bool = false) async throws -> [RowDifference] {
        var found: [RowDifference] = []
        let count = try await figures.check(repair: repair) { found.append($0) }
        guard count == found.count else { throw Miscounted(said: count, found: found.count) }
        return found
    }

    private struct Miscounted: Error {
        let said: Int
        let found: Int
    }

    /// A question about these days: `2026-01-01`, or a month of them.
    func question(
        _ figure: Figure, _ from: String, _ to: String? = nil, by step: FigureQuestion.Step = .day,
        _ split: FigureQuestion.Split? = nil, environment: String = "Production", apps: Set<String>? = nil,
        in currency: String? = nil
    ) throws -> FigureQuestion {
        guard let first = CalendarDay(from), let last = CalendarDay(to ?? from) else { throw NoDay(text: from) }
        return FigureQuestion(
            figure, first...last, by: step, split, environment: environment, apps: apps, in: currency)
    }

    private struct NoDay: Error { let text: String }

    /// What figures answer, a line a value.
    func lines(
        _ figure: Figure, _ from: String, _ to: String? = nil, by step: FigureQuestion.Step = .day,
        _ split: FigureQuestion.Split? = nil, environment: String = "Production", apps: Set<String>? = nil,
        in currency: String? = nil
    ) async throws -> [String] {
        try await figures.answer(
            question(figure, from, to, by: step, split, environment: environment, apps: apps, in: currency)
        ).lines
    }

    /// The rows of a question, in pages.
    func rows(_ asked: FigureRowQuestion, limit: Int = 1_000) async throws -> [FigureRow] {
        var (rows, cursor) = ([FigureRow](), ListCursor?.none)
        repeat {
            let page = try await figures.rows(asked, after: cursor, limit: limit)
            rows += page.elements
            cursor = page.next
        } while cursor != nil
        return rows
    }

    /// All cells, sums, cohorts and what customers paid, to compare them with others.
    func tables() async throws -> [String] {
        try await site.texts(
            """
            select 'cell ' || (to_jsonb(c) - 'count' || jsonb_build_object('count', sum(c.count)))::text
              from storehook.figure_cells c group by to_jsonb(c) - 'count'
            union all
            select 'sum ' || to_jsonb(s)::text from storehook.figure_sums s where s.count <> 0
            union all
            select 'cohort ' || to_jsonb(c)::text from storehook.cohort_cells c
            union all
            select 'paid ' || (to_jsonb(c) - 'count' || jsonb_build_object('count', sum(c.count)))::text
              from storehook.value_cells c group by to_jsonb(c) - 'count'
            union all
            select 'paid sum ' || to_jsonb(s)::text from storehook.value_sums s where (s.count, s.unknown, s.amount) <> (0, 0, 0)
            order by 1
            """)
    }

    /// All that is kept in currencies.
    func conversions() async throws -> [String] {
        try await site.texts(
            """
            select 'sum ' || to_jsonb(s)::text from storehook.currency_sums s
            union all
            select 'paid ' || to_jsonb(v)::text from storehook.currency_values v where (v.count, v.unknown, v.amount) <> (0, 0, 0)
            union all
            select 'paid day ' || to_jsonb(k)::text from storehook.currency_value_days k
            order by 1
            """)
    }
}

extension FigureAnswer {
    /// A line a value: period, member of the split, currency, values. `none` stands where no record says it, `-` for no value, and `!` behind the
    /// currency of what could not be converted.
    var lines: [String] {
        cells.map { cell in
            ([cell.period.description]
                + [cell.group, cell.currency].compactMap { $0.map { $0.isEmpty ? "none" : $0 } }
                + (cell.isUnconverted ? ["!"] : [])
                + question.figure.columns.map { column in column.value(cell.sums).map { "\($0)" } ?? "-" })
                .joined(separator: " ")
        }
    }
}

extension FigureRow {
    /// It but for the order's number.
    var line: String {
        [
            measure.rawValue, "\(at.millisecondsSince1970)", bundleID, productID ?? "none", storefront ?? "none",
            currency ?? "none", amount.map { "\($0)" } ?? "-", transactionID ?? "-",
        ].joined(separator: " ")
    }
}

extension FigureQuestion.Step {
    /// Those that need nothing in the catalog.
    static let always: [Self] = [.month, .day]
}

extension FigureQuestion.Split {
    /// Those that a row says itself.
    static let ofRows: [Self] = [.app, .product, .country, .currency]
}
