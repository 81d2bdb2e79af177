import Base
import Figures
import Postgres

/// A part of the rows of a question. A page reads one part after the other, until it is full.
struct FigureRowPart {
    /// The periods that are looked at for rows that stand at the end of a day.
    enum Reach {
        /// So many at most of those that began last.
        case few(Int64)
        /// All, by the index of beginnings or of ends.
        case allByBeginning, allByEnd
    }

    /// The days of the rows' instants.
    var days: ClosedRange<CalendarDay>
    /// Of standing rows, the periods that are looked at.
    var reach = Reach.allByEnd
    /// Whether it includes the rows of the parts before it.
    var isAnew = false
    /// Of changes of recurring revenue, about how many periods begin or end in it, see ``ChangedOrders``; nil of other rows, for all of its days.
    var periods: Int64?
    /// How many transactions are looked through for these periods, at most.
    var transactions: Int64 = 4_096
    /// The first instant of such a part, in microseconds since 1970; nil for that of the days.
    var since: Int64?
    /// The instant behind such a part, in microseconds since 1970; nil for the end of the days.
    var until: Int64?

    /// The part behind it, with as many periods as the further rows should need; nil behind the last one.
    /// - Parameters:
    ///   - found: how many rows this part has.
    ///   - missing: how many rows the page lacks.
    func rest(behind found: Int, missing: Int) -> FigureRowPart? {
        guard let periods, let until else { return nil }
        let needed = found == 0 ? periods * 4 : Int64(missing) * periods / Int64(found) * 3 / 2
        return FigureRowPart(
            days: days, periods: min(max(needed, 16), periods * 8, Self.mostLookedThrough),
            transactions: min(transactions * 2, Self.mostLookedThrough), since: until)
    }

    private static let mostLookedThrough: Int64 = 1 << 18
}

extension FigureRowQuestion {
    /// The parts of its rows in their order. Each has about twice as many days as the one before it. Of changes of recurring revenue, the first
    /// part: what lies behind it is found when it is read.
    func parts(
        after mark: FigureRowMark?, _ limit: Int, in zone: String, _ session: borrowing PostgresSession
    ) throws -> [FigureRowPart] {
        let days = question.days
        let bounds = (
            try session.query(.firstDay(in: zone)).one().decode(0, as: String?.self),
            try session.query(.lastDay(in: zone)).one().decode(0, as: String?.self)
        )
        guard let firstDay = bounds.0.flatMap({ CalendarDay($0) }), let lastDay = bounds.1.flatMap({ CalendarDay($0) })
        else { return [] }
        if question.figure.rowsStand {
            // A power of two: each number of periods is a statement of its own.
            let few = Int64(1) << (64 - Int64(limit * 2).leadingZeroBitCount)
            // Half of the days at most are read, those before the last one or behind it.
            let isEarly = days.upperBound.number - firstDay.number < lastDay.number - days.upperBound.number
            return [
                FigureRowPart(days: days, reach: .few(few)),
                FigureRowPart(days: days, reach: .few(few * 8), isAnew: true),
                FigureRowPart(days: days, reach: isEarly ? .allByBeginning : .allByEnd, isAnew: true),
            ]
        }
        // Every zone is less than two days away from UTC.
        let behind = mark.map { CalendarDay(number: $0.instant / 86_400_000_000 - 2) } ?? firstDay
        let (first, last) = (
            max(days.lowerBound, firstDay, behind).number, min(lastCounted(days.upperBound), lastDay).number
        )
        if question.figure.rowsChange {
            guard first <= last else { return [] }
            let days = CalendarDay(number: first)...CalendarDay(number: last)
            return [FigureRowPart(days: days, periods: 2 * Int64(limit + 1))]
        }
        var (parts, start, length) = ([FigureRowPart](), first, Int64(mark == nil ? 1 : 4))
        while start <= last {
            let end = min(start + length - 1, last)
            parts.append(FigureRowPart(days: CalendarDay(number: start)...CalendarDay(number: end)))
            (start, length) = (end + 1, length * 2)
        }
        return parts
    }

    /// The last day with rows of a question: customers of its last day pay for some months more. Of the past, what was paid until then counts, and
    /// the customers whose day so many months later had ended.
    private func lastCounted(_ day: CalendarDay) -> CalendarDay {
        switch question.figure {
        case .lifetimeValue:
            let last = CalendarDay(number: day.number + Int64(31 * (months ?? Cohort.months.upperBound)))
            return question.until.map { min($0, last) } ?? last
        case .retention:
            guard let months, let until = question.until else { return day }
            return min(day, until.last(months: months))
        default: return day
        }
    }
}

