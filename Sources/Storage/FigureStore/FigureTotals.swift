package import Base
package import Figures
import Postgres

/// The sums of all days, and of today alone, each by currency. The currency is empty where no record states it.
package struct FigureTotals: Sendable {
    /// The zone of the days; nil before any were summed.
    package var zone: String?
    /// Today, in the zone.
    package var today: CalendarDay
    /// Whether a change is not summed yet.
    package var isPending: Bool
    /// Of all days.
    package var ofAllDays: [String: FigureSums] = [:]
    /// Of today.
    package var ofToday: [String: FigureSums] = [:]
    /// In the reporting currency; nil where there is none, or while its sums are not kept yet.
    package var converted: Converted?

    /// Sums in one currency.
    package struct Converted: Sendable {
        /// ISO 4217.
        package var currency: String
        /// Whether a change of a rate is not in the sums yet.
        package var isPending: Bool
        /// Of all days.
        package var ofAllDays = FigureSums()
        /// Of today.
        package var ofToday = FigureSums()
        /// The amounts without a known rate, of all days, by currency; the currency is empty where no record states it.
        package var unconverted: [String: FigureSums] = [:]
    }
}

extension FigureStore {
    /// The sums of some measures.
    /// - Parameter apps: the apps that count; nil for all.
    /// - Throws: `PostgresError`.
    package func totals(
        of measures: [FigureMeasure], environment: String, apps: Set<String>?
    ) async throws -> FigureTotals {
        // One snapshot: its marks and sums are of the same moment.
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "figures.totals")
        return try await pool.withTransaction(options) { session in
            let state = try session.query(.stateOfTotals).one()
            let today = try CalendarDay(state.decode("today", as: String.self)) ?? CalendarDay(number: 0)
            var totals = FigureTotals(
                zone: try state.decode("zone"), today: today, isPending: try state.decode("is_pending"))
            guard let zone = totals.zone else { return totals }
            totals.ofAllDays = try Self.sums(.totals(measures, of: nil, zone, environment, apps), session)
            totals.ofToday = try Self.sums(.totals(measures, of: today, zone, environment, apps), session)
            if let currency = try FigureState.read(session).reportingCurrency(in: zone) {
                var converted = FigureTotals.Converted(
                    currency: currency, isPending: try session.query(.isConversionPending).one().decode(0))
                for day in [nil, today] {
                    for row in try session.query(
                        .converted(measures, to: currency, of: day, zone, environment, apps))
                    {
                        guard let measure = FigureMeasure(rawValue: try row.decode("measure")) else { continue }
                        let sum = try FigureSum(row)
                        if day != nil {
                            converted.ofToday[measure] = sum
                        } else if try row.decode("is_missing") {
                            converted.unconverted[try row.decode("currency", as: String.self), default: FigureSums()][
                                measure] = sum
                        } else {
                            converted.ofAllDays[measure] = sum
                        }
                    }
                }
                totals.converted = converted
            }
            return totals
        }
    }

    private static func sums(
        _ query: PostgresQuery, _ session: borrowing PostgresSession
    ) throws -> [String: FigureSums] {
        try session.query(query).reduce(into: [:]) { sums, row in
            guard let measure = FigureMeasure(rawValue: try row.decode("measure")) else { return }
            sums[try row.decode("currency", as: String.self), default: FigureSums()][measure] = try FigureSum(row)
        }
    }
}

extension PostgresQuery {
    fileprivate static let stateOfTotals = PostgresQuery(
        "figures.state_of_totals",
        """
        select coalesce(zone, next_zone) as zone,
               (now() at time zone coalesce(zone, next_zone, 'UTC'))::date::text as today,
               zone is null or exists (select from storehook.figure_marks) as is_pending
          from storehook.figure_state
        """)

    fileprivate static let isConversionPending = PostgresQuery(
        "figures.is_conversion_pending", "select exists (select from storehook.conversion_marks)")

    /// - Parameter day: nil for all days: all months, and the amounts without a known rate.
    fileprivate static func converted(
        _ measures: [FigureMeasure], to currency: String, of day: CalendarDay?, _ zone: String, _ environment: String,
        _ apps: Set<String>?
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.converted_totals",
            """
            select is_missing, case when is_missing then currency else '' end as currency, measure, sum(count)::bigint as count,
                   sum(free)::bigint as free, sum(unknown)::bigint as unknown, sum(amount)::text as amount
              from storehook.currency_sums
             where target = \(currency) and zone = \(zone) and grain = \(day == nil ? "plain_month" : "app_day")
               and environment = \(environment)
               and period >= coalesce(\(day?.description)::text::date, '-infinity')
               and period <= coalesce(\(day?.description)::text::date, 'infinity')
               and measure = any (\(measures.map(\.rawValue)))
               and (\(apps == nil) or bundle_id = any (\(apps.map { $0.sorted() } ?? [])))
               and (\(day == nil) or not is_missing)
             group by 1, 2, 3
            """)
    }

    /// - Parameter day: nil for all days: all months.
    fileprivate static func totals(
        _ measures: [FigureMeasure], of day: CalendarDay?, _ zone: String, _ environment: String, _ apps: Set<String>?
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.totals",
            """
            select currency, measure, sum(count)::bigint as count, sum(free)::bigint as free, sum(unknown)::bigint as unknown,
                   sum(amount)::text as amount
              from storehook.figure_sums
             where grain = \(day == nil ? "plain_month" : "day") and zone = \(zone) and environment = \(environment)
               and period >= coalesce(\(day?.description)::text::date, '-infinity')
               and period <= coalesce(\(day?.description)::text::date, 'infinity')
               and measure = any (\(measures.map(\.rawValue)))
               and (\(apps == nil) or bundle_id = any (\(apps.map { $0.sorted() } ?? [])))
             group by currency, measure
            """)
    }
}
