import Base
import Postgres
package import PurchaseStore

extension FigureStore {
    /// The number of days of one comparison.
    static let checkedAtOnce = 30

    /// Compares the sums with the books. Days with changes that are not summed yet are left out.
    /// - Parameters:
    ///   - repair: mark the days that differ: workers sum them anew.
    ///   - onDifference: called with each difference.
    /// - Returns: the number of differences.
    /// - Throws: `PostgresError`.
    package func check(repair: Bool, onDifference: (RowDifference) throws -> Void) async throws -> Int {
        var count = 0
        let days = try await pool.query(.daysToCheck).map { row in
            (day: try row.decode(0, as: String.self), zone: try row.decode(1, as: String.self))
        }
        var rest = days[...]
        while let zone = rest.first?.zone {
            let portion = rest.prefix(Self.checkedAtOnce).prefix { $0.zone == zone }
            rest = rest.dropFirst(portion.count)
            let differences = try await pool.withTransaction(
                // With indexes, as workers sum.
                TransactionOptions(
                    isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "figures.check")
            ) { session in
                let summed = try session.query(.summed(portion.map(\.day), in: zone)).compactMap {
                    CalendarDay(try $0.decode(0, as: String.self))
                }
                return try session.query(.cellsThatDiffer(summed, in: zone), deadline: .seconds(600)).map {
                    try FigureDifference($0, table: "figure_cells")
                }
                    + session.query(.cohortsThatDiffer(summed, in: zone)).map {
                        try FigureDifference($0, table: "cohort_cells")
                    }
                    + session.query(.valuesThatDiffer(summed, in: zone)).map {
                        try FigureDifference($0, table: "value_cells")
                    }
            }
            count += differences.count
            for difference in differences { try onDifference(difference.row) }
            if repair, !differences.isEmpty { try await mark(Set(differences.map(\.day))) }
        }
        let sums = try await pool.withTransaction(
            TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "figures.check")
        ) { session in
            try session.query(.sumsThatDiffer).map { try FigureDifference($0, table: "figure_sums") }
                + session.query(.valueSumsThatDiffer, deadline: .seconds(600)).map {
                    try FigureDifference($0, table: "value_sums")
                }
        }
        for difference in sums { try onDifference(difference.row) }
        // Workers add changes to sums, and so a wrong sum stays wrong: all are added up from the cells.
        if repair, !sums.isEmpty {
            try await pool.withTransaction(TransactionOptions(name: "figures.sum_all")) { session in
                // The lock is taken by a statement of its own: the next one sees all cells of the worker that held it.
                try session.query("select 1 from storehook.figure_state for update")
                try session.query(.sumAll)
                try FigureState.sumValues(session)
            }
        }
        return try await count + sums.count + checkConversion(repair: repair, onDifference: onDifference)
    }

    private func mark(_ days: Set<String>) async throws {
        try await pool.query(
            PostgresQuery(
                "figures.mark",
                "insert into storehook.figure_marks (day) select day::date from unnest(\(days.sorted())) day"))
    }
}

extension PostgresQuery {
    /// The days with cells or rows, each with its zone, in the order of zones.
    fileprivate static let daysToCheck = PostgresQuery(
        "figures.days_to_check",
        """
        select d.day::text, z.zone
          from (select coalesce(zone, next_zone) as zone, case when zone is null then summed_from end as first,
                       coalesce(turned_until, '-infinity') as turned
                  from storehook.figure_state
                union all
                select fiscal_zone, fiscal_from, coalesce(turned_until, '-infinity') from storehook.figure_state
                 where fiscal_zone is distinct from zone and fiscal_zone is distinct from next_zone) z
         cross join lateral (
            select c.day from storehook.figure_cells c where c.zone = z.zone
            union
            select c.day from storehook.cohort_cells c where c.zone = z.zone
            union
            select c.day from storehook.value_cells c where c.zone = z.zone
            union
            select (a.known_at at time zone z.zone)::date from storehook.accounts a
            union
            select (t.starts_at at time zone z.zone)::date from storehook.booked_transactions t
            union
            select (t.heard_at at time zone z.zone)::date from storehook.booked_transactions t
             where t.heard_at - t.starts_at > interval '24 hours'
            union
            select (i.at at time zone z.zone)::date
              from storehook.booked_refunds r cross join lateral (values (r.at), (r.heard_at)) i (at)
            union
            select (coalesce(t.counts_until, t.ends_at) at time zone z.zone)::date from storehook.booked_transactions t
             where coalesce(t.counts_until, t.ends_at) < z.turned
            union
            select (i.at at time zone z.zone)::date
              from storehook.booked_stretches s cross join lateral (values (s.starts_at), (s.ends_at)) i (at)
             where i.at < z.turned
            union
            select (a.first_at at time zone z.zone)::date from storehook.booked_attempts a
            union
            select (r.at at time zone z.zone)::date from storehook.reported_restores r
            union
            select (w.started_at at time zone z.zone)::date from storehook.trials w
            union
            select o.day from storehook.booked_orders o where o.class_id is not null) d
         where z.zone is not null and d.day >= coalesce(z.first, '-infinity')
         order by z.zone, d.day
        """)

