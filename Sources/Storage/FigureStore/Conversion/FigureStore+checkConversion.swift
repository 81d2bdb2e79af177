import Base
import Figures
import Postgres
import PurchaseStore

extension FigureStore {
    /// Compares the sums in currencies with the cells and the rates. Months with changes that are not converted yet are left out, and so is a new
    /// currency: answers in it still come from the cells.
    func checkConversion(repair: Bool, onDifference: (RowDifference) throws -> Void) async throws -> Int {
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "figures.check_conversion")
        let currencies = try await pool.withTransaction(options) { try KeptCurrency.read($0) }
        var count = 0
        for kept in currencies where kept.convertedFrom == nil {
            let months = try await pool.query(.monthsConverted(in: kept.zone, kept.currency)).compactMap {
                CalendarDay(try $0.decode(0, as: String.self)).map { FigureMonth($0) }
            }
            for month in months {
                let differences = try await pool.withTransaction(options) { session -> [FigureDifference] in
                    guard try session.query(.stands(month, in: kept.zone, kept.currency)).one().decode(0) else {
                        return []
                    }
                    return try session.query(.conversionsThatDiffer(month, kept), deadline: .seconds(600)).map {
                        try FigureDifference($0, table: "currency_sums")
                    }
                        + session.query(.convertedValuesThatDiffer(month, kept), deadline: .seconds(600)).map {
                            try FigureDifference($0, table: "currency_value_days")
                        }
                }
                count += differences.count
                for difference in differences { try onDifference(difference.row) }
                if repair, !differences.isEmpty { try await pool.query(.markConversion(of: month)) }
            }
        }
        let values = try await pool.withTransaction(options) { session in
            try session.query(.convertedValueSumsThatDiffer, deadline: .seconds(600)).map {
                try FigureDifference($0, table: "currency_values")
            }
        }
        for difference in values { try onDifference(difference.row) }
        // Workers add changes to sums, and so a wrong sum stays wrong: it is added up from its days.
        if repair, !values.isEmpty {
            try await pool.withTransaction(TransactionOptions(name: "figures.sum_converted_values")) { session in
                // The lock is taken by a statement of its own: the next one sees all days of the worker that held it.
                try session.query("select 1 from storehook.figure_state for update")
                try session.query(.deleteConvertedValues)
                try session.query(.sumConvertedValues, deadline: .seconds(600))
            }
        }
        return count + values.count
    }
}

