import Postgres

/// The usage rows that were deleted because no report can refer to them any more.
package struct UsageUpkeep: Sendable, Hashable {
    /// Counters of days and months that are over.
    package var counters: Int64 = 0
    /// Idempotency keys.
    package var keys: Int64 = 0

    /// Nothing yet.
    package init() {}
}

extension Usage {
    /// Deletes the counters of days and months that ended too long ago to be reported, and expired keys, in portions.
    ///
    /// A counter is kept two days longer than a report can refer to it: if the catalog's time zone changes, days end
    /// at another time than was written down.
    package func dropOld() async throws -> UsageUpkeep {
        var report = UsageUpkeep()
        report.counters = try await Portions.repeating { portion in
            try await pool.query(
                PostgresQuery(
                    "usage.drop_counters",
                    """
                    delete from storehook.usage_counters
                     where ctid = any (array(select c.ctid from storehook.usage_counters c
                                              where c.resets_at < now() - \(unescaped: Self.keepingTime)
                                              order by c.resets_at
                                              limit \(portion)))
                    """)
            ).affectedRows
        }
        report.keys = try await Portions.repeating { portion in
            try await pool.query(
                PostgresQuery(
                    "usage.drop_keys",
                    """
                    delete from storehook.usage_keys
                     where ctid = any (array(select k.ctid from storehook.usage_keys k
                                              where k.kept_until < now()
                                              order by k.kept_until
                                              limit \(portion)))
                    """)
            ).affectedRows
        }
        return report
    }
}
