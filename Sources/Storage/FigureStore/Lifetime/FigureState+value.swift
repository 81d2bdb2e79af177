import Base
import Postgres

extension FigureState {
    /// Replaces all sums by those that follow from the cells. The caller holds the workers' lock.
    static func sumValues(_ session: borrowing PostgresSession) throws {
        try session.query(PostgresQuery("figures.drop_value_sums", "delete from storehook.value_sums"))
        try session.query(
            PostgresQuery(
                "figures.sum_all_values",
                """
                insert into storehook.value_sums (zone, environment, cohort, bundle_id, months, currency, count, unknown, amount)
                \(unescaped: PostgresQuery.summedValues)
                """), deadline: .seconds(600))
    }
}

extension PostgresQuery {
    /// Sums payments of whole days anew: replaces their cells, and adds the change to the sums.
    static func sumValues(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.sum_values",
            """
            with derived as materialized (
                \(embedding: ValueRows.derived(days, in: zone))
            ), gone as (
                delete from storehook.value_cells c using unnest(\(days.map(\.description))) d (day)
                 where c.zone = \(zone) and c.day = d.day::date
                returning c.*
            ), added as (
                insert into storehook.value_cells (zone, day, environment, bundle_id, cohort, months, currency, rate_day, unit, count)
                select \(zone), day, environment, bundle_id, cohort, months, currency, rate_day, unit, count from derived
            ), change as (
                select environment, bundle_id, cohort, months, currency, unit, count from derived
                union all
                select environment, bundle_id, cohort, months, currency, unit, -count from gone
            )
            insert into storehook.value_sums as known (zone, environment, cohort, bundle_id, months, currency, count, unknown, amount)
            select \(zone), environment, date_trunc('month', cohort::timestamp)::date, bundle_id, months, currency, sum(count),
                   coalesce(sum(count) filter (where unit is null), 0), coalesce(sum(unit::numeric * count), 0)
              from change
             group by 1, 2, 3, 4, 5, 6
            having sum(count) <> 0 or coalesce(sum(count) filter (where unit is null), 0) <> 0
                or coalesce(sum(unit::numeric * count), 0) <> 0
             order by 1, 2, 3, 4, 5, 6
                on conflict (zone, environment, cohort, bundle_id, months, currency) do update
               set count = known.count + excluded.count, unknown = known.unknown + excluded.unknown,
                   amount = known.amount + excluded.amount
            """)
    }

    /// A query: the sums that follow from the cells.
    fileprivate static let summedValues = """
        select c.zone, c.environment, date_trunc('month', c.cohort::timestamp)::date as cohort, c.bundle_id, c.months, c.currency,
               sum(c.count)::bigint as count, coalesce(sum(c.count) filter (where c.unit is null), 0)::bigint as unknown,
               coalesce(sum(c.unit::numeric * c.count), 0) as amount
          from storehook.value_cells c
         where c.zone in (select unnest(array[zone, next_zone, fiscal_zone]) from storehook.figure_state)
         group by 1, 2, 3, 4, 5, 6
        """

    static func valuesThatDiffer(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.values_that_differ",
            """
            with derived as materialized (
                \(embedding: ValueRows.derived(days, in: zone))
            ), stored as materialized (
                select c.day, c.environment, c.bundle_id, c.cohort, c.months, c.currency, c.rate_day, c.unit, sum(c.count)::bigint as count
                  from unnest(\(days.map(\.description))) d (day)
                  join storehook.value_cells c on c.zone = \(zone) and c.day = d.day::date
                 group by c.day, c.environment, c.bundle_id, c.cohort, c.months, c.currency, c.rate_day, c.unit
            ), lost as (table derived except table stored), surplus as (table stored except table derived)
            select day::text as day, concat_ws(' ', day, environment, bundle_id, cohort, months, currency) as key, null as stored,
                   format('%s of %s', count, coalesce(unit::text, 'no amount')) as derived
              from lost
            union all
            select day::text, concat_ws(' ', day, environment, bundle_id, cohort, months, currency),
                   format('%s of %s', count, coalesce(unit::text, 'no amount')), null
              from surplus
             order by 1, 2
            """)
    }

    static let valueSumsThatDiffer = PostgresQuery(
        "figures.value_sums_that_differ",
        """
        with derived as (\(unescaped: summedValues)), stored as (
            select s.* from storehook.value_sums s
             where (s.count, s.unknown, s.amount) <> (0, 0, 0) and s.zone in (select unnest(array[zone, next_zone, fiscal_zone]) from storehook.figure_state)
        ), lost as (
            table derived except table stored
        ), surplus as (table stored except table derived)
        select cohort::text as day, concat_ws(' ', zone, environment, cohort, bundle_id, months, currency) as key, null as stored,
               format('%s rows, %s', count, amount) as derived
          from lost
        union all
        select cohort::text, concat_ws(' ', zone, environment, cohort, bundle_id, months, currency),
               format('%s rows, %s', count, amount), null
          from surplus
         order by 1, 2
        """)
}