extension CalendarDay {
    /// The last day whose day so many months later is this one or before it, see ``Cohort``.
    fileprivate func last(months: Int) -> CalendarDay {
        let own = FigureMonth(self).days
        guard let days = FigureMonth(self).advanced(by: -months)?.days else { return CalendarDay(number: .min) }
        if self == own.upperBound { return days.upperBound }
        return CalendarDay(number: min(days.lowerBound.number + number - own.lowerBound.number, days.upperBound.number))
    }
}

extension Figure {
    /// Whether its rows are those that stand at the end of the last day.
    var rowsStand: Bool { rowMeasures.contains(.standing) || rowMeasures.contains(.standingCustomer) }

    /// Whether its rows are changes of recurring revenue. A day has thousands of renewals and few changes, and each takes long to tell from the
    /// other.
    fileprivate var rowsChange: Bool {
        rowMeasures.allSatisfy { FigureMeasure.movements.contains($0) || FigureMeasure.customers.contains($0) }
    }
}

/// A page of rows, in SQL. The part `z` is one row with the values of the question, see ``PostgresQuery/StringInterpolation``.
enum FigureRowPage {
    /// The order of rows, the earliest or the latest first.
    static func order(_ row: String, isLatestFirst: Bool = false) -> String {
        columns(row).map { isLatestFirst ? "\($0) desc" : $0 }.joined(separator: ", ")
    }

    private static func columns(_ row: String) -> [String] {
        ["at", "order_id", "item", "place", "measure"].map { "\(row).\($0)" }
    }

    /// A condition: whether a row is one of the question's, behind its mark.
    static func condition(_ row: String, isLatestFirst: Bool = false) -> String {
        """
        \(row).environment = z.environment and (z.bundle_ids is null or \(row).bundle_id = any (z.bundle_ids))
        and \(narrowing(row)) and (z.currency is null or coalesce(\(row).currency, '') = z.currency)
        and (not z.is_behind or (\(columns(row).joined(separator: ", "))) \(isLatestFirst ? "<" : ">")
                                (z.mark_at, z.after_order, z.after_item, z.after_place, z.after_measure))
        """
    }

    /// A condition: whether a row has the product, the plan and the country of the question.
    static func narrowing(_ row: String) -> String {
        """
        (z.product_id is null or coalesce(\(row).product_id, '') = z.product_id)
        and (z.plan is null or z.plan <> '' and coalesce(\(row).product_id, '') = any (z.plan_products)
             or z.plan = '' and coalesce(\(row).product_id, '') <> all (z.plan_products))
        and (z.storefront is null or coalesce(\(row).storefront, '') = z.storefront)
        """
    }
}

extension PostgresQuery.StringInterpolation {
    /// A query of one row, the part `z` of a page: `zone`, `target`, `first`, `last`, `starts`, `ends` and `since` of the part; the values that
    /// narrow the rows; the mark, and as `until` and `until_order` the same for rows with the latest first; `page`; and `cohort_first` and
    /// `cohort_last`, the days of the question.
    mutating func appendInterpolation(
        page asked: FigureRowQuestion, _ part: FigureRowPart, in zone: String, after mark: FigureRowMark?, _ limit: Int
    ) {
        let question = asked.question
        let since = question.figure.rowsStand ? nil : [mark?.instant, part.since].compactMap(\.self).max()
        appendLiteral(
            """
            select s.*, f.*, coalesce(f.mark_at, 'infinity') as until,
                   case when f.is_behind then f.after_order else 9223372036854775807 end as until_order,
                   case when f.plan is not null then array(
                       select n.product_id from (\(PlanNames.sql)) n
                        where case f.plan when '' then n.plan is not null else n.plan = f.plan end) end as plan_products
              from (
            """)
        appendInterpolation(span: part.days, in: zone, to: question.currency, since: since, until: part.until)
        appendLiteral(") s cross join (select ")
        append(question.environment, "text", "environment")
        append(question.apps?.sorted(), "text[]", "bundle_ids")
        append(asked.productID, "text", "product_id")
        append(asked.plan, "text", "plan")
        append(asked.storefront, "text", "storefront")
        append(asked.currency, "text", "currency")
        append(question.days.lowerBound.description, "text::date", "cohort_first")
        append(question.days.upperBound.description, "text::date", "cohort_last")
        append(Int64(limit), "bigint", "page")
        appendLiteral("'epoch'::timestamptz + ")
        append(mark?.instant, "bigint * interval '1 microsecond'", "mark_at")
        append(mark?.orderID ?? 0, "bigint", "after_order")
        append(mark?.item ?? "", "text", "after_item")
        append(mark?.place ?? 0, "integer", "after_place")
        append(mark?.measure.rawValue ?? "", "text", "after_measure")
        appendInterpolation(mark != nil)
        appendLiteral("::boolean as is_behind) f")
    }

    private mutating func append(_ value: (some PostgresEncodable)?, _ type: String, _ name: String) {
        appendInterpolation(value)
        appendLiteral("::\(type) as \(name), ")
    }
}
