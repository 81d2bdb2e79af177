package import Base
package import Figures
import Postgres

/// A row that a figure counts.
package struct FigureRow: Sendable, Hashable {
    /// What it counts as.
    package var measure: FigureMeasure
    /// The instant that puts it on its day; of an order the beginning of its day.
    package var at: Timestamp
    /// The order's number; nil until it is dealt, and of a restore.
    package var order: String?
    /// The app.
    package var bundleID: String
    /// The product; nil where no record says it, and of attempts and restores where the catalog lacked it.
    package var productID: String?
    /// The country of the App Store.
    package var storefront: String?
    /// ISO 4217.
    package var currency: String?
    /// What it adds to the figure, in thousandths of the currency: negative of what is taken from it, a refund from net revenue, and what a
    /// refund is taken back by from what is refunded. Nil where it is not known, and of what has none.
    package var amount: Int64?
    /// Apple's id of the transaction; nil of an order, of an attempt that none completed, and of a restore.
    package var transactionID: String?
    /// What it adds in the currency that was asked for; nil where none was, where no rate is known, and where the amount is not.
    package var converted: Int64?
}

/// Which rows of a figure are asked for.
package struct FigureRowQuestion: Sendable, Hashable {
    /// The figure, its days, environment and apps. The split is not looked at.
    package var question: FigureQuestion
    /// Only of this product; empty for those of none.
    package var productID: String?
    /// Only of products with this plan; empty for those of none.
    package var plan: String?
    /// Only from this country; empty for those of none.
    package var storefront: String?
    /// Only in this currency; empty for those of none.
    package var currency: String?
    /// Of retention, only customers who pay so many months later, 0 to 36; of lifetime value, only what was paid until then.
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
    /// How many parts a cursor of rows has.
    package static let cursorParts = 5

    /// The rows that a figure counts, in the order of time: the sum of their amounts is the figure. They are read from the books, and so
    /// include what is not summed yet.
    /// - Parameters:
    ///   - cursor: of the page before, of ``cursorParts`` parts.
    ///   - limit: of the page.
    /// - Throws: `PostgresError`.
    package func rows(
        _ asked: FigureRowQuestion, after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<FigureRow> {
        let options = TransactionOptions(isReadOnly: true, goesByIndexes: true, name: "figures.rows")
        return try await pool.withTransaction(options) { session in
            guard let standing = try session.query(.zone).one().decode(0, as: String?.self) else { return ListPage() }
            let zone = asked.question.zone ?? standing
            let figure = asked.question.figure
            var rows: [FigureRow] = []
            var cursors: [ListCursor] = []
            for row in try session.query(.rows(asked, zone, after: FigureRowMark(cursor), limit + 1)) {
                guard let measure = FigureMeasure(rawValue: try row.decode("measure")) else { continue }
                func signed(_ column: String) throws -> Int64? {
                    figure.signed(try row.decode(column), of: measure)
                }
                rows.append(
                    FigureRow(
                        measure: measure, at: Timestamp(try row.decode("at", as: PostgresTimestamp.self)),
                        order: try row.decode("order_number"), bundleID: try row.decode("bundle_id"),
                        productID: try row.decode("product_id"), storefront: try row.decode("storefront"),
                        currency: try row.decode("currency"),
                        amount: try signed("amount"), transactionID: try row.decode("transaction_id"),
                        converted: try signed("converted")))
                cursors.append(
                    ListCursor(
                        behind: [
                            try row.decode("instant"), "\(try row.decode("order_id", as: Int64.self))",
                            try row.decode("item"), "\(try row.decode("place", as: Int32.self))", measure.rawValue,
                        ]))
            }
            return ListPage(
                Array(rows.prefix(limit)), next: rows.count > limit ? cursors[limit - 1] : nil)
        }
    }

    /// Whether a cursor is one of rows.
    package static func isCursor(_ cursor: ListCursor) -> Bool { FigureRowMark(cursor) != nil }
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
    /// The rows of some among the instants `starts` to `ends` behind a mark, with their app: `measure`, `at`, `order_id`, `item`, `place`,
    /// `product_id`, `storefront`, `currency`, `amount`, `sold_at`, `transaction_id`, `environment`, `bundle_id`, and the `day` and the
    /// `number` of the order. Restores have none.
    /// - Parameter months: of ``customerNew`` only customers who pay so many months later; nil for all.
    static func rows(of measures: [FigureMeasure], retainedAfter months: Int? = nil) -> String {
        let restores = measures.filter { Self.restores.contains($0) }
        let others = measures.filter { !restores.contains($0) }
        let ordered = """
            select r.*, o.environment, o.bundle_id, o.day, o.number
              from (\(orderRows(of: others, retainedAfter: months))) r
              join storehook.booked_orders o on o.id = r.order_id and o.class_id is not null
            """
        let reported = """
            select r.*, null::date as day, null::integer as number
              from (\(RestoreRows.sql(from: "(\(span)) s", measures: names(restores)))) r
            """
        return ((others.isEmpty ? [] : [ordered]) + (restores.isEmpty ? [] : [reported]))
            .joined(separator: "\nunion all\n")
    }

    /// The rows of measures that orders have, but for what only their orders say.
    private static func orderRows(of measures: [FigureMeasure], retainedAfter months: Int?) -> String {
        let changes = measures.filter { movements.contains($0) || customers.contains($0) }
        let trials = measures.filter { Self.trials.contains($0) }
        let attempts = measures.filter { Self.attempts.contains($0) }
        let proceeds = measures.filter { netProceeds.contains($0) }
        let others = measures.filter { !(changes + trials + attempts + proceeds + accounts).contains($0) }.map(\.rows)
        return
            (others + (changes.isEmpty ? [] : [RecurringChanges.rows(of: changes, retainedAfter: months)])
            + (trials.isEmpty ? [] : [TrialRows.sql(from: "(\(span)) s", measures: names(trials))])
            + (attempts.isEmpty ? [] : [AttemptRows.sql(from: "(\(span)) s", measures: names(attempts))])
            + (proceeds.isEmpty ? [] : [ProceedsRows.sql(from: "(\(span)) s", measures: names(proceeds))])
            + (measures.contains(.accountPaid) ? [AccountRows.paid(from: "(\(span)) s")] : []))
            .map { "(\($0))" }.joined(separator: "\nunion all\n")
    }

    /// The instants that are asked for, behind a mark.
    private static let span = "select zone, greatest(starts, since) as starts, ends from z"

    private static func names(_ measures: [FigureMeasure]) -> String {
        measures.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    private var rows: String {
        switch self {
        case .order:
            """
            select 'order' as measure, \(DayStart.sql("o.day", in: "z.zone")) as at, o.id as order_id, '' as item, 0 as place,
                   nullif(c.product_id, '') as product_id, nullif(c.storefront, '') as storefront, nullif(c.currency, '') as currency,
                   null::bigint as amount, null::timestamptz as sold_at, null as transaction_id
              from z join storehook.booked_orders o on o.day >= z.first and o.day <= z.last and o.plan_type <> 'unknown'
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
        case .standing: RecurringChanges.standing
        case .standingCustomer: RecurringChanges.standingCustomers
        default: RecurringChanges.rows(of: [self])
        }
    }
}

extension PostgresQuery {
    fileprivate static func rows(
        _ asked: FigureRowQuestion, _ zone: String, after mark: FigureRowMark?, _ limit: Int
    ) -> PostgresQuery {
        let question = asked.question
        let rows =
            question.figure == .lifetimeValue
            ? ValueRows.rows(through: asked.months)
            : FigureMeasure.rows(of: question.figure.rowMeasures, retainedAfter: asked.months)
        return PostgresQuery(
            "figures.rows",
            """
            with z as materialized (\(span: question.days, in: zone, to: question.currency, after: mark))
            select p.*, \(unescaped: question.currency == nil ? "null::bigint" : Self.converted) as converted
              from (
            select r.*, (extract(epoch from r.at) * 1000000)::bigint::text as instant, storehook.order_number(r.day, r.number) as order_number
              from (\(unescaped: rows)) r
             where r.environment = \(question.environment)
               and (\(question.apps == nil) or r.bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
               and (\(asked.productID == nil) or coalesce(r.product_id, '') = \(asked.productID ?? ""))
               and (\(asked.plan == nil)
                    or coalesce(r.product_id, '')
                       = any (array(select n.product_id from (\(unescaped: PlanNames.sql)) n where n.plan = \(asked.plan ?? "")))
                    or \(asked.plan == "") and coalesce(r.product_id, '')
                       <> all (array(select n.product_id from (\(unescaped: PlanNames.sql)) n where n.plan is not null)))
               and (\(asked.storefront == nil) or coalesce(r.storefront, '') = \(asked.storefront ?? ""))
               and (\(asked.currency == nil) or coalesce(r.currency, '') = \(asked.currency ?? ""))
               and (\(mark == nil) or (r.at, r.order_id, r.item, r.place, r.measure)
                   > ('epoch'::timestamptz + \(mark?.instant ?? 0) * interval '1 microsecond', \(mark?.orderID ?? 0), \(mark?.item ?? ""),
                      \(mark?.place ?? 0), \(mark?.measure.rawValue ?? "")))
             order by r.at, r.order_id, r.item, r.place, r.measure
             limit \(Int64(limit))) p
             cross join z
              left join lateral (\(unescaped: Self.rate)) rate on p.amount <> 0
             order by p.at, p.order_id, p.item, p.place, p.measure
            """)
    }

    /// An expression: the amount of a row in the currency that was asked for; null where that is beyond what 64 bits count.
    private static let converted = """
        (select case when c between -9223372036854775807 and 9223372036854775807 then c::bigint end
           from (select \(ConvertedCells.converted("p.amount", "coalesce(p.currency, '')", to: "z.target", by: "rate")) as c) c)
        """

    private static let rate = ConvertedCells.rate(
        of: "p.currency", to: "z.target", on: "(p.sold_at at time zone z.zone)::date")
}

extension PostgresQuery.StringInterpolation {
    /// A query of one row, by which ``FigureMeasure/rows`` reads: `zone`, `target`, `first`, `last`, `starts`, `ends`, `since`.
    /// - Parameter currency: which amounts are converted to, the `target`.
    mutating func appendInterpolation(
        span days: ClosedRange<CalendarDay>, in zone: String, to currency: String? = nil,
        after mark: FigureRowMark? = nil
    ) {
        appendLiteral(
            """
            select zone, target, first, last, \(DayStart.sql("first", in: "zone")) as starts, \(DayStart.sql("last + 1", in: "zone")) as ends,
                   coalesce('epoch'::timestamptz +
            """)
        appendLiteral(" ")
        appendInterpolation(mark?.instant)
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
