import Base
import Postgres

extension FigureState {
    /// Takes the plans of the current catalog. If they changed, marks all days: workers sum these anew.
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

    /// Notes the version of the catalog that the plans are from.
    func note(_ catalogVersion: Int64, _ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "figures.note_catalog",
                """
                update storehook.figure_state set catalog_version = \(catalogVersion) where catalog_version is distinct from \(catalogVersion)
                """))
    }

    /// The number of the content that this release sums. A release that sums more has the next number, and sums all days anew.
    static let content: Int16 = 7

    /// The number of the earliest content with the same cells and the same sums of them. Later ones differ in what kept currencies have.
    private static let contentOfCells: Int16 = 6

    /// Marks the hours in which periods began or ended since the last call. After an earlier release, which summed less, marks all days, or has
    /// all currencies begin anew.
    /// - Returns: whether it did more than that: there is more to do.
    mutating func turn(_ session: borrowing PostgresSession) throws -> Bool {
        let row = try session.query(.turn(to: Self.content)).one()
        let before = try row.decode("turned_until", as: PostgresTimestamp?.self)
        let content = try row.decode("content", as: Int16.self)
        if let before, content >= Self.content {
            try mark(since: before, session)
            return false
        } else if let before, content >= Self.contentOfCells {
            try mark(since: before, session)
            try forgetCurrencies(session)
            return true
        } else {
            try markAllDays(session)
            try session.query("delete from storehook.figure_sums where grain in ('all_country', 'all_day')")
            try session.query(.sumAllApps, deadline: .seconds(600))
            // Nor does an earlier release convert its changes.
            try forgetCurrencies(session)
            // A release without fiscal months takes their zone for an earlier one, and deletes it in portions. The rest is deleted, too, and
            // all of its days are summed anew.
            if fiscalZoneBeside != nil { try forgetFiscalMonths(session) }
            return true
        }
    }

    /// Marks the hours and the days of cohorts that time decided since an instant.
    private func mark(since instant: PostgresTimestamp, _ session: borrowing PostgresSession) throws {
        try session.query(.markTurned(since: instant))
        for zone in zones { try session.query(.markCohorts(since: instant, in: zone)) }
    }

    /// Ends to keep all currencies. Their sums are deleted, and those that are still asked for begin anew.
    private mutating func forgetCurrencies(_ session: borrowing PostgresSession) throws {
        try session.query("delete from storehook.figure_currencies")
        currencies = []
    }

    /// Marks all days from the first row to the last one: workers sum them anew.
    func markAllDays(_ session: borrowing PostgresSession) throws {
        // Without a standing zone, the summed days of the first one. In another zone the first day may be one day earlier.
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
    /// Whether figures are summed by other plans than these.
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

    /// Adds up the sums of all apps from those of each. A release that does not know the former never changes them.
    fileprivate static let sumAllApps = PostgresQuery(
        "figures.sum_all_apps",
        """
        insert into storehook.figure_sums
               (grain, zone, period, measure, environment, bundle_id, product_id, storefront, currency, count, free, unknown, amount)
        select g.wide, s.zone, s.period, s.measure, s.environment, '', '', s.storefront, s.currency, sum(s.count), sum(s.free), sum(s.unknown),
               sum(s.amount)
          from (values ('all_country', 'month_country'), ('all_day', 'day')) g (wide, narrow)
          join storehook.figure_sums s on s.grain = g.narrow
         group by g.wide, s.zone, s.period, s.measure, s.environment, s.storefront, s.currency
        """)

    /// Moves the instant until which periods count to now; returns the earlier one, and the earlier content.
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

    /// Marks the days of cohorts with a value that is due since a day ended.
    fileprivate static func markCohorts(since instant: PostgresTimestamp, in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.mark_cohorts",
            """
            with z as materialized (select \(zone)::text as zone, \(instant)::timestamptz as first, turned_until as last from storehook.figure_state)
            insert into storehook.figure_marks (day) select day from (\(unescaped: CohortRows.turning)) c
            """
        ).keepingPlan()
    }

    /// A condition: whether a day or a period ended, or a period began, since the last turn, if that was a minute ago or more.
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
        union all
        \(OwnTrialRows.turning)
        """
}
