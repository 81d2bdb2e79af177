extension PostgresQuery {
    /// Finds the number in a table behind all rows that were made by an instant.
    ///
    /// Numbers and dates rise together, except of transactions that run side by side. So the table is halved again and again: some forty rows
    /// are read by the key, whatever the table has, and no writer keeps an index of dates for it.
    /// - Parameters:
    ///   - table: a name that the program chose. Its key is `id`.
    ///   - column: of the table, likewise: when a row was made.
    ///   - slack: the longest time between the dates of two rows that are in the other order by their numbers.
    /// - Returns: a statement of one row with one number, the highest where no row is later. Rows dated by `instant` have lower ones; rows with
    ///   lower ones may be dated later.
    package static func place(
        behind instant: PostgresTimestamp, in table: String, by column: String, slack: Duration
    ) -> PostgresQuery {
        PostgresQuery(
            "lists.place",
            """
            with recursive halves (low, high) as (
                select coalesce(min(t.id), 0)::bigint, (coalesce(max(t.id), -1) + 1)::bigint from \(unescaped: table) t
                union all
                select case when r.is_later then h.low else r.id + 1 end,
                       case when r.is_later then h.low + (h.high - h.low) / 2 else h.high end
                  from halves h
                 cross join lateral (
                    select t.id, t.\(unescaped: column) > \(instant.adding(slack)) as is_later from \(unescaped: table) t
                     where t.id >= h.low + (h.high - h.low) / 2 order by t.id limit 1) r
                 where h.low < h.high
            )
            select case when exists (select from \(unescaped: table) t where t.id >= h.low) then h.low else \(Int64.max) end
              from halves h where h.low >= h.high
            """)
    }
}

extension PostgresPool {
    /// The number behind all rows of a table that were made by an instant: see ``PostgresQuery/place(behind:in:by:slack:)``. All numbers are
    /// below it where `instant` is nil.
    /// - Throws: ``PostgresError``.
    package func place(
        behind instant: PostgresTimestamp?, in table: String, by column: String, slack: Duration = .seconds(60)
    ) async throws -> Int64 {
        guard let instant else { return .max }
        return try await query(.place(behind: instant, in: table, by: column, slack: slack)).one().decode(0)
    }
}
