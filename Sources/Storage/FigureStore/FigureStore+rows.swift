package import Base
package import Figures
import Postgres

/// A row of a figure.
package struct FigureRow: Sendable, Hashable {
    /// The measure that it counts for.
    package var measure: FigureMeasure
    /// The instant that decides its day; of an order the beginning of its day.
    package var at: Timestamp
    /// The order's number; nil before the order has one, of a restore, and of an own trial of the app.
    package var order: String?
    /// The app; empty of a restore or an own trial of the app without a known one.
    package var bundleID: String
    /// The product; nil where no record states it. Of attempts and restores, nil also where the catalog lacked it.
    package var productID: String?
    /// The country of the App Store.
    package var storefront: String?
    /// ISO 4217.
    package var currency: String?
    /// What it adds to the figure, in thousandths of the currency; negative where it lowers the figure, as a refund does with net revenue, and a
    /// reversal with refunds. Nil where it is not known, and of rows without amounts.
    package var amount: Int64?
    /// Apple's id of the transaction; nil of an order, of an attempt without one, and of a restore. Of an own trial of the app, the payment that
    /// converted it.
    package var transactionID: String?
    /// What it adds in the currency of the question; nil without one, without a known rate, and without an amount.
    package var converted: Int64?
}

/// A question for the rows of a figure.
package struct FigureRowQuestion: Sendable, Hashable {
    /// The figure, its days, environment and apps. Its split does not matter.
    package var question: FigureQuestion
    /// Only rows of this product; empty for rows without one; nil for all.
    package var productID: String?
    /// Only rows of products with this plan; empty for rows without one; nil for all.
    package var plan: String?
    /// Only rows from this country; empty for rows without one; nil for all.
    package var storefront: String?
    /// Only rows in this currency; empty for rows without one; nil for all.
    package var currency: String?
    /// A number of months after the first payment, 0 to 36. Of retention, only customers that pay then; of lifetime value, only payments until
    /// then. Nil for all.
    package var months: Int?

    /// All rows of a question.
    package init(
        _ question: FigureQuestion, productID: String? = nil, plan: String? = nil, storefront: String? = nil,
        currency: String? = nil, months: Int? = nil
    ) {
        self.question = question
        self.plan = plan
        (self.productID, self.storefront, self.currency, self.months) = (productID, storefront, currency, months)
    }
}

extension FigureStore {
    /// The number of parts of a cursor of rows.
    package static let cursorParts = 5

    /// The rows of a figure in the order of time; of what stands at the end of a day, such as MRR, the latest first. Their amounts add up to the
    /// figure. They are read from the books, and include rows that are not summed yet. Only the days that a page needs are worked out.
    /// - Parameters:
    ///   - cursor: the cursor of the page before, of ``cursorParts`` parts.
    ///   - limit: the most rows of the page.
    /// - Throws: `PostgresError`.
    package func rows(
        _ asked: FigureRowQuestion, after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<FigureRow> {
        guard !asked.question.isNothing else { return ListPage() }
        let options = TransactionOptions(isReadOnly: true, goesByIndexes: true, name: "figures.rows")
        return try await pool.withTransaction(options) { session in
            guard let standing = try session.query(.zone).one().decode(0, as: String?.self) else { return ListPage() }
            let zone = asked.question.zone ?? standing
            let mark = FigureRowMark(cursor)
            var found: [(row: FigureRow, place: ListCursor)] = []
            var parts = try asked.parts(after: mark, limit, in: zone, session)[...]
            while var part = parts.popFirst() {
                if part.isAnew { found = [] }
                if let periods = part.periods {
                    part.until = try session.query(.changesEnd(of: part, asked, zone, after: mark, periods)).one()
                        .decode(0, as: Int64?.self)
                }
                let before = found.count
                for row in try session.query(.rows(asked, part, zone, after: mark, limit + 1 - found.count)) {
                    if let read = try FigureRow.read(row, of: asked.question.figure) { found.append(read) }
                }
                if found.count > limit { break }
                if let rest = part.rest(behind: found.count - before, missing: limit + 1 - found.count) {
                    parts.append(rest)
                }
            }
            return ListPage(
                found.prefix(limit).map { $0.row }, next: found.count > limit ? found[limit - 1].place : nil)
        }
    }

    /// Whether a cursor is one of these rows.
    package static func isCursor(_ cursor: ListCursor) -> Bool { FigureRowMark(cursor) != nil }
}

extension FigureRow {
    /// A row and its place; nil for a measure of a newer release.
    fileprivate static func read(_ row: PostgresRow, of figure: Figure) throws -> (row: FigureRow, place: ListCursor)? {
        guard let measure = FigureMeasure(rawValue: try row.decode("measure")) else { return nil }
        func signed(_ column: String) throws -> Int64? { figure.signed(try row.decode(column), of: measure) }
        let read = FigureRow(
            measure: measure, at: Timestamp(try row.decode("at", as: PostgresTimestamp.self)),
            order: try row.decode("order_number"), bundleID: try row.decode("bundle_id"),
            productID: try row.decode("product_id"), storefront: try row.decode("storefront"),
            currency: try row.decode("currency"), amount: try signed("amount"),
            transactionID: try row.decode("transaction_id"), converted: try signed("converted"))
        return (
            read,
            ListCursor(
                behind: [
                    try row.decode("instant"), "\(try row.decode("order_id", as: Int64.self))", try row.decode("item"),
                    "\(try row.decode("place", as: Int32.self))", measure.rawValue,
                ])
        )
    }
}

/// A place in the rows of a figure.
struct FigureRowMark {
    /// Microseconds since 1970.
    let instant: Int64
    let orderID: Int64
    let item: String
    let place: Int32
    let measure: FigureMeasure

