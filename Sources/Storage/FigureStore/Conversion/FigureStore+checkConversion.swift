import Base
import Postgres
import PurchaseStore

extension FigureStore {
    /// Holds the converted sums against the cells and the rates, but for days that wait to be converted. While a currency is new, answers come
    /// from the cells, and there is nothing to check.
    func checkConversion(repair: Bool, onDifference: (RowDifference) throws -> Void) async throws -> Int {
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "figures.check_conversion")
        let kept = try await pool.withTransaction(options) { session -> (zone: String, currency: String)? in
            let state = try FigureState.read(session)
            guard let zone = state.zone, let currency = state.currency, state.keeps(currency, in: zone) else {
                return nil
            }
            return (zone: zone, currency: currency)
        }
        guard let (zone, currency) = kept else { return 0 }
        let days = try await pool.query(.daysConverted(in: zone, currency)).map { try $0.decode(0, as: String.self) }
        var count = 0
        for start in stride(from: 0, to: days.count, by: Self.checkedAtOnce) {
            let portion = days[start..<min(start + Self.checkedAtOnce, days.count)]
            let differences = try await pool.withTransaction(options) { session in
                let standing = try session.query(.daysStanding(portion.map(\.self), in: zone, currency)).compactMap {
                    CalendarDay(try $0.decode(0, as: String.self))
                }
                return try session.query(.conversionsThatDiffer(standing, in: zone, currency)).map {
                    try FigureDifference($0, table: try $0.decode("place"))
                }
            }
            count += differences.count
            for difference in differences { try onDifference(difference.row) }
            if repair, !differences.isEmpty { try await pool.query(.markConversion(of: differences.map(\.day))) }
        }
        let months = try await pool.withTransaction(options) { session in
            try session.query(.monthsThatDiffer).map { try FigureDifference($0, table: "converted_sums") }
        }
        for difference in months { try onDifference(difference.row) }
        // What is added to a month is what changed: a wrong one is summed from its days.
        if repair, !months.isEmpty {
            try await pool.withTransaction(TransactionOptions(name: "figures.sum_months")) { session in
                // The lock comes first, by a statement of its own: the days are then those of the clock that had it.
                try session.query("select 1 from storehook.figure_state for update")
                try session.query(.dropMonths)
                try session.query(.sumMonths)
            }
        }
        return count + months.count
    }
}

extension PostgresQuery {
    fileprivate static func daysConverted(in zone: String, _ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.days_converted",
            """
            select day::text
              from (select day from storehook.figure_cells where zone = \(zone)
                    union select day from storehook.corrected_conversions where target = \(currency) and zone = \(zone)
                    union select period from storehook.converted_sums
                           where target = \(currency) and zone = \(zone) and grain in ('day', 'day_part')) d
             order by day
            """)
    }

    /// Those days of which nothing is waiting, while zone and currency stand.
    fileprivate static func daysStanding(_ days: [String], in zone: String, _ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.days_standing",
            """
            select day
              from unnest(\(days)) day cross join storehook.figure_state s
             where day::date not in (select day from storehook.conversion_marks)
               and s.zone = \(zone) and s.currency = \(currency) and s.converted_from is null
             order by 1
            """)
    }

    fileprivate static func conversionsThatDiffer(
        _ days: [CalendarDay], in zone: String, _ currency: String
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.conversions_that_differ",
            """
            with z as materialized (select \(zone)::text as zone, \(currency)::text as target), days as materialized (
                select d.day::date as day from unnest(\(days.map(\.description))) d (day)
            ), cells as materialized (
                select c.* from z cross join days d join storehook.figure_cells c on c.zone = z.zone and c.day = d.day and c.measure <> 'order'
            ), \(unescaped: ConvertedCells.converted(to: "(select target from z)")),
            derived as materialized (
                select 'converted_sums' as place, period as day,
                       concat_ws(' ', grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing) as key,
                       format('%s rows, %s free, %s unknown, %s', count, free, unknown, amount) as value
                  from (\(unescaped: ConvertedCells.derived)) d
                union all
                select 'corrected_conversions', day, concat_ws(' ', day, measure, environment, bundle_id), max(corrected_at)::text
                  from converted where corrected_at is not null group by day, measure, environment, bundle_id
            ), stored as materialized (
                select 'converted_sums' as place, s.period as day,
                       concat_ws(' ', s.grain, s.period, s.measure, s.environment, s.bundle_id, s.product_id, s.storefront, s.currency,
                                 s.is_missing) as key,
                       format('%s rows, %s free, %s unknown, %s', s.count, s.free, s.unknown, s.amount) as value
                  from z cross join days d cross join (values ('day'), ('day_part')) g (grain)
                  join storehook.converted_sums s on (s.target, s.zone, s.grain, s.period) = (z.target, z.zone, g.grain, d.day)
                union all
                select 'corrected_conversions', c.day, concat_ws(' ', c.day, c.measure, c.environment, c.bundle_id), c.corrected_at::text
                  from z join days d on true
                  join storehook.corrected_conversions c on (c.target, c.zone, c.day) = (z.target, z.zone, d.day)
            ), lost as (table derived except all table stored), surplus as (table stored except all table derived)
            select place, day::text as day, key, null as stored, value as derived from lost
            union all
            select place, day::text, key, value, null from surplus
             order by 2, 1, 3
            """)
    }

    fileprivate static func markConversion(of days: [String]) -> PostgresQuery {
        PostgresQuery(
            "figures.mark_conversion",
            """
            insert into storehook.conversion_marks (day)
            select distinct day::date from unnest(\(days)) day on conflict do nothing
            """)
    }

    /// In which currency and zones sums stand or are being summed.
    private static let standing =
        "select currency as target, unnest(array[zone, next_zone]) as zone from storehook.figure_state where currency is not null"

    /// The months as their days have them.
    private static let months = """
        select d.target, d.zone, m.*
          from (\(standing)) d
         cross join lateral (
            with days_of as (
                select * from storehook.converted_sums s
                 where (s.target, s.zone) = (d.target, d.zone) and s.grain in ('day', 'day_part'))
            select grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing, sum(count)::bigint as count,
                   sum(free)::bigint as free, sum(unknown)::bigint as unknown, sum(amount) as amount
              from (\(ConvertedCells.months)) s
             group by grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing) m
        """

    fileprivate static let monthsThatDiffer = PostgresQuery(
        "figures.months_that_differ",
        """
        with derived as (\(unescaped: months)), stored as (
            select s.* from (\(unescaped: standing)) d join storehook.converted_sums s using (target, zone)
             where s.grain not in ('day', 'day_part')
        ), lost as (table derived except table stored), surplus as (table stored except table derived)
        select period::text as day, concat_ws(' ', target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing) as key,
               null as stored, format('%s rows, %s', count, amount) as derived from lost
        union all
        select period::text, concat_ws(' ', target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing),
               format('%s rows, %s', count, amount), null from surplus
         order by 1, 2
        """)

    fileprivate static let dropMonths = PostgresQuery(
        "figures.drop_months",
        """
        delete from storehook.converted_sums s using (\(unescaped: standing)) d
         where (s.target, s.zone) = (d.target, d.zone) and s.grain not in ('day', 'day_part')
        """)

    fileprivate static let sumMonths = PostgresQuery(
        "figures.sum_months",
        """
        insert into storehook.converted_sums
               (target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing, count, free, unknown,
                amount)
        select target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing, count, free, unknown,
               amount
          from (\(unescaped: months)) m where (count, free, unknown, amount) <> (0, 0, 0, 0)
        """)
}
