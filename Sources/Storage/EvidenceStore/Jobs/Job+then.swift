package import Base
import Postgres

extension Job {
    /// A row of ``columns`` as it stood at an instant, by the dates of its changes; now where that is nil.
    init(_ row: PostgresRow, then instant: PostgresTimestamp?) throws {
        try self.init(row)
        guard let instant else { return }
        func isPast(_ date: PostgresTimestamp?) -> Bool { date.map { $0 <= instant } ?? false }
        if !isPast(stoppedAt) { (stoppedAt, stoppedBy, stoppedWhy) = (nil, nil, nil) }
        guard !isPast(endedAt) else { return }
        (endedAt, report, error) = (nil, nil, nil)
        if isPast(begunAt) {
            (state, isCounted) = (.running, false)
        } else {
            (state, begunAt, done, skipped) = (.waiting, nil, 0, 0)
        }
    }
}

extension JobStore {
    /// A job as it stood at an instant, with what was settled by then; nil where none of this number had been made.
    /// - Throws: `PostgresError`.
    package func job(_ id: Int64, at instant: Timestamp) async throws -> Job? {
        let then = PostgresTimestamp.end(of: instant)
        let row = try await pool.query(.job(id)).first
        guard var job = try row.map({ try Job($0, then: then) }), job.createdAt <= then else { return nil }
        guard !job.isCounted else { return job }
        let counts = try await pool.query(
            PostgresQuery(
                "jobs.count_then",
                """
                select count(*) filter (where i.outcome = 'done') as done, count(*) filter (where i.outcome = 'skipped') as skipped
                  from storehook.job_items i where i.job_id = \(id) and i.ended_at <= \(then)
                """)
        ).one()
        job.done = Int(try counts.decode("done", as: Int64.self))
        job.skipped = Int(try counts.decode("skipped", as: Int64.self))
        job.isCounted = true
        return job
    }
}