    init?(_ cursor: ListCursor?) {
        guard let parts = cursor?.parts, parts.count == FigureStore.cursorParts, let instant = Int64(parts[0]),
            instant.magnitude < 1 << 58, let order = Int64(parts[1]), let place = Int32(parts[3]),
            let measure = FigureMeasure(rawValue: parts[4])
        else { return nil }
        (self.instant, orderID, item, self.place, self.measure) = (instant, order, parts[2], place, measure)
    }
}

extension FigureMeasure {
    /// A query: the rows of some measures from the instants `starts` to `ends`, behind a mark. Columns: `measure`, `at`, `order_id`, `item`,
    /// `place`, `product_id`, `storefront`, `currency`, `amount`, `sold_at`, `transaction_id`, `environment`, `bundle_id`, and of the order `day`
    /// and `number`. Restores and own trials of the app have no order.
    /// - Parameters:
    ///   - months: of ``customerNew``, only customers that pay so many months later; nil for all.
    ///   - page: the part of a page, to work out only what it needs, see ``FigureRowPage``; nil for all rows.
    static func rows(
        of measures: [FigureMeasure], retainedAfter months: Int? = nil, page: FigureRowPart? = nil
    ) -> String {
        let restores = measures.filter { Self.restores.contains($0) }
        let ownTrials = measures.filter { Self.ownTrials.contains($0) }
        let others = measures.filter { !(restores + ownTrials).contains($0) }
        let ordered = """
            select r.*, o.environment, o.bundle_id, o.day, o.number
              from (\(orderRows(of: others, retainedAfter: months, page))) r
             cross join lateral (
                select o.environment, o.bundle_id, o.day, o.number from storehook.booked_orders o
                 where o.id = r.order_id and o.class_id is not null offset 0) o
            """
        let orderless: [String] =
            (restores.isEmpty ? [] : [RestoreRows.sql(from: "(\(span)) s", measures: names(restores))])
            + (ownTrials.isEmpty ? [] : [OwnTrialRows.sql(from: "(\(span)) s", measures: names(ownTrials))])
        return
            ((others.isEmpty ? [] : [ordered])
            + orderless.map { "select r.*, null::date as day, null::integer as number from (\($0)) r" })
            .joined(separator: "\nunion all\n")
    }

