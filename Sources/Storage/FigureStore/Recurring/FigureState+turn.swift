import Base
import Postgres

extension FigureState {
    /// Takes the plans of the current catalog. Where they are others than before, all days are to be summed anew.
    func take(_ plans: [FigurePlan], _ session: borrowing PostgresSession) throws {
        guard try session.query(.differs(from: plans)).one().decode(0) else { return }
        try session.query("delete from storehook.figure_plans")
        try session.query(
            PostgresQuery(
                "figures.take_plans",
                """
                insert into storehook.figure_plans (bundle_id, product_id, quarters, group_id)
                select * from unnest(\(plans.map(\.bundleID)), \(plans.map(\.productID)), \(plans.map(\.quarters)), \(plans.map(\.groupID)))
                """))
        try markAllDays(session)
    }

    /// What this release sums. A release that sums more has the next number, and sums all days anew.
    static let content: Int16 = 6

    /// Lets what began and ended since the last time count: the hours in which something did are marked. Where an earlier release summed less,
    /// all days are to be summed.
    mutating func turn(_ session: borrowing PostgresSession) throws {
        let row = try session.query(.turn(to: Self.content)).one()
        let before = try row.decode("turned_until", as: PostgresTimestamp?.self)
        if let before, try row.decode("content", as: Int16.self) >= Self.content {
            try session.query(.markTurned(since: before))
            for zone in zones { try session.query(.markCohorts(since: before, in: zone)) }
        } else {
            try markAllDays(session)
            // A release that knows of no fiscal months takes their days for what is left of an earlier zone, and deletes them in parts.
            if let fiscalZoneBeside { _ = try beginFiscalMonths(in: fiscalZoneBeside, session) }
        }
    }

    /// Has all days summed anew that have anything.
    func markAllDays(_ session: borrowing PostgresSession) throws {
        // Of a zone whose days are being summed for the first time those that are, too. In another zone the first day may be the one before.
        guard let zone = zone ?? nextZone,
            let first = try session.query(.firstDay(in: zone)).one().decode(0, as: String?.self)
        else { return }
        let last = try session.query(.lastDay(in: zone)).one().decode(0, as: String.self)
        try session.query(
            PostgresQuery(
                "figures.mark_all_days",
                """
                insert into storehook.figure_marks (day)
                select d::date from generate_series(\(first)::text::timestamp - interval '1 day', \(last)::text::timestamp, interval '1 day') d
                """))
    }
}

extension PostgresQuery {
    /// Whether figures are summed by other plans.
    static func differs(from plans: [FigurePlan]) -> PostgresQuery {
        PostgresQuery(
            "figures.plans_differ",
            """
            select exists (
                select from unnest(\(plans.map(\.bundleID)), \(plans.map(\.productID)), \(plans.map(\.quarters)), \(plans.map(\.groupID)))
                       as p (bundle_id, product_id, quarters, group_id)
                  full join storehook.figure_plans f using (bundle_id, product_id, quarters, group_id)
                 where p.bundle_id is null or f.bundle_id is null)
            """
        ).keepingPlan()
    }

    /// Moves the instant until which periods count to now; returns what was before.
    fileprivate static func turn(to content: Int16) -> PostgresQuery {
        PostgresQuery(
            "figures.turn",
            """
            update storehook.figure_state s set turned_until = greatest(f.turned_until, now()), content = greatest(f.content, \(content))
              from (select turned_until, content from storehook.figure_state) f
            returning f.turned_until, f.content
            """)
    }

    fileprivate static func markTurned(since instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "figures.mark_turned",
            """
            with z as materialized (select \(instant)::timestamptz as first, turned_until as last from storehook.figure_state)
            insert into storehook.figure_marks (hour)
            select distinct date_trunc('hour', i.at, 'UTC') from z cross join lateral (\(unescaped: turning)) i
            """
        ).keepingPlan()
    }

    /// Marks the days whose customers are looked at since a day ended.
    fileprivate static func markCohorts(since instant: PostgresTimestamp, in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.mark_cohorts",
            """
            with z as materialized (select \(zone)::text as zone, \(instant)::timestamptz as first, turned_until as last from storehook.figure_state)
            insert into storehook.figure_marks (day) select day from (\(unescaped: CohortRows.turning)) c
            """
        ).keepingPlan()
    }

    /// Whether a day ended, or something began or ended, since periods were last looked at, a minute ago or more.
    static let isTurning = """
        exists (select from storehook.figure_state s cross join unnest(array[s.zone, s.fiscal_zone]) z (zone)
                 where s.zone is not null and s.turned_until < now() - interval '1 minute'
                   and (s.turned_until at time zone z.zone)::date < (now() at time zone z.zone)::date)
        or exists (select from (select turned_until as first, now() as last from storehook.figure_state
                              where zone is not null and turned_until < now() - interval '1 minute') z
                 cross join lateral (\(turning)) i)
        or exists (select from storehook.figure_state where zone is not null and (turned_until is null or content < \(FigureState.content)))
        """

    private static let turning = """
        select t.starts_at as at from storehook.booked_transactions t where t.starts_at >= z.first and t.starts_at < z.last
        union all
        select coalesce(t.counts_until, t.ends_at) from storehook.booked_transactions t
         where coalesce(t.counts_until, t.ends_at) >= z.first and coalesce(t.counts_until, t.ends_at) < z.last
        union all
        select s.starts_at from storehook.booked_stretches s where s.starts_at >= z.first and s.starts_at < z.last
        union all
        select s.ends_at from storehook.booked_stretches s where s.ends_at >= z.first and s.ends_at < z.last
        union all
        \(TrialRows.turning)
        """
}
