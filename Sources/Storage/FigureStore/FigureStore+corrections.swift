package import Base
import Figures
import Postgres

extension FigureStore {
    /// The number of parts of a cursor of corrections.
    package static let correctionCursorParts = 5

    /// The rows of a figure that were added, removed or changed since their month was closed, by month. Months without the figure on record have
    /// none, see ``unrecorded(_:)``.
    /// - Parameters:
    ///   - question: its days choose whole months. Its split does not matter.
    ///   - cursor: the cursor of the page before, of ``correctionCursorParts`` parts.
    ///   - limit: the most corrections of the page.
    /// - Throws: `PostgresError`.
    package func corrections(
        _ question: FigureQuestion, after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<FigureCorrection> {
        let mark = CorrectionMark(cursor)
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "figures.corrections")
        return try await pool.withTransaction(options) { session in
            var (found, marks) = ([FigureCorrection](), [ListCursor]())
            let closed = try ClosedMonth.all(session.query(.closedMonths(of: question)))
            for month in closed where month.records(question.figure) {
                if let mark, month.month.description < mark.month.description { continue }
                let after = mark.flatMap { $0.month == month.month ? $0 : nil }
                let query = PostgresQuery.corrections(of: month, question, after: after, limit + 1 - found.count)
                for row in try session.query(query, deadline: .seconds(300)) {
                    guard let measure = FigureMeasure(rawValue: try row.decode("measure")) else { continue }
                    found.append(
                        FigureCorrection(
                            month: month.month, was: try Self.side("was", row, measure, question.figure),
                            now: try Self.side("now", row, measure, question.figure)))
                    marks.append(
                        ListCursor(
                            behind: [
                                month.month.description, measure.rawValue,
                                "\(try row.decode("order_id", as: Int64.self))", try row.decode("item"),
                                "\(try row.decode("place", as: Int32.self))",
                            ]))
                }
                if found.count > limit { break }
            }
            return ListPage(Array(found.prefix(limit)), next: found.count > limit ? marks[limit - 1] : nil)
        }
    }

    /// Whether a cursor is one of these corrections.
    package static func isCorrectionCursor(_ cursor: ListCursor) -> Bool { CorrectionMark(cursor) != nil }

    private static func side(
        _ side: String, _ row: PostgresRow, _ measure: FigureMeasure, _ figure: Figure
    ) throws -> FigureRow? {
        guard let at = try row.decode("\(side)_at", as: PostgresTimestamp?.self) else { return nil }
        return FigureRow(
            measure: measure, at: Timestamp(at), order: try row.decode("number"),
            bundleID: try row.decode("\(side)_bundle_id"), productID: try row.decode("\(side)_product_id"),
            storefront: try row.decode("\(side)_storefront"), currency: try row.decode("\(side)_currency"),
            amount: figure.signed(try row.decode("\(side)_amount"), of: measure),
            transactionID: try row.decode("transaction_id"))
    }
}

/// A place in the corrections of a figure.
private struct CorrectionMark {
    let month: ClosingMonth
    let measure: String
    let orderID: Int64
    let item: String
    let place: Int32

    init?(_ cursor: ListCursor?) {
        guard let parts = cursor?.parts, parts.count == FigureStore.correctionCursorParts,
            let month = ClosingMonth(parts[0]), FigureMeasure(rawValue: parts[1]) != nil, let order = Int64(parts[2]),
            let place = Int32(parts[4])
        else { return nil }
        (self.month, measure, orderID, item, self.place) = (month, parts[1], order, parts[3], place)
    }
}

extension PostgresQuery {
    fileprivate static func corrections(
        of month: ClosedMonth, _ question: FigureQuestion, after mark: CorrectionMark?, _ limit: Int
    ) -> PostgresQuery {
        func side(_ side: String, _ table: String) -> String {
            ["at", "bundle_id", "product_id", "storefront", "currency", "amount"].map {
                "\(table).\($0) as \(side)_\($0)"
            }
            .joined(separator: ", ")
        }
        return PostgresQuery(
            "figures.corrections",
            """
            with now as materialized (
                \(countedIn: month.days, question.figure.rowMeasures, in: month.zone)
            ), was as materialized (
                select * from storehook.closed_rows
                 where closed_id = \(month.id) and measure = any (\(question.figure.rowMeasures.map(\.rawValue)))
            )
            select measure, order_id, item, place, coalesce(n.transaction_id, w.transaction_id) as transaction_id,
                   (select storehook.order_number(o.day, o.number) from storehook.booked_orders o where o.id = order_id) as number,
                   \(unescaped: side("was", "w")), \(unescaped: side("now", "n"))
              from was w full join now n using (measure, order_id, item, place)
             where (w.at, w.bundle_id, w.product_id, w.storefront, w.currency, w.amount)
                   is distinct from (n.at, n.bundle_id, n.product_id, n.storefront, n.currency, n.amount)
               and (\(question.apps == nil) or coalesce(n.bundle_id, w.bundle_id) = any (\(question.apps.map { $0.sorted() } ?? [])))
               and (\(mark == nil) or (measure, order_id, item, place)
                   > (\(mark?.measure ?? ""), \(mark?.orderID ?? 0), \(mark?.item ?? ""), \(mark?.place ?? 0)))
             order by measure, order_id, item, place
             limit \(Int64(limit))
            """)
    }
}