    /// A query: the rows of measures with orders, without the columns of these orders.
    private static func orderRows(
        of measures: [FigureMeasure], retainedAfter months: Int?, _ page: FigureRowPart?
    ) -> String {
        let changes = measures.filter { movements.contains($0) || customers.contains($0) }
        let trials = measures.filter { Self.trials.contains($0) }
        let attempts = measures.filter { Self.attempts.contains($0) }
        let proceeds = measures.filter { netProceeds.contains($0) }
        let others = measures.filter { !(changes + trials + attempts + proceeds + accounts).contains($0) }.map {
            $0.rows(page)
        }
        return
            (others
            + (changes.isEmpty
                ? [] : [RecurringChanges.rows(of: changes, retainedAfter: months, isPage: page != nil)])
            + (trials.isEmpty ? [] : [TrialRows.sql(from: "(\(span)) s", measures: names(trials))])
            + (attempts.isEmpty ? [] : [AttemptRows.sql(from: "(\(span)) s", measures: names(attempts))])
            + (proceeds.isEmpty
                ? [] : [ProceedsRows.sql(from: "(\(span)) s", measures: names(proceeds), isPage: page != nil)])
            + (measures.contains(.accountPaid) ? [AccountRows.paid(from: "(\(span)) s")] : []))
            .map { "(\($0))" }.joined(separator: "\nunion all\n")
    }

    /// A query: the instants of the question, behind the mark.
    private static let span = "select zone, greatest(starts, since) as starts, ends from z"

    private static func names(_ measures: [FigureMeasure]) -> String {
        measures.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    private func rows(_ page: FigureRowPart?) -> String {
        switch self {
        case .order:
            """
            select 'order' as measure, \(DayStart.sql("o.day", in: "z.zone")) as at, o.id as order_id, '' as item, 0 as place,
                   nullif(c.product_id, '') as product_id, nullif(c.storefront, '') as storefront, nullif(c.currency, '') as currency,
                   null::bigint as amount, null::timestamptz as sold_at, null as transaction_id
              from z
             -- By their days: a join that is planned for few classes would read the orders of all of them. The index of days has only orders
             -- with a class.
             cross join lateral (
                select o.id, o.day, o.class_id from storehook.booked_orders o
                 where o.day >= z.first and o.day <= z.last and o.class_id is not null and o.plan_type <> 'unknown' offset 0) o
              join storehook.order_classes c on c.id = o.class_id
             where \(DayStart.sql("o.day", in: "z.zone")) >= z.since
            """
        case .sale, .refundedSale:
            """
            select '\(rawValue)' as measure, t.starts_at as at, t.order_id, t.item, 0 as place, t.product_id, t.storefront, t.currency,
                   \(self == .sale ? "t.price" : "t.refunded") as amount, t.starts_at as sold_at,
                   t.transaction_id
              from z join storehook.booked_transactions t on t.starts_at >= greatest(z.starts, z.since) and t.starts_at < z.ends
             where not t.is_void\(self == .sale ? "" : " and t.revoked_share is distinct from 0 and t.price is distinct from 0")
            """
        case .lateSale:
            """
            select 'late_sale' as measure, t.heard_at as at, t.order_id, t.item, 0 as place, t.product_id, t.storefront, t.currency,
                   t.price as amount, t.starts_at as sold_at, t.transaction_id
              from z join storehook.booked_transactions t on t.heard_at >= greatest(z.starts, z.since) and t.heard_at < z.ends
             where not t.is_void and \(DayStart.isLate("t.heard_at", "t.starts_at", in: "z.zone"))
            """
        case .refund, .reversal:
            """
            select '\(rawValue)' as measure, r.at, r.order_id, r.item, r.place + 1 as place, t.product_id, t.storefront, t.currency, r.amount,
                   t.starts_at as sold_at, t.transaction_id
              from z join storehook.booked_refunds r on r.at >= greatest(z.starts, z.since) and r.at < z.ends
              join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
             where r.type = '\(self == .refund ? "refund" : "refund_reversed")' and not t.is_void and t.price is distinct from 0
            """
        case .lateRefund, .lateReversal:
            """
            select '\(rawValue)' as measure, r.heard_at as at, r.order_id, r.item, r.place + 1 as place, t.product_id, t.storefront,
                   t.currency, r.amount, t.starts_at as sold_at, t.transaction_id
              from z join storehook.booked_refunds r on r.heard_at >= greatest(z.starts, z.since) and r.heard_at < z.ends
              join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
             where r.type = '\(self == .lateRefund ? "refund" : "refund_reversed")' and not t.is_void and t.price is distinct from 0
               and \(DayStart.isLate("r.heard_at", "r.at", in: "z.zone"))
            """
        case .standing: page.map { RecurringChanges.firstStanding($0.reach) } ?? RecurringChanges.standing
        case .standingCustomer:
            page.map { RecurringChanges.firstStandingCustomers($0.reach) } ?? RecurringChanges.standingCustomers
        default: RecurringChanges.rows(of: [self])
        }
    }
}

extension PostgresQuery {
    fileprivate static func rows(
        _ asked: FigureRowQuestion, _ part: FigureRowPart, _ zone: String, after mark: FigureRowMark?, _ limit: Int
    ) -> PostgresQuery {
        let question = asked.question
        let isLatestFirst = question.figure.rowsStand
        // Payments of lifetime value are narrowed before their customers are looked up.
        let (rows, narrowing) =
            question.figure == .lifetimeValue
            ? (ValueRows.rows(through: asked.months), "")
            : (
                FigureMeasure.rows(of: question.figure.rowMeasures, retainedAfter: asked.months, page: part),
                "cross join z where \(FigureRowPage.condition("r", isLatestFirst: isLatestFirst))"
            )
        let query = PostgresQuery(
            "figures.rows",
            """
            with z as materialized (\(page: asked, part, in: zone, after: mark, limit))
            select p.*, \(unescaped: question.currency == nil ? "null::bigint" : Self.converted) as converted
              from (
                select r.*, (extract(epoch from r.at) * 1000000)::bigint::text as instant, storehook.order_number(r.day, r.number) as order_number
                  from (\(unescaped: rows)) r \(unescaped: narrowing)
                 order by \(unescaped: FigureRowPage.order("r", isLatestFirst: isLatestFirst))
                 limit \(Int64(limit))) p
             cross join z
              left join lateral (\(unescaped: Self.rate)) rate on p.amount <> 0
             order by \(unescaped: FigureRowPage.order("p", isLatestFirst: isLatestFirst))
            """)
        // Changes take as long to plan as a few of them take to be read. Each number of months is a statement of its own.
        return part.periods == nil || asked.months != nil ? query : query.keepingPlan()
    }

