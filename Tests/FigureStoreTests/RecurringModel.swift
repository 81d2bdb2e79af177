import Base
import FigureStore
import Figures
import OrderSupport
import Postgres

/// A second way to recurring revenue: reads all periods of all customers, and looks at each day's end by itself. Days are in UTC.
struct RecurringModel {
    struct Scope: Hashable {
        var customer: String
        var group: String
    }

    struct Paid {
        var scope: Scope
        var product: String
        var currency: String
        var amount: Int64
        var first: Timestamp
        var end: Timestamp
        var reason: String

        /// Whether it runs when a day ends.
        func runs(atEndOf day: Int64) -> Bool { first.day <= day && day < end.day }
    }

    let paid: [[Paid]]
    /// The accounts that have or had a purchase.
    private let owners: [String: Set<String>]
    private let groups: [String: String]
    private let days: ClosedRange<Int64>

    /// Reads the books.
    /// - Parameters:
    ///   - months: what a product of the catalog lasts.
    ///   - groups: its subscription group.
    init?(_ site: OrderDatabase, months: [String: Int64], groups: [String: String]) async throws {
        var lines: [String: Set<String>] = [:]
        for row in try await site.pool.query(
            "select original_transaction_id, token::text from storehook.account_lines where environment = 'Production'")
        {
            lines[try row.decode(0), default: []].insert(try row.decode(1))
        }
        (owners, self.groups) = (lines, groups)
        var all: [Scope: [Paid]] = [:]
        for row in try await site.pool.query(
            """
            select o.order_key, t.product_id, t.currency, t.price, t.billed_quarters, t.starts_at as sold_at, coalesce(t.first_ends_at, t.ends_at) as ends_at,
                   h.first, h.last, h.reason
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             cross join lateral (
                select t.starts_at as first, coalesce(t.counts_until, t.ends_at) as last, t.end_reason as reason
                union all
                select s.starts_at, s.ends_at, s.end_reason from storehook.booked_stretches s where (s.order_id, s.item) = (t.order_id, t.item)) h
             where o.class_id is not null and not t.is_void and not t.is_trial and t.price > 0 and o.plan_type = 'auto_renewable'
               and h.first < h.last
            """)
        {
            let (line, product): (String, String) = (try row.decode("order_key"), try row.decode("product_id"))
            let (start, end) = (
                Timestamp(try row.decode("sold_at", as: PostgresTimestamp.self)),
                Timestamp(try row.decode("ends_at", as: PostgresTimestamp.self))
            )
            let quarters =
                try row.decode("billed_quarters", as: Int16?.self).map(Int64.init) ?? months[product].map { $0 * 4 }
                ?? Self.usual(from: start, to: end)
            let scope = Self.scope(of: line, product, owners: lines, groups: groups)
            all[scope, default: []].append(
                Paid(
                    scope: scope, product: product, currency: try row.decode("currency"),
                    amount: Self.halfEven(try row.decode("price", as: Int64.self) * 4, quarters),
                    first: Timestamp(try row.decode("first", as: PostgresTimestamp.self)),
                    end: Timestamp(try row.decode("last", as: PostgresTimestamp.self)),
                    reason: try row.decode("reason", as: String?.self) ?? "other"))
        }
        paid = Array(all.values)
        let instants = paid.joined().flatMap { [$0.first.day, $0.end.day] }
        guard let first = instants.min(), let last = instants.max() else { return nil }
        days = first...last
    }

    private static func scope(
        of line: String, _ product: String, owners: [String: Set<String>], groups: [String: String]
    ) -> Scope {
        let tokens = owners[line] ?? []
        return Scope(customer: tokens.count == 1 ? tokens.first ?? line : line, group: groups[product] ?? "")
    }

    /// The customer of a purchase.
    func scope(of line: String, _ product: String) -> Scope {
        Self.scope(of: line, product, owners: owners, groups: groups)
    }

    /// A length that none is in the catalog for: the lives have weeks, months and quarters only.
    private static func usual(from start: Timestamp, to end: Timestamp) -> Int64 {
        let length = end.milliseconds(since: start) / 86_400_000
        return length < 18 ? 1 : length < 45 ? 4 : length < 75 ? 8 : length < 135 ? 12 : length < 270 ? 24 : 48
    }

    private static func halfEven(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let (whole, rest) = dividend.quotientAndRemainder(dividingBy: divisor)
        let isUp = rest * 2 == divisor ? whole % 2 == 1 : rest * 2 > divisor
        return isUp ? whole + 1 : whole
    }

    /// The days with periods.
    var span: ClosedRange<CalendarDay> { CalendarDay(number: days.lowerBound)...CalendarDay(number: days.upperBound) }

