import Base
package import Postgres

extension JobStore {
    /// What one step of a job has come to.
    package enum Step: Sendable, Hashable {
        /// So many letters were settled or passed by, and there may be more.
        case more(Int)
        /// The job has ended.
        case ended
        /// Another worker has it.
        case lost
    }

    /// Claims the next job, for a worker.
    package func claim(for lease: Lease) async throws -> ClaimedRow<Void>? {
        try await queue.claim(1, for: lease).rows.first
    }

    /// Settles the next letters of a job, or ends it where there are none or where it was stopped. A worker that dies in the middle has settled
    /// a whole number of steps.
    /// - Parameter portion: how many letters, 1 to 10,000.
    package func step(_ id: Int64, _ lease: Lease, portion: Int) async throws -> Step {
        let options = TransactionOptions(idleTimeout: .seconds(30), isDurable: true, name: "jobs.step")
        let step = try await pool.withTransaction(options) { session -> Step in
            guard try Self.holds(id, lease, session) else { return .lost }
            let row = try session.query(
                PostgresQuery(
                    "jobs.work",
                    "select settled, passed from storehook.work_job(\(id), \(Int32(clamping: portion)))")
            ).one()
            let settled = Int(try row.decode("settled", as: Int32.self))
            let passed = Int(try row.decode("passed", as: Int32.self))
            if settled + passed > 0 {
                // Only claims that come to nothing count: a job may take longer than several outages.
                try session.query(
                    PostgresQuery(
                        "jobs.progress", "update storehook.job_queue set attempts = 1, lapses = 0 where id = \(id)"))
                return .more(settled + passed)
            }
            let isStopped = try Job(session.query(.job(id)).one()).stoppedAt != nil
            try Self.end(id, isStopped ? .stopped : .done, lease, session)
            return .ended
        }
        return step
    }

    /// The letters of a job.
    package func letters(of id: Int64) async throws -> [Int64] {
        try await pool.query(
            PostgresQuery(
                "jobs.letters",
                "select letter_id from storehook.job_items where job_id = \(id) order by letter_id limit \(Self.most)")
        ).map { try $0.decode(0) }
    }

    /// Says that a rehearsal has begun.
    /// - Returns: whether it is to be done. It is not where it was stopped, which ends it, or where another worker has it.
    package func beginRehearsal(_ id: Int64, _ lease: Lease) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(30), name: "jobs.begin")
        return try await pool.withTransaction(options) { session in
            // A rehearsal has no steps in which it could lengthen its lease.
            let long = max(lease.duration, .seconds(900))
            guard try Self.table.renew([id], token: lease.token, for: long, session).contains(id) else { return false }
            guard try Job(session.query(.job(id)).one()).stoppedAt == nil else {
                try Self.end(id, .stopped, lease, session)
                return false
            }
            try session.query(
                PostgresQuery(
                    "jobs.begin",
                    "update storehook.jobs set state = 'running', begun_at = coalesce(begun_at, now()) where id = \(id)"
                ))
            return true
        }
    }

    /// Ends a job with what it has found, or with why it could not be done.
    /// - Returns: whether this worker had it still.
    @discardableResult
    package func end(_ id: Int64, report: PostgresJSON?, error: String? = nil, _ lease: Lease) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(30), isDurable: true, name: "jobs.end")
        return try await pool.withTransaction(options) { session in
            guard try Self.holds(id, lease, session) else { return false }
            try Self.end(id, error == nil ? .done : .failed, report: report, error: error, lease, session)
            return true
        }
    }

    /// Deletes jobs that ended so many days ago, and rehearsals after a day, a few at a time: each may have many letters.
    /// - Returns: how many.
    package func dropOld(keeping days: Int) async throws -> Int64 {
        var dropped: Int64 = 0
        for _ in 0..<100 {
            let some = try await pool.query(
                PostgresQuery(
                    "jobs.drop_old",
                    """
                    delete from storehook.jobs
                     where id in (select id from storehook.jobs
                                   where ended_at < now() - make_interval(
                                             days => case act when 'rehearse' then 1 else \(Int32(clamping: days)) end)
                                   order by ended_at limit 10)
                    """)
            ).affectedRows
            dropped += Int64(some)
            if some == 0 { break }
        }
        return dropped
    }

    /// Lengthens the lease; false where another worker has the job.
    private static func holds(_ id: Int64, _ lease: Lease, _ session: borrowing PostgresSession) throws -> Bool {
        try table.renew([id], token: lease.token, for: lease.duration, session).contains(id)
    }

    private static func end(
        _ id: Int64, _ state: Job.State, report: PostgresJSON? = nil, error: String? = nil, _ lease: Lease,
        _ session: borrowing PostgresSession
    ) throws {
        _ = try table.acknowledge([id], token: lease.token, session)
        try session.query(
            PostgresQuery(
                "jobs.ended",
                """
                update storehook.jobs
                   set state = \(state.rawValue), ended_at = now(), begun_at = coalesce(begun_at, now()), report = \(report),
                       error = \(error.map { DeadLetterDraft.shortened($0, to: 1000) })
                 where id = \(id)
                """))
    }
}
