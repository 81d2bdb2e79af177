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

    /// Lets what began and ended since the last time count: the hours in which something did are marked. Where recurring revenue was never
    /// summed, all days are to be.
    func turn(_ session: borrowing PostgresSession) throws {
        let before = try session.query(.turn).one().decode(0, as: PostgresTimestamp?.self)
        if let before { try session.query(.markTurned(since: before)) } else { try markAllDays(session) }
    }

    private func markAllDays(_ session: borrowing PostgresSession) throws {
        // Before any figures stand, all days are to be summed anyhow.
        guard let zone,
            let first = try session.query(.firstDay(in: zone)).one().decode(0, as: String?.self)
        else { return }
        let last = try session.query(.lastDay(in: zone)).one().decode(0, as: String.self)
        try session.query(
            PostgresQuery(
                "figures.mark_all_days",
                """
                insert into storehook.figure_marks (day)
                select d::date from generate_series(\(first)::text::timestamp, \(last)::text::timestamp, interval '1 day') d
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

    /// Moves the instant until which periods count to now; returns the one before.
    fileprivate static let turn = PostgresQuery(
        "figures.turn",
        """
        update storehook.figure_state s set turned_until = greatest(f.turned_until, now())
          from (select turned_until from storehook.figure_state) f
        returning f.turned_until
        """)

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

    /// Whether something began or ended since periods were last looked at, a minute ago or more.
    static let isTurning = """
        exists (select from (select turned_until as first, now() as last from storehook.figure_state
                              where zone is not null and turned_until < now() - interval '1 minute') z
                 cross join lateral (\(turning)) i)
        or exists (select from storehook.figure_state where zone is not null and turned_until is null)
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
        """
}
