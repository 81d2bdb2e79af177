import Base
package import Figures
import Postgres

extension FigureStore {
    /// The usual portion of one transaction: so many marked hours and days, and so many days of a new zone.
    package static let usualPortion: Int64 = 24

    /// Sums days with changes, and some of the days that were never summed in the catalog's zone. One worker at a time does this: a second one
    /// returns at once.
    /// - Parameters:
    ///   - zone: the zone of the current catalog, by its IANA name.
    ///   - currency: the catalog's reporting currency; nil where it has none.
    ///   - plans: the catalog's subscriptions; nil keeps the ones that figures are summed by.
    ///   - catalogVersion: the catalog's version, for the record of closed months; nil keeps the noted one.
    ///   - commission: the current commission table; nil keeps the one that figures are summed by.
    ///   - hasFiscalMonths: whether sums by fiscal months are kept; nil leaves it as it is.
    ///   - portion: the most marked hours and days, and the most days of a new zone or currency, of one transaction.
    /// - Returns: whether there may be more to do.
    /// - Throws: `PostgresError`.
    package func sum(
        in zone: String, currency: String? = nil, plans: [FigurePlan]? = nil, catalogVersion: Int64? = nil,
        commission: Commission? = nil, hasFiscalMonths: Bool? = nil, atMost portion: Int64 = usualPortion
    ) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(60), goesByIndexes: true, name: "figures.sum")
        func attempt(mayBegin: Bool) async throws -> Bool {
            try await pool.withTransaction(options) { session in
                guard var state = try FigureState.locked(session) else { return false }
                let isOtherZone = zone != state.zone && zone != state.nextZone
                if isOtherZone, mayBegin {
                    // Its days are summed later: writers of the books wait for this transaction.
                    if try state.begin(zone, session) { return true }
                } else if zone == state.zone, state.nextZone != nil {
                    // The catalog has the standing zone again, before all days of the next one were summed.
                    try state.abandon(session)
                }
                if let hasFiscalMonths, mayBegin || !hasFiscalMonths,
                    try state.keepFiscalMonths(hasFiscalMonths, session)
                {
                    return true
                }
                let isWaiting = try state.keepCurrencies(currency, session)
                if let plans { try state.take(plans, session) }
                if let catalogVersion { try state.note(catalogVersion, session) }
                if let commission { try state.take(commission, session) }
                let isAnew = try state.turn(session)
                let isMore = try Self.sum(portion, &state, isOtherZone: isOtherZone, session)
                let isBeginning = isOtherZone || hasFiscalMonths == true && state.zone != nil && state.fiscalZone == nil
                return isMore || isBeginning || isWaiting || isAnew
            }
        }
        do {
            return try await attempt(mayBegin: true)
        } catch let error as PostgresError where FigureState.isHeldUp(error) {
            // The zones that stand go on. The next call tries again.
            return try await attempt(mayBegin: false)
        }
    }

    /// Sums marked days, and the next days of new zones and currencies.
    /// - Parameter isOtherZone: whether the catalog has a third zone. It begins later, and no days of the next zone are summed until then.
    /// - Returns: whether there may be more.
    private static func sum(
        _ portion: Int64, _ state: inout FigureState, isOtherZone: Bool, _ session: borrowing PostgresSession
    ) throws -> Bool {
        let marked = try session.query(.takeMarks(portion, in: state.zones)).map { row in
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
        let isConvertingAnew = try state.convertChanged(portion, session)
        let isWalking = try isOtherZone ? false : state.walk(portion, session)
        let isWalkingFiscalMonths = try state.walkFiscalMonths(portion, session)
        let isConverting = try state.walkConversion(portion, session)
        let isSwept = try state.sweep(session)
        return isWalking || isWalkingFiscalMonths || isConverting || isConvertingAnew || !isSwept
            || marked.count == portion
    }

    /// The zones with cells, sums, cohorts or values. Each is looked for behind the one before it: an index gives it without a look at other rows.
    fileprivate static let zonesHeld = """
        with recursive cells as (
            select min(zone) as zone from storehook.figure_cells
            union all
            select (select min(zone) from storehook.figure_cells where zone > cells.zone) from cells where cells.zone is not null
        ), sums as (
            select g.grain, (select min(zone) from storehook.figure_sums where grain = g.grain) as zone from unnest(array[\(FigureGrain.literals)]) g (grain)
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
    ///   - zone: the zone of the current catalog.
    ///   - currency: the catalog's reporting currency; nil where it has none.
    ///   - plans: the catalog's subscriptions; nil where they do not matter.
    ///   - catalogVersion: the catalog's version; nil where it does not matter.
    ///   - commission: the current commission table; nil where it does not matter.
    ///   - hasFiscalMonths: whether sums by fiscal months are kept; nil where it does not matter.
    package func isDue(
        in zone: String, currency: String? = nil, plans: [FigurePlan]? = nil, catalogVersion: Int64? = nil,
        commission: Commission? = nil, hasFiscalMonths: Bool? = nil
    ) async throws -> Bool {
        if let plans, try await pool.query(.differs(from: plans)).one().decode(0) { return true }
        if let commission, try await pool.query(.differs(from: commission)).one().decode(0) { return true }
        if try await pool.query(.currenciesAreDue(currency)).one().decode(0) { return true }
        return try await pool.query(
            PostgresQuery(
                "figures.is_due",
                """
                select exists (select from storehook.figure_marks)
                    or exists (select from storehook.conversion_marks)
                    or \(unescaped: PostgresQuery.isTurning)
                    or exists (select from storehook.figure_state
                                where next_zone is not null or zone is distinct from \(zone) or fiscal_from is not null
                                   or (fiscal_zone is not null) <> \(hasFiscalMonths)
                                   or catalog_version is distinct from coalesce(\(catalogVersion), catalog_version))
                    or exists (select from (\(unescaped: Self.zonesHeld)) held cross join storehook.figure_state s
                                where held.zone not in (coalesce(s.zone, ''), coalesce(s.next_zone, ''), coalesce(s.fiscal_zone, '')))
                """
            ).keepingPlan()
        ).one().decode(0)
    }
}

extension PostgresQuery {
    /// Takes the marks of some hours and days, the oldest first, and returns these. Also takes the other marks of the same days: a day is summed
    /// whole, and each of them would have it summed once more. Transactions that commit later leave marks of their own.
    /// - Parameter zones: the zones in which days are summed. A mark stays if it is of another day in one of them.
    fileprivate static func takeMarks(_ limit: Int64, in zones: [String]) -> PostgresQuery {
        PostgresQuery(
            "figures.take_marks",
            """
            with marked as materialized (
                select hour, day, row_number() over (order by min(id)) <= \(limit) as is_picked
                  from storehook.figure_marks group by hour, day
            ), days as materialized (
                select m.hour, m.day as marked_day, m.is_picked, z.zone, coalesce(m.day, (i.at at time zone z.zone)::date) as day
                  from marked m
                 cross join unnest(\(zones)) z (zone)
                 cross join lateral (values (m.hour), (m.hour + interval '59 minutes 59.999999 seconds')) i (at)
            ), taken as materialized (
                select d.hour, d.marked_day
                  from days d
                  left join (select distinct zone, day from days where is_picked) s on (s.zone, s.day) = (d.zone, d.day)
                 group by d.hour, d.marked_day
                having bool_and(s.zone is not null)
            ), gone as (
                delete from storehook.figure_marks
                 where hour = any (array(select hour from taken where hour is not null))
                    or hour is null and day = any (array(select marked_day from taken where hour is null))
            )
            select hour, day::text as day from marked where is_picked
            """
        ).keepingPlan()
    }

    /// The days of some hours in a zone. An hour may belong to two days.
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

    /// The day after the last one with any row, or after today if that is later.
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

    /// The first day with any row; null without rows.
    static func firstDay(in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.first_day",
            """
            select least((least((select min(starts_at) from storehook.booked_transactions),
                                (select min(at) from storehook.booked_refunds),
                                (select min(first_at) from storehook.booked_attempts),
                                (select min(at) from storehook.reported_restores),
                                (select min(started_at) from storehook.trials),
                                (select min(known_at) from storehook.accounts)) at time zone \(zone))::date,
                         (select min(day) from storehook.booked_orders where class_id is not null))::text
            """)
    }

    /// Deletes some rows of zones that are no longer kept; returns the zones of these rows.
    static func sweep(_ zones: [String]) -> PostgresQuery {
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
                    select s.ctid from held join storehook.figure_sums s on s.grain in (\(unescaped: FigureGrain.literals)) and s.zone = held.zone limit 20000))
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

    /// Sums whole days anew: replaces their cells, and adds the change of these to the sums, and to the sums in kept currencies. The cohorts of the
    /// days are counted anew, too; only the values that changed are written.
    static func sum(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.sum",
            """
            with \(embedding: FigureCells.parts(days, in: zone)), gone as (
                delete from storehook.figure_cells c using unnest(\(days.map(\.description))) d (day)
                 where c.zone = \(zone) and c.day = d.day::date
                returning c.*
            ), added as (
                insert into storehook.figure_cells
                       (zone, day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count)
                select \(zone), day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count from derived
            ), change as (
                select \(unescaped: AccountRows.countedOn("c")) as day, measure, environment, bundle_id, product_id, storefront, currency, rate_day,
                       unit, count
                  from derived c
                union all
                select \(unescaped: AccountRows.countedOn("c")), measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit,
                       -count
                  from gone c
            ), net as materialized (
                select day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, sum(count)::bigint as count
                  from change
                 group by day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit
                having sum(count) <> 0
            ), kept as materialized (
                select currency as target, zone, coalesce(converted_from, '-infinity') as since
                  from storehook.figure_currencies where zone = \(zone)
            ), cells as materialized (
                select k.target, n.day, n.measure, n.environment, n.bundle_id, n.product_id, n.storefront, n.currency, n.rate_day, n.unit, n.count
                  from kept k join net n on n.day >= k.since and n.measure in (\(unescaped: CurrencySums.measures))
            ), \(unescaped: ConvertedCells.parts), \(unescaped: CurrencySums.parts), converted_now as (
                \(unescaped: CurrencySums.insertion(in: "(select zone from kept limit 1)"))
                   set count = known.count + excluded.count, free = known.free + excluded.free, unknown = known.unknown + excluded.unknown,
                       amount = known.amount + excluded.amount, corrected_at = greatest(known.corrected_at, excluded.corrected_at)
            ), gone_cohorts as (
                delete from storehook.cohort_cells c using unnest(\(days.map(\.description))) d (day)
                 where c.zone = \(zone) and c.day = d.day::date
                   and not exists (
                       select from derived_cohorts r
                        where (r.day, r.environment, r.bundle_id, r.months) = (c.day, c.environment, c.bundle_id, c.months))
            ), counted_cohorts as (
                insert into storehook.cohort_cells as known (zone, day, environment, bundle_id, months, due, retained)
                select \(zone), day, environment, bundle_id, months, due, retained from derived_cohorts
                    on conflict (zone, day, environment, bundle_id, months) do update
                   set due = excluded.due, retained = excluded.retained
                 where (known.due, known.retained) is distinct from (excluded.due, excluded.retained)
            )
            insert into storehook.figure_sums as known
                   (grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency, count, free, unknown, amount)
            select g.grain, \(zone), g.period, n.measure, n.environment, g.bundle_id, g.product_id, g.storefront, n.currency, sum(n.count),
                   coalesce(sum(n.count) filter (where n.unit = 0), 0), coalesce(sum(n.count) filter (where n.unit is null), 0),
                   coalesce(sum(n.unit::numeric * n.count), 0)
              from net n cross join lateral \(unescaped: FigureGrain.sums(of: "n", on: "n.day"))
             group by g.grain, g.period, n.measure, n.environment, g.bundle_id, g.product_id, g.storefront, n.currency
            having sum(n.count) <> 0 or coalesce(sum(n.count) filter (where n.unit = 0), 0) <> 0
                or coalesce(sum(n.count) filter (where n.unit is null), 0) <> 0 or coalesce(sum(n.unit::numeric * n.count), 0) <> 0
             order by g.grain, n.environment, g.period, n.measure, g.bundle_id, g.product_id, g.storefront, n.currency
                on conflict (grain, zone, environment, period, measure, bundle_id, product_id, storefront, currency) do update
               set count = known.count + excluded.count, free = known.free + excluded.free,
                   unknown = known.unknown + excluded.unknown, amount = known.amount + excluded.amount
            """)
    }
}
