import Base
import Figures
import Postgres

extension FigureAnswer {
    /// Adds to the customers of each period what became of them.
    mutating func follow(in zone: String, _ session: borrowing PostgresSession) throws {
        let places = Dictionary(
            uniqueKeysWithValues: cells.indices.map { ([cells[$0].period.description, cells[$0].group ?? ""], $0) })
        for row in try session.query(.cohorts(question, zone)) {
            guard let place = places[[try row.decode("period"), try row.decode("part")]] else { continue }
            cells[place].sums[months: Int(try row.decode("months", as: Int16.self))] = Cohort(
                due: try row.decode("due"), retained: try row.decode("retained"))
        }
    }
}

extension PostgresQuery {
    fileprivate static func cohorts(_ question: FigureQuestion, _ zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.cohorts",
            """
            select period::text as period, part, months, due, retained
              from (
                -- Years of days are added: neither a zone nor a text is made of each.
                select \(unescaped: question.period(ofDay: "day")) as period,
                       \(unescaped: question.split?.column ?? "''") as part, months, sum(due)::bigint as due,
                       sum(retained)::bigint as retained
                  from storehook.cohort_cells
                 where zone = \(zone) and environment = \(question.environment)
                   and day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
                 group by 1, 2, 3) c
            """)
    }

    /// Counts anew what became of the customers of whole days. Nearly all values stay.
    static func sumCohorts(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.sum_cohorts",
            """
            with derived as materialized (
                \(embedding: CohortRows.derived(days, in: zone))
            ), gone as (
                delete from storehook.cohort_cells c using unnest(\(days.map(\.description))) d (day)
                 where c.zone = \(zone) and c.day = d.day::date
                   and not exists (
                       select from derived r
                        where (r.day, r.environment, r.bundle_id, r.months) = (c.day, c.environment, c.bundle_id, c.months))
            )
            insert into storehook.cohort_cells as known (zone, day, environment, bundle_id, months, due, retained)
            select \(zone), day, environment, bundle_id, months, due, retained from derived
                on conflict (zone, day, environment, bundle_id, months) do update
               set due = excluded.due, retained = excluded.retained
             where (known.due, known.retained) is distinct from (excluded.due, excluded.retained)
            """)
    }
}