    /// The days without a mark among some days of a kept zone.
    fileprivate static func summed(_ days: [String], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.summed_days",
            """
            with z as materialized (select \(zone)::text as zone), marked as materialized (
                \(unescaped: DayStart.marked(in: "(select zone from z)"))
            )
            select day
              from unnest(\(days)) day
             where day::date not in (select day from marked)
               and (select zone from z) in (select unnest(array[coalesce(zone, next_zone), fiscal_zone]) from storehook.figure_state)
             order by 1
            """)
    }

    fileprivate static func cellsThatDiffer(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.cells_that_differ",
            """
            with \(embedding: FigureCells.parts(days, in: zone)), stored as materialized (
                select c.day, c.measure, c.environment, c.bundle_id, c.product_id, c.storefront, c.currency, c.rate_day, c.unit,
                       sum(c.count)::bigint as count
                  from unnest(\(days.map(\.description))) d (day)
                  join storehook.figure_cells c on c.zone = \(zone) and c.day = d.day::date
                 group by c.day, c.measure, c.environment, c.bundle_id, c.product_id, c.storefront, c.currency, c.rate_day, c.unit
            ), lost as (table derived except table stored), surplus as (table stored except table derived)
            select day::text as day, concat_ws(' ', day, measure, environment, bundle_id, product_id, storefront, currency) as key,
                   null as stored, format('%s of %s', count, coalesce(unit::text, 'no amount')) as derived from lost
            union all
            select day::text, concat_ws(' ', day, measure, environment, bundle_id, product_id, storefront, currency),
                   format('%s of %s', count, coalesce(unit::text, 'no amount')), null from surplus
             order by 1, 2
            """)
    }

    fileprivate static func cohortsThatDiffer(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.cohorts_that_differ",
            """
            with \(embedding: FigureCells.parts(days, in: zone)), stored as materialized (
                select c.day, c.environment, c.bundle_id, c.months, c.due, c.retained
                  from unnest(\(days.map(\.description))) d (day)
                  join storehook.cohort_cells c on c.zone = \(zone) and c.day = d.day::date
            )
            select day::text as day, concat_ws(' ', day, environment, bundle_id, months) as key,
                   s.retained || ' of ' || s.due as stored, d.retained || ' of ' || d.due as derived
              from derived_cohorts d full join stored s using (day, environment, bundle_id, months)
             where (d.due, d.retained) is distinct from (s.due, s.retained)
             order by day, environment, bundle_id, months
            """)
    }

    /// A query: the sums that follow from the cells.
    private static let summed = """
        select g.grain, c.zone, g.period, c.measure, c.environment, g.bundle_id, g.product_id, g.storefront, c.currency,
               sum(c.count)::bigint as count, coalesce(sum(c.count) filter (where c.unit = 0), 0)::bigint as free,
               coalesce(sum(c.count) filter (where c.unit is null), 0)::bigint as unknown,
               coalesce(sum(c.unit::numeric * c.count), 0) as amount
          from storehook.figure_cells c
         cross join lateral (select \(AccountRows.countedOn("c")) as day) d
         cross join lateral \(FigureGrain.sums(of: "c", on: "d.day"))
         where c.zone in (select unnest(array[zone, next_zone, fiscal_zone]) from storehook.figure_state)
         group by g.grain, c.zone, g.period, c.measure, c.environment, g.bundle_id, g.product_id, g.storefront, c.currency
        """

    fileprivate static let sumsThatDiffer = PostgresQuery(
        "figures.sums_that_differ",
        """
        with derived as (\(unescaped: summed)), stored as (
            select s.* from storehook.figure_sums s
             where (s.count, s.free, s.unknown, s.amount) <> (0, 0, 0, 0)
               and s.zone in (select unnest(array[zone, next_zone, fiscal_zone]) from storehook.figure_state)
        ), lost as (table derived except table stored), surplus as (table stored except table derived)
        select period::text as day, concat_ws(' ', grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency) as key,
               null as stored, format('%s rows, %s', count, amount) as derived from lost
        union all
        select period::text, concat_ws(' ', grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency),
               format('%s rows, %s', count, amount), null from surplus
         order by 1, 2
        """)

    /// Replaces all sums by those that follow from the cells. The caller holds the workers' lock.
    fileprivate static let sumAll = PostgresQuery(
        "figures.sum_all",
        """
        with derived as materialized (\(unescaped: summed)), gone as (
            update storehook.figure_sums s set count = 0, free = 0, unknown = 0, amount = 0
             where not exists (
                   select from derived d
                    where (d.grain, d.zone, d.environment, d.period, d.measure, d.bundle_id, d.product_id, d.storefront, d.currency)
                          = (s.grain, s.zone, s.environment, s.period, s.measure, s.bundle_id, s.product_id, s.storefront, s.currency))
        )
        insert into storehook.figure_sums as known
               (grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency, count, free, unknown, amount)
        select grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency, count, free, unknown, amount from derived
            on conflict (grain, zone, environment, period, measure, bundle_id, product_id, storefront, currency) do update
           set count = excluded.count, free = excluded.free, unknown = excluded.unknown, amount = excluded.amount
        """)
}