    /// What figures are to answer by month, a line a value as ``FigureAnswer/lines`` has them.
    func lines(_ figure: Figure) -> [String] {
        let months = Set(days.map { FigureMonth(CalendarDay(number: $0)) }).sorted {
            $0.days.lowerBound < $1.days.lowerBound
        }
        return months.flatMap { month -> [String] in
            let (first, last) = (month.days.lowerBound.number, month.days.upperBound.number)
            let name = month.days.lowerBound.description
            switch figure {
            case .mrr:
                let running = paid.joined().filter { $0.runs(atEndOf: last) }
                let sum = running.reduce(Int64(0)) { $0 + $1.amount }
                return running.isEmpty ? [] : ["\(name) USD \(sum) \(sum * 12) \(running.count)"]
            case .mrrMovements:
                let (start, end) = (level(atEndOf: first - 1), level(atEndOf: last))
                let moved = movements.filter { (first...last).contains($0.day) }
                guard start != 0 || end != 0 || !moved.isEmpty else { return [] }
                let kinds = [
                    "new", "reactivation", "expansion", "contraction", "churn_voluntary", "churn_billing",
                    "churn_other",
                ].map { kind in moved.reduce(Int64(0)) { $0 + ($1.kind == kind ? $1.amount : 0) } }
                return [
                    "\(name) USD \(kinds.reduce(0, +)) \(start) \(kinds.map { "\($0)" }.joined(separator: " ")) 0 \(end)"
                ]
            case .active:
                let count = paid.count { $0.contains { $0.runs(atEndOf: last) } }
                return count == 0 ? [] : ["\(name) \(count)"]
            case .churn:
                let before = paid.count { $0.contains { $0.runs(atEndOf: first - 1) } }
                let moved = movements.filter { (first...last).contains($0.day) }
                let lost = moved.filter { $0.kind.hasPrefix("churn_") }
                let back = moved.count { $0.kind == "reactivation" && $0.isSoon }
                guard before != 0 || !lost.isEmpty || back != 0 else { return [] }
                let (part, whole) = (Int64(lost.count - back), Int64(before))
                let scaled = part * 100_000 + (part < 0 ? -whole / 2 : whole / 2)
                let share = before == 0 ? "-" : "\(scaled / whole)"
                let reasons = ["churn_voluntary", "churn_billing", "churn_other"].map { reason in
                    "\(lost.count { $0.kind == reason })"
                }
                return ["\(name) \(share) \(lost.count) \(reasons.joined(separator: " ")) \(back) \(before)"]
            case .retention: return cohorts(of: month)
            default: return []
            }
        }
    }

    /// The due and the retained customers with a first payment in a month. All days are over.
    private func cohorts(of month: FigureMonth) -> [String] {
        let starts = self.starts(in: month)
        guard !starts.isEmpty else { return [] }
        let kept = (0...36).map { months in
            starts.count { start in
                let day = Self.day(months, after: start.day)
                return start.periods.contains { $0.runs(atEndOf: day) }
            }
        }
        let shares = kept.map { (200_000 * $0 + starts.count) / (2 * starts.count) }
        let values = [starts.count] + shares + kept + (0...36).map { _ in starts.count }
        return ["\(month.days.lowerBound) \(values.map { "\($0)" }.joined(separator: " "))"]
    }

    /// The customers with a first payment in a month, and its day.
    func starts(in month: FigureMonth) -> [(day: Int64, periods: [Paid])] {
        paid.compactMap { periods in
            // A customer that paid for less than the rest of that day did not pay at its end.
            guard let day = periods.map(\.first.day).min(), periods.contains(where: { $0.runs(atEndOf: day) }),
                FigureMonth(CalendarDay(number: day)) == month
            else { return nil }
            return (day, periods)
        }
    }

    /// The same day of a later month, or its last one.
    static func day(_ months: Int, after day: Int64) -> Int64 {
        let month = FigureMonth(CalendarDay(number: day))
        let later = month.advanced(by: months)?.days ?? month.days
        return min(later.lowerBound.number + day - month.days.lowerBound.number, later.upperBound.number)
    }

    private func level(atEndOf day: Int64) -> Int64 {
        paid.joined().reduce(0) { $0 + ($1.runs(atEndOf: day) ? $1.amount : 0) }
    }

    private struct Movement {
        var day: Int64
        var kind: String
        var amount: Int64
        var isSoon: Bool
    }

    /// Each customer's, day for day.
    private var movements: [Movement] {
        paid.flatMap { periods -> [Movement] in
            var (found, before, lostIn) = ([Movement](), Int64(0), FigureMonth?.none)
            let start = periods.map(\.first.day).min() ?? 0
            for day in Set(periods.flatMap { [$0.first.day, $0.end.day] }).sorted() {
                let after = periods.reduce(Int64(0)) { $0 + ($1.runs(atEndOf: day) ? $1.amount : 0) }
                defer { before = after }
                guard after != before else { continue }
                let month = FigureMonth(CalendarDay(number: day))
                let kind: String
                if after == 0 {
                    let last = periods.filter { $0.end.day == day }.max { ($0.end, $0.first) < ($1.end, $1.first) }
                    kind = "churn_\(last?.reason ?? "other")"
                    lostIn = month
                } else if before == 0 {
                    kind = day > start ? "reactivation" : "new"
                } else {
                    kind = after > before ? "expansion" : "contraction"
                }
                // What began and ended within one day was no stop.
                let ended = periods.filter { $0.end.day < day }.map(\.end).max().map {
                    FigureMonth(CalendarDay(number: $0.day))
                }
                found.append(
                    Movement(day: day, kind: kind, amount: after - before, isSoon: (ended ?? lostIn) == month))
            }
            return found
        }
    }
}

extension Timestamp {
    var day: Int64 {
        let (days, rest) = millisecondsSince1970.quotientAndRemainder(dividingBy: 86_400_000)
        return rest < 0 ? days - 1 : days
    }
}
