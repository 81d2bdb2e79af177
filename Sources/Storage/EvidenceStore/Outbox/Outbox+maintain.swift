import Postgres

extension Outbox {
    /// Makes partitions ahead, counts days that are over for the books, gives up letters that did not verify, and drops the
    /// bytes that are older than the retention, each day in a transaction of its own. What one step or day cannot do keeps
    /// none of the others from being done: it is among the report's ``MaintenanceReport/failures``.
    /// Safe to run from many machines at once: one does it, the others are told that it is busy.
    /// - Throws: `PostgresError` where the database is away. A day whose lock does not become free is no error: it is put off.
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

    /// The days of which something is there and that are older than the retention, the oldest first, `YYYY-MM-DD`.
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

    /// Days that are over and not counted yet, or about which something was still to do when they were, the oldest first.
    private func daysToSettle() async throws -> [String] {
        try await pool.query(
            PostgresQuery(
                "outbox.days_to_settle",
                "select to_char(day, 'YYYY-MM-DD') from storehook.outbox_days_to_settle order by day")
        ).map { try $0.decode(0) }
    }

    /// - Returns: whether it is counted now: not if too much of it is still to do, or another session is at it.
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

    /// Runs what waits for a lock only briefly a few times: readers of the outbox come and go within milliseconds, but for
    /// dumps and the like.
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
    private static let lockBackoff = Backoff(base: .milliseconds(200), cap: .seconds(1))
    /// Counting a day of a million notifications takes seconds; nobody waits for it meanwhile.
    private static let countDeadline = Duration.seconds(600)
}

extension PostgresError {
    /// Whether the server is there and has said so, or has not come to an end in time.
    fileprivate var isAnswer: Bool {
        switch kind {
        case .server(let state): !state.isServerFault
        case .timeout, .decoding: true
        case .connection, .cancelled, .configuration, .unconfirmed, .unsupported: false
        }
    }
}
