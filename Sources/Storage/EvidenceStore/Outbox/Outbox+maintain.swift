import Base
import Postgres

extension Outbox {
    /// Does the maintenance of the outbox, each day in a transaction of its own:
    /// - makes partitions ahead;
    /// - counts past days for conservation;
    /// - discards letters that did not verify;
    /// - drops bytes that are older than the retention.
    ///
    /// A step or day that fails does not stop the others: it is listed in the report's ``MaintenanceReport/failures``.
    /// Safe to run from many machines at once: one does it, the others report it as busy.
    /// - Throws: `PostgresError` where the database is unreachable. A day whose lock does not become free is no error:
    ///   it is postponed.
    package func maintain(_ retention: Retention) async throws -> MaintenanceReport {
        var failures: [MaintenanceReport.Failure] = []
        func attempt<T>(_ step: String, _ body: () async throws -> T) async throws -> T? {
            do {
                return try await body()
            } catch let error as PostgresError where error.isAnswer {
                failures.append(.init(step: step, error: error))
                return nil
            }
        }
        var report = MaintenanceReport()
        report.made = try await attempt("the partitions") { try await ensurePartitions() } ?? 0
        _ = try await attempt("the counts of what was stored") {
            try await pool.query(
                PostgresQuery("outbox.sum_stored", "select storehook.sum_outbox_stored()"),
                deadline: Self.countDeadline)
        }
        for day in try await attempt("the days that are over", { try await daysToSettle() }) ?? [] {
            if try await attempt("the books of \(day)", { try await settle(day) }) == true { report.settled += 1 }
        }
        report.expired =
            try await attempt("the letters that did not verify") {
                try await expireJunk(after: min(retention.junkDays, retention.days ?? .max))
            } ?? 0
        for day in try await attempt("the days to drop", { try await daysToDrop(retention) }) ?? [] {
            report.days.append(
                try await attempt("the bytes of \(day)") { try await drop(day, retention) } ?? .init(day, .failed))
        }
        report.failures = failures
        return report
    }

    /// The days with bytes that are older than the retention, the oldest first, `YYYY-MM-DD`.
    package func daysToDrop(_ retention: Retention) async throws -> [String] {
        guard let days = retention.days else { return [] }
        return try await pool.query(
            PostgresQuery(
                "outbox.days_to_drop",
                """
                select to_char(day, 'YYYY-MM-DD') from storehook.outbox_days
                 where day < (now() at time zone 'UTC')::date - \(Int32(clamping: days))
                 order by day
                """)
        ).map { try $0.decode(0) }
    }

    /// Past days that are not counted yet, or were counted with evidence still to be processed, the oldest first.
    private func daysToSettle() async throws -> [String] {
        try await pool.query(
            PostgresQuery(
                "outbox.days_to_settle",
                "select to_char(day, 'YYYY-MM-DD') from storehook.outbox_days_to_settle order by day")
        ).map { try $0.decode(0) }
    }

    /// - Returns: whether it is counted now: not if too much is still to be processed, or another session counts it.
    private func settle(_ day: String) async throws -> Bool {
        try await pool.query(
            PostgresQuery("outbox.settle_day", "select storehook.settle_outbox_day(\(day)::text::date)"),
            deadline: Self.countDeadline
        ).one().decode(0)
    }

    private func drop(_ day: String, _ retention: Retention) async throws -> MaintenanceReport.Day {
        let query = PostgresQuery(
            "outbox.drop_day",
            """
            select outcome, gone, kept
              from storehook.drop_outbox_day(\(day)::text::date, \(Int32(clamping: retention.days ?? Int.max)))
            """)
        do {
            let row = try await patiently { try await pool.query(query, deadline: Self.countDeadline).one() }
            let outcome = try row.decode("outcome", among: MaintenanceReport.Outcome.self)
            return try .init(day, outcome, gone: row.decode("gone"), kept: row.decode("kept"))
        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
            return .init(day, .postponed)
        }
    }

    /// Retries an operation that waits only briefly for a lock: readers of the outbox take milliseconds, except dumps
    /// and the like.
    func patiently<T>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> T
    ) async throws -> T {
        for attempt in 1..<Self.lockAttempts {
            do {
                return try await operation()
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                try await Task.sleep(for: Self.lockBackoff.pause(afterFailures: attempt))
            }
        }
        return try await operation()
    }

    private static let lockAttempts = 4
    private static let lockBackoff = RetrySchedule.doubling(from: .milliseconds(200), upTo: .seconds(1))
    /// Counting a day of a million notifications takes seconds; nothing waits for it meanwhile.
    private static let countDeadline = Duration.seconds(600)
}

extension PostgresError {
    /// Whether the server is reachable and answered, or ran out of time.
    fileprivate var isAnswer: Bool {
        switch kind {
        case .server(let state): !state.isServerFault
        case .timeout, .decoding: true
        case .connection, .cancelled, .configuration, .unconfirmed, .unsupported: false
        }
    }
}
