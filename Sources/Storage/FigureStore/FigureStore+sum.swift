import Base
package import Figures
import Postgres

extension FigureStore {
    /// How many marked hours and days are summed in one transaction by default, and how many days of a new zone.
    package static let usualPortion: Int64 = 24

    /// Sums days of which something changed, and some of the days that were never summed in the zone of the catalog. One worker at a time
    /// does this; another one that comes meanwhile does nothing.
    /// - Parameters:
    ///   - zone: that of the current catalog, by its IANA name.
    ///   - currency: its reporting currency; nil where it has none.
    ///   - plans: its subscriptions; nil leaves those by which figures are summed.
    ///   - commission: the table that counts; nil leaves that by which figures are summed.
    ///   - hasFiscalMonths: whether the days of fiscal months are kept; nil leaves it as it is.
    ///   - portion: how many marked hours and days are summed at most, and how many days of a new zone or currency.
    /// - Returns: whether there may be more to do.
    /// - Throws: `PostgresError`.
    package func sum(
        in zone: String, currency: String? = nil, plans: [FigurePlan]? = nil, commission: Commission? = nil,
        hasFiscalMonths: Bool? = nil, atMost portion: Int64 = usualPortion
    ) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(60), goesByIndexes: true, name: "figures.sum")
        return try await pool.withTransaction(options) { session in
            guard var state = try FigureState.locked(session) else { return false }
            if currency != state.currency { try state.take(currency, session) }
            if zone != state.zone, zone != state.nextZone {
                // Its days come later: writers wait for this.
                try state.begin(zone, session)
                return true
            } else if zone == state.zone, state.nextZone != nil {
                // The zone was changed back before its days were all summed.
                try state.abandon(session)
            }
            if let hasFiscalMonths, try state.keepFiscalMonths(hasFiscalMonths, session) { return true }
            if let plans { try state.take(plans, session) }
            if let commission { try state.take(commission, session) }
            try state.turn(session)
            let marked = try session.query(.takeMarks(portion)).map { row in
                (
                    hour: try row.decode("hour", as: PostgresTimestamp?.self),
                    day: try row.decode("day", as: String?.self).flatMap { CalendarDay($0) }
                )
            }
            if !marked.isEmpty {
                for zone in state.zones {
                    let days = try session.query(
                        .days(
                            ofHours: marked.compactMap(\.hour), marked.compactMap(\.day), zone,
                            from: state.firstDay(in: zone))
                    ).compactMap { CalendarDay(try $0.decode(0, as: String.self)) }
                    if !days.isEmpty { try state.sum(days, in: zone, session) }
                }
            }
            let converted = try session.query(.takeConversionMarks(portion)).compactMap {
                CalendarDay(try $0.decode(0, as: String.self))
            }
            for zone in state.convertedZones { try state.convert(converted, in: zone, session) }
            let isWalking = try state.walk(portion, session)
            let isWalkingFiscalMonths = try state.walkFiscalMonths(portion, session)
            let isConverting = try state.walkConversion(portion, session)
            let isSweeping = try session.query(.sweep(state.zones)).count > 0
            let isSweepingConverted = try session.query(.sweepConverted(state.convertedZones, state.currency)).count > 0
            return isWalking || isWalkingFiscalMonths || isConverting || isSweeping || isSweepingConverted
                || marked.count == portion
                || converted.count == portion
        }
    }

    /// The zones of which there are cells, sums, cohorts or values: each is looked for behind the one before it, so that all others are passed over.
    fileprivate static let zonesHeld = """
        with recursive cells as (
            select min(zone) as zone from storehook.figure_cells
            union all
            select (select min(zone) from storehook.figure_cells where zone > cells.zone) from cells where cells.zone is not null
        ), sums as (
            select g.grain, (select min(zone) from storehook.figure_sums where grain = g.grain) as zone from unnest('{month_product,month_country,plain_month,day}'::text[]) g (grain)
            union all
            select sums.grain, (select min(zone) from storehook.figure_sums where grain = sums.grain and zone > sums.zone)
              from sums where sums.zone is not null
        ), cohorts as (
            select min(zone) as zone from storehook.cohort_cells
            union all
            select (select min(zone) from storehook.cohort_cells where zone > cohorts.zone) from cohorts where cohorts.zone is not null
        ), paid as (
            select min(zone) as zone from storehook.value_cells
            union all
            select (select min(zone) from storehook.value_cells where zone > paid.zone) from paid where paid.zone is not null
        ), paid_sums as (
            select min(zone) as zone from storehook.value_sums
            union all
            select (select min(zone) from storehook.value_sums where zone > paid_sums.zone) from paid_sums where paid_sums.zone is not null
        )
        select zone from cells where zone is not null union select zone from sums where zone is not null
        union select zone from cohorts where zone is not null union select zone from paid where zone is not null
        union select zone from paid_sums where zone is not null
        """

    /// Whether there is anything to sum.
    /// - Parameters:
    ///   - zone: that of the current catalog.
    ///   - currency: its reporting currency; nil where it has none.
    ///   - plans: its subscriptions; nil where they do not matter.
    ///   - commission: the table that counts; nil where it does not matter.
    ///   - hasFiscalMonths: whether the days of fiscal months are kept; nil where it does not matter.
    package func isDue(
        in zone: String, currency: String? = nil, plans: [FigurePlan]? = nil, commission: Commission? = nil,
        hasFiscalMonths: Bool? = nil
    ) async throws -> Bool {
        if let plans, try await pool.query(.differs(from: plans)).one().decode(0) { return true }
        if let commission, try await pool.query(.differs(from: commission)).one().decode(0) { return true }
        return try await pool.query(
            PostgresQuery(
                "figures.is_due",
                """
                select exists (select from storehook.figure_marks)
                    or exists (select from storehook.conversion_marks)
                    or \(unescaped: PostgresQuery.isTurning)
                    or exists (select from storehook.figure_state
                                where next_zone is not null or zone is distinct from \(zone) or converted_from is not null
                                   or currency is distinct from \(currency) or fiscal_from is not null
                                   or (fiscal_zone is not null) <> \(hasFiscalMonths))
                    or exists (select from (\(unescaped: Self.conversionsHeld)) held cross join storehook.figure_state s
                                where held.target is distinct from s.currency or held.zone not in (coalesce(s.zone, ''), coalesce(s.next_zone, '')))
                    or exists (select from (\(unescaped: Self.zonesHeld)) held cross join storehook.figure_state s
                                where held.zone not in (coalesce(s.zone, ''), coalesce(s.next_zone, ''), coalesce(s.fiscal_zone, '')))
                """
            ).keepingPlan()
        ).one().decode(0)
    }
}

