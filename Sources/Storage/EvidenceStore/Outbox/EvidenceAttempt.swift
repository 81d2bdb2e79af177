package import Postgres

/// An attempt at a piece of evidence that ended otherwise than well: it was put off or buried, or its worker vanished.
package struct EvidenceAttempt: Sendable, Hashable {
    /// The evidence.
    package var outboxID: Int64
    /// Which attempt, from 1 on; counted anew where a dead letter is replayed.
    package var number: Int
    /// The worker; nil where it vanished.
    package var worker: String?
    /// When it was claimed; nil likewise.
    package var beganAt: PostgresTimestamp?
    /// When it ended; nil for now, where it is about to be written.
    package var endedAt: PostgresTimestamp?
    /// The code, a ``ReasonCode`` unless another release wrote it.
    package var reason: String
    /// One line for people; never contents of the payload.
    package var message: String?

    /// An attempt that ends now.
    package init(
        _ claimed: ClaimedNotification, by worker: String?, from beganAt: PostgresTimestamp?, reason: ReasonCode,
        message: String? = nil
    ) {
        outboxID = claimed.id
        number = claimed.attempts
        self.worker = worker.map { DeadLetterDraft.shortened($0, to: 200) }
        self.beganAt = beganAt
        self.reason = DeadLetterDraft.shortened(reason.rawValue, to: 100)
        self.message = message.map { DeadLetterDraft.shortened($0, to: 1000) }
    }

    /// The attempt before this claim, whose worker vanished.
    package init(vanishedBefore claimed: ClaimedNotification) {
        outboxID = claimed.id
        number = max(1, claimed.attempts - 1)
        reason = ReasonCode.crashedWorker.rawValue
        message = "its worker died, hung, or was ended by it"
    }

    fileprivate init(_ row: PostgresRow) throws {
        outboxID = try row.decode("outbox_id")
        number = Int(try row.decode("attempt", as: Int16.self))
        worker = try row.decode("worker")
        beganAt = try row.decode("began_at")
        endedAt = try row.decode("ended_at")
        reason = try row.decode("reason")
        message = try row.decode("message")
    }
}

/// A piece of evidence that is on the queue.
package struct QueuedEvidence: Sendable, Hashable {
    /// When it may be claimed, or, while a worker holds it, when the lease ends.
    package var dueAt: PostgresTimestamp
    /// How often it was claimed.
    package var attempts: Int
    /// The worker that holds it; nil where none does.
    package var worker: String?
    /// Why it was put off last.
    package var lastReason: String?
}

extension Outbox {
    /// The most attempts of one piece that are kept and shown: it is given up long before.
    private static let mostAttempts = 200

    /// Writes attempts down, in the transaction that ends them.
    package static func note(_ attempts: [EvidenceAttempt], _ session: borrowing PostgresSession) throws {
        guard !attempts.isEmpty else { return }
        _ = try session.query(.note(attempts))
    }

    /// Writes attempts down. They are for people: where this fails, nothing is lost but the line.
    package func note(_ attempts: [EvidenceAttempt]) async throws {
        guard !attempts.isEmpty else { return }
        try await pool.query(.note(attempts))
    }

    /// The attempts at a piece of evidence, the first first.
    package func attempts(at outboxID: Int64) async throws -> [EvidenceAttempt] {
        try await pool.query(
            PostgresQuery(
                "outbox.attempts",
                """
                select outbox_id, attempt, worker, began_at, ended_at, reason, message
                  from storehook.outbox_attempts where outbox_id = \(outboxID) order by id limit \(Self.mostAttempts)
                """)
        ).map { try EvidenceAttempt($0) }
    }

    /// How a piece of evidence stands on the queue; nil where it is not there.
    package func queued(_ outboxID: Int64) async throws -> QueuedEvidence? {
        try await pool.query(
            PostgresQuery(
                "outbox.queued",
                """
                select due_at, attempts, lease_owner, last_reason from storehook.outbox_queue where id = \(outboxID)
                """)
        ).first.map { row in
            QueuedEvidence(
                dueAt: try row.decode("due_at"), attempts: Int(try row.decode("attempts", as: Int16.self)),
                worker: try row.decode("lease_owner"), lastReason: try row.decode("last_reason"))
        }
    }

    /// Deletes attempts that ended so many days ago, some thousand at a time.
    /// - Returns: how many.
    package func dropAttempts(keeping days: Int) async throws -> Int64 {
        var dropped: Int64 = 0
        for _ in 0..<100 {
            let some = try await pool.query(
                PostgresQuery(
                    "outbox.drop_attempts",
                    """
                    delete from storehook.outbox_attempts
                     where id in (select id from storehook.outbox_attempts
                                   where ended_at < now() - make_interval(days => \(Int32(clamping: days)))
                                   order by ended_at limit 5000)
                    """)
            ).affectedRows
            dropped += Int64(some)
            if some == 0 { break }
        }
        return dropped
    }
}

extension PostgresQuery {
    fileprivate static func note(_ attempts: [EvidenceAttempt]) -> PostgresQuery {
        PostgresQuery(
            "outbox.note_attempts",
            """
            insert into storehook.outbox_attempts (outbox_id, attempt, worker, began_at, reason, message)
            select * from unnest(
                \(attempts.map(\.outboxID)), \(attempts.map { Int16(clamping: $0.number) }), \(attempts.map(\.worker)),
                \(attempts.map(\.beganAt)), \(attempts.map(\.reason)), \(attempts.map(\.message)))
            """)
    }
}