extension PostgresQuery {
    /// The first days of the months with cells or sums.
    fileprivate static func monthsConverted(in zone: String, _ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.months_converted",
            """
            select distinct date_trunc('month', day::timestamp)::date::text
              from (select day from storehook.figure_cells where zone = \(zone)
                    union select day from storehook.value_cells where zone = \(zone)
                    union select period from storehook.currency_sums where target = \(currency) and zone = \(zone)
                    union select day from storehook.currency_value_days where target = \(currency) and zone = \(zone)) d
             order by 1
            """)
    }

    /// Whether a month has no mark, and the currency is kept.
    fileprivate static func stands(_ month: FigureMonth, in zone: String, _ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.month_stands",
            """
            select not exists (select from storehook.conversion_marks
                                where day between \(month.days.lowerBound.description)::text::date
                                              and \(month.days.upperBound.description)::text::date)
               and exists (select from storehook.figure_currencies
                            where currency = \(currency) and zone = \(zone) and converted_from is null)
            """)
    }

    fileprivate static func conversionsThatDiffer(_ month: FigureMonth, _ kept: KeptCurrency) -> PostgresQuery {
        PostgresQuery(
            "figures.conversions_that_differ",
            """
            with \(cellsOf: month, in: kept.zone, to: kept.currency), \(unescaped: ConvertedCells.parts), \(unescaped: CurrencySums.parts),
            derived as materialized (
                select * from summed where (count, free, unknown, amount) <> (0, 0, 0, 0)
            ), stored as materialized (
                select * from storehook.currency_sums
                 where target = \(kept.currency) and zone = \(kept.zone)
                   and period between \(month.days.lowerBound.description)::text::date and \(month.days.upperBound.description)::text::date
                   and (count, free, unknown, amount) <> (0, 0, 0, 0)
            )
            select period::text as day,
                   concat_ws(' ', target, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing) as key,
                   case when s.count is not null then format('%s rows, %s free, %s unknown, %s', s.count, s.free, s.unknown, s.amount) end as stored,
                   case when d.count is not null then format('%s rows, %s free, %s unknown, %s', d.count, d.free, d.unknown, d.amount) end as derived
              from derived d
              full join stored s using (target, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing)
             where (d.count, d.free, d.unknown, d.amount) is distinct from (s.count, s.free, s.unknown, s.amount)
                or d.corrected_at > coalesce(s.corrected_at, '-infinity')
             order by 1, 2
            """)
    }

    fileprivate static func convertedValuesThatDiffer(_ month: FigureMonth, _ kept: KeptCurrency) -> PostgresQuery {
        PostgresQuery(
            "figures.converted_values_that_differ",
            """
            with z as materialized (select \(kept.zone)::text as zone, \(kept.currency)::text as target), days as materialized (
                select d.day::date as day
                  from generate_series(\(month.days.lowerBound.description)::text::timestamp,
                                       \(month.days.upperBound.description)::text::timestamp, interval '1 day') d (day)
            ), \(unescaped: CurrencyValues.parts), stored as materialized (
                \(unescaped: CurrencyValues.kept)
            )
            select day::text as day, concat_ws(' ', target, day, environment, cohort, bundle_id, months, currency, is_missing) as key,
                   case when s.count is not null then format('%s rows, %s unknown, %s', s.count, s.unknown, s.amount) end as stored,
                   case when f.count is not null then format('%s rows, %s unknown, %s', f.count, f.unknown, f.amount) end as derived
              from fresh f full join stored s using (target, day, environment, cohort, bundle_id, months, currency, is_missing)
             where (f.count, f.unknown, f.amount, f.corrected_at) is distinct from (s.count, s.unknown, s.amount, s.corrected_at)
             order by 1, 2
            """)
    }

    fileprivate static let convertedValueSumsThatDiffer = PostgresQuery(
        "figures.converted_value_sums_that_differ",
        """
        select day::text as day, concat_ws(' ', target, zone, grain, environment, cohort, bundle_id, months, currency, is_missing) as key,
               case when s.count is not null then format('%s rows, %s', s.count, s.amount) end as stored,
               case when d.count is not null then format('%s rows, %s', d.count, d.amount) end as derived
          from (select * from (\(unescaped: CurrencyValues.ofAllDays)) d
                 where (count, unknown, amount) <> (0, 0, 0) and \(unescaped: ofKept)) d
          full join (select * from storehook.currency_values where (count, unknown, amount) <> (0, 0, 0) and \(unescaped: ofKept)) s
            using (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing)
         where (d.count, d.unknown, d.amount) is distinct from (s.count, s.unknown, s.amount)
         order by 1, 2
        """)

    fileprivate static let deleteConvertedValues = PostgresQuery(
        "figures.delete_converted_values", "delete from storehook.currency_values where \(unescaped: ofKept)")

    fileprivate static let sumConvertedValues = PostgresQuery(
        "figures.sum_converted_values",
        """
        insert into storehook.currency_values
               (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing, count, unknown, amount, corrected_at)
        select * from (\(unescaped: CurrencyValues.ofAllDays)) d where \(unescaped: ofKept)
        """)

    /// A condition: a row is of a currency that is kept. Rows of others are deleted in portions, and are not compared.
    private static let ofKept = "(target, zone) in (select currency, zone from storehook.figure_currencies)"

    /// Marks a month: workers convert it anew.
    fileprivate static func markConversion(of month: FigureMonth) -> PostgresQuery {
        PostgresQuery(
            "figures.mark_conversion",
            """
            insert into storehook.conversion_marks (day) values (\(month.days.lowerBound.description)::text::date) on conflict do nothing
            """)
    }
}