extension PostgresQuery {
    /// Takes the marks of hours and days that were marked first. What commits later has marks of its own.
    fileprivate static func takeMarks(_ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.take_marks",
            """
            with picked as materialized (
                select hour, day from storehook.figure_marks group by hour, day order by min(id) limit \(limit)
            ), gone as (
                delete from storehook.figure_marks m using picked
                 where m.hour is not distinct from picked.hour and m.day is not distinct from picked.day
            )
            select hour, day::text as day from picked
            """
        ).keepingPlan()
    }

    /// The days of a zone in which hours lie; an hour may lie in two.
    fileprivate static func days(
        ofHours hours: [PostgresTimestamp], _ days: [CalendarDay], _ zone: String, from first: CalendarDay?
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.days",
            """
            select distinct day::text
              from (
                select (at at time zone \(zone))::date as day
                  from unnest(\(hours)) hour
                 cross join lateral (values (hour), (hour + interval '59 minutes 59.999999 seconds')) i (at)
                union all
                select day::date from unnest(\(days.map(\.description))) day) d
             where day >= coalesce(\(first?.description)::text::date, '-infinity')
             order by 1
            """)
    }

    /// The day behind the last one in which anything is, today at least.
    static func lastDay(in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.last_day",
            """
            select (greatest(
                       (greatest(now(), (select max(starts_at) from storehook.booked_transactions),
                                 (select max(at) from storehook.booked_refunds),
                                 (select max(first_at) from storehook.booked_attempts),
                                 (select max(at) from storehook.reported_restores)) at time zone \(zone))::date,
                       (select max(day) from storehook.booked_orders where class_id is not null)) + 1)::text
            """)
    }

    /// The first day in which anything is; null where nothing is.
    static func firstDay(in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.first_day",
            """
            select least((least((select min(starts_at) from storehook.booked_transactions),
                                (select min(at) from storehook.booked_refunds),
                                (select min(first_at) from storehook.booked_attempts),
                                (select min(at) from storehook.reported_restores),
                                (select min(known_at) from storehook.accounts)) at time zone \(zone))::date,
                         (select min(day) from storehook.booked_orders where class_id is not null))::text
            """)
    }

    /// Deletes what is left of a zone.
    static func drop(_ zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.drop",
            """
            with cells as (delete from storehook.figure_cells where zone = \(zone)),
                 cohorts as (delete from storehook.cohort_cells where zone = \(zone)),
                 paid as (delete from storehook.value_cells where zone = \(zone)),
                 paid_sums as (delete from storehook.value_sums where zone = \(zone)),
                 converted as (delete from storehook.converted_sums where zone = \(zone)),
                 corrected as (delete from storehook.corrected_conversions where zone = \(zone))
            delete from storehook.figure_sums where zone = \(zone)
            """)
    }

    /// Deletes what is left of a zone in currencies.
    static func dropConverted(in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.drop_converted_zone",
            """
            with corrected as (delete from storehook.corrected_conversions where zone = \(zone))
            delete from storehook.converted_sums where zone = \(zone)
            """)
    }

    /// Deletes some rows of zones whose figures stand no more; returns the zones that had some.
    fileprivate static func sweep(_ zones: [String]) -> PostgresQuery {
        PostgresQuery(
            "figures.sweep",
            """
            with held as materialized (
                select zone from (\(unescaped: FigureStore.zonesHeld)) held where zone <> all (\(zones))
            ), cells as (
                delete from storehook.figure_cells where ctid = any (array(
                    select c.ctid from held join storehook.figure_cells c using (zone) limit 20000))
                returning zone
            ), sums as (
                delete from storehook.figure_sums where ctid = any (array(
                    select s.ctid from held join storehook.figure_sums s on s.grain in ('month_product', 'month_country', 'plain_month', 'day') and s.zone = held.zone limit 20000))
                returning zone
            ), cohorts as (
                delete from storehook.cohort_cells where ctid = any (array(
                    select c.ctid from held join storehook.cohort_cells c using (zone) limit 20000))
                returning zone
            ), paid as (
                delete from storehook.value_cells where ctid = any (array(
                    select c.ctid from held join storehook.value_cells c using (zone) limit 20000))
                returning zone
            ), paid_sums as (
                delete from storehook.value_sums where ctid = any (array(
                    select s.ctid from held join storehook.value_sums s using (zone) limit 20000))
                returning zone
            )
            select distinct zone
              from (table cells union all table sums union all table cohorts union all table paid union all table paid_sums) gone
            """)
    }

    /// Sums whole days anew: their cells are replaced, and what changed by that is added to the sums.
    static func sum(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.sum",
            """
            with derived as materialized (
                \(embedding: FigureCells.derived(days, in: zone))
            ), gone as (
                delete from storehook.figure_cells c using unnest(\(days.map(\.description))) d (day)
                 where c.zone = \(zone) and c.day = d.day::date
                returning c.*
            ), added as (
                insert into storehook.figure_cells
                       (zone, day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count)
                select \(zone), day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count from derived
            ), change as (
                select day, measure, environment, bundle_id, product_id, storefront, currency, unit, count from derived
                union all
                select day, measure, environment, bundle_id, product_id, storefront, currency, unit, -count from gone
            ), split as (
                select 'month_product' as grain, date_trunc('month', day)::date as period, product_id, '' as storefront, measure, environment,
                       bundle_id, currency, unit, count from change
                union all
                select 'month_country', date_trunc('month', day)::date, '', storefront, measure, environment, bundle_id, currency, unit, count
                  from change
                union all
                select 'plain_month', date_trunc('month', day)::date, '', '', measure, environment, bundle_id, currency, unit, count
                  from change
                union all
                select 'day', day, '', '', measure, environment, bundle_id, currency, unit, count from change
            )
            insert into storehook.figure_sums as known
                   (grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency, count, free, unknown, amount)
            select grain, \(zone), period, measure, environment, bundle_id, product_id, storefront, currency, sum(count),
                   coalesce(sum(count) filter (where unit = 0), 0), coalesce(sum(count) filter (where unit is null), 0),
                   coalesce(sum(unit::numeric * count), 0)
              from split
             group by grain, period, measure, environment, bundle_id, product_id, storefront, currency
            having sum(count) <> 0 or coalesce(sum(count) filter (where unit = 0), 0) <> 0
                or coalesce(sum(count) filter (where unit is null), 0) <> 0 or coalesce(sum(unit::numeric * count), 0) <> 0
             order by grain, environment, period, measure, bundle_id, product_id, storefront, currency
                on conflict (grain, zone, environment, period, measure, bundle_id, product_id, storefront, currency) do update
               set count = known.count + excluded.count, free = known.free + excluded.free,
                   unknown = known.unknown + excluded.unknown, amount = known.amount + excluded.amount
            """)
    }
}