    /// An expression: the amount of a row in the currency of the question; null where 64 bits do not hold it.
    private static let converted = """
        (select case when c between -9223372036854775807 and 9223372036854775807 then c::bigint end
           from (select \(ConvertedCells.converted("p.amount", "coalesce(p.currency, '')", to: "z.target", by: "rate")) as c) c)
        """

    private static let rate = ConvertedCells.rate(
        of: "p.currency", to: "z.target", on: "(p.sold_at at time zone z.zone)::date")
}

extension PostgresQuery.StringInterpolation {
    /// A query of one row, the part `z` of ``FigureMeasure/rows(of:retainedAfter:page:)``: `zone`, `target`, `first`, `last`, `starts`, `ends`,
    /// `since`.
    /// - Parameters:
    ///   - currency: the `target` of conversions.
    ///   - since: the first instant, in microseconds since 1970; nil for the first one of the days.
    ///   - until: the instant behind the last one, in microseconds since 1970; nil for the end of the days.
    mutating func appendInterpolation(
        span days: ClosedRange<CalendarDay>, in zone: String, to currency: String? = nil, since: Int64? = nil,
        until: Int64? = nil
    ) {
        appendLiteral(
            """
            select zone, target, first, last, \(DayStart.sql("first", in: "zone")) as starts,
                   least(\(DayStart.sql("last + 1", in: "zone")), 'epoch'::timestamptz +
            """)
        appendLiteral(" ")
        appendInterpolation(until)
        appendLiteral(" * interval '1 microsecond') as ends, coalesce('epoch'::timestamptz + ")
        appendInterpolation(since)
        appendLiteral(" * interval '1 microsecond', '-infinity') as since from (select ")
        appendInterpolation(zone)
        appendLiteral("::text as zone, ")
        appendInterpolation(currency)
        appendLiteral("::text as target, ")
        appendInterpolation(days.lowerBound.description)
        appendLiteral("::text::date as first, ")
        appendInterpolation(days.upperBound.description)
        appendLiteral("::text::date as last) d")
    }
}
