import Base
import Figures
import Postgres

/// Sums by period, part and currency. A statement returns them as one row with an array for each column: tens of thousands of rows would cost
/// several times as much.
struct SummedColumns {
    /// Days since 1970.
    private let periods: [Int32]
    private let parts: [String]
    private let currencies: [String]
    private let missing: [Bool]
    /// Places in a list of measures, from 1 on; or numbers of months.
    private let places: [Int64]
    private let counts: [Int64]
    private let frees: [Int64]
    private let unknowns: [Int64]
    /// Text, since a sum may have more digits than 64 bits.
    private let amounts: [String]
    /// When the last corrected rate among those of the conversions was corrected; nil without one.
    let correctedAt: Timestamp?

    /// One of the sums.
    struct Element {
        /// Its period, part and currency.
        let key: Key
        /// The place of its measure, or the number of months after the first payment.
        let place: Int
        /// The sum.
        let sum: FigureSum
    }

    /// What separates sums.
    struct Key: Hashable {
        /// The first day of the period.
        var period: CalendarDay
        /// The member of the split.
        var part: String
        /// The currency.
        var currency: String
        /// Whether it is not converted, because no rate is known.
        var isMissing: Bool
    }

    /// Runs a statement.
    /// - Parameters:
    ///   - name: its name in logs.
    ///   - rows: a query with the columns that ``PostgresQuery/columns(_:of:)`` states.
    init(_ name: String, _ rows: PostgresQuery, _ session: borrowing PostgresSession, deadline: Duration? = nil) throws
    {
        let row = try session.query(.columns(name, of: rows), deadline: deadline).one()
        // Null without rows.
        periods = try row.decode("periods", as: [Int32]?.self) ?? []
        parts = try row.decode("parts", as: [String]?.self) ?? []
        currencies = try row.decode("currencies", as: [String]?.self) ?? []
        missing = try row.decode("missing", as: [Bool]?.self) ?? []
        places = try row.decode("places", as: [Int64]?.self) ?? []
        counts = try row.decode("counts", as: [Int64]?.self) ?? []
        frees = try row.decode("frees", as: [Int64]?.self) ?? []
        unknowns = try row.decode("unknowns", as: [Int64]?.self) ?? []
        amounts = try row.decode("amounts", as: [String]?.self) ?? []
        correctedAt = try row.decode("corrected_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
    }

    /// The number of sums.
    var count: Int { periods.count }

    /// The sums, in no order.
    var elements: some Sequence<Element> {
        (0..<count).lazy.map { index in
            Element(
                key: Key(
                    period: CalendarDay(number: Int64(periods[index])), part: parts[index],
                    currency: currencies[index], isMissing: missing[index]),
                place: Int(places[index]),
                sum: FigureSum(
                    count: counts[index], free: frees[index], unknown: unknowns[index],
                    amount: Int128(amounts[index]) ?? 0))
        }
    }
}

extension FigureAnswer {
    /// Adds sums to the values of cells.
    /// - Parameter measures: the list that their places refer to.
    /// - Throws: ``TooManyCells``.
    mutating func take(_ summed: SummedColumns, of measures: [FigureMeasure]) throws {
        try take(
            summed,
            adding: { sums, place, sum in
                guard measures.indices.contains(place - 1) else { return }
                sums[measures[place - 1]] = sums[measures[place - 1]] + sum
            })
    }

    /// Adds sums to cells.
    /// - Parameters:
    ///   - start: the first sums of a new cell; nil leaves the cell out.
    ///   - add: adds a sum to those of its cell, by its place.
    /// - Throws: ``TooManyCells``.
    mutating func take(
        _ summed: SummedColumns, from start: (SummedColumns.Key) -> FigureSums? = { _ in FigureSums() },
        adding add: (inout FigureSums, Int, FigureSum) -> Void
    ) throws {
        let (isSplit, isMoney, target) = (question.split != nil, question.figure.isMoney, question.currency)
        var places: [SummedColumns.Key: Int] = [:]
        for element in summed.elements {
            let key = element.key
            if let place = places[key] {
                add(&cells[place].sums, element.place, element.sum)
                continue
            }
            guard let sums = start(key) else { continue }
            guard cells.count < FigureQuestion.mostCells else { throw TooManyCells() }
            places[key] = cells.count
            cells.append(
                Cell(
                    period: key.period, group: isSplit ? key.part : nil,
                    currency: !isMoney ? nil : key.isMissing ? key.currency : target ?? key.currency,
                    isUnconverted: key.isMissing, sums: sums))
            add(&cells[cells.count - 1].sums, element.place, element.sum)
        }
        cells.sort { $0.order < $1.order }
        ratesCorrectedAt = [ratesCorrectedAt, summed.correctedAt].compactMap(\.self).max()
    }
}

extension FigureAnswer.Cell {
    /// The period, the group, converted ones first, and the currency.
    fileprivate var order: (Int64, String, Int, String) {
        (period.number, group ?? "", isUnconverted ? 1 : 0, currency ?? "")
    }
}

extension PostgresQuery {
    /// A statement of one row: an array for each column of a query.
    /// - Parameter rows: a query with `period` (a date), `part`, `currency`, `is_missing`, `place`, `count`, `free`, `unknown`, `amount` and
    ///   `corrected_at`.
    static func columns(_ name: String, of rows: PostgresQuery) -> PostgresQuery {
        PostgresQuery(
            name,
            """
            select array_agg(r.period - '1970-01-01'::date) as periods, array_agg(r.part) as parts, array_agg(r.currency) as currencies,
                   array_agg(r.is_missing) as missing, array_agg(r.place) as places, array_agg(r.count) as counts, array_agg(r.free) as frees,
                   array_agg(r.unknown) as unknowns, array_agg(r.amount::text) as amounts, max(r.corrected_at) as corrected_at
              from (\(embedding: rows)) r
            """)
    }

    /// A query: such rows, added up by place, period, part and currency.
    static func grouped(_ rows: PostgresQuery) -> PostgresQuery {
        """
        select r.period, r.part, r.currency, r.is_missing, r.place, sum(r.count)::bigint as count, sum(r.free)::bigint as free,
               sum(r.unknown)::bigint as unknown, sum(r.amount) as amount, max(r.corrected_at) as corrected_at
          from (\(embedding: rows)) r
         group by 1, 2, 3, 4, 5
        having sum(r.count) <> 0
         limit \(FigureQuestion.mostRows)
        """
    }
}
