import Base
import Postgres

/// A test of an endpoint that a member of the staff has asked for. A worker makes it: it has the key of the secrets, and calls endpoints anyway.
package struct AskedTrial: Sendable, Hashable {
    /// Its number.
    package var id: Int64
    /// The endpoint's number.
    package var endpointID: Int64
    /// The past event that is posted; nil for a test event.
    package var eventID: Int64?
    /// Whether a worker has taken it.
    package var isBegun: Bool
    /// The answer; nil until a worker has one.
    package var outcome: Outcome?

    /// What came of it.
    package struct Outcome: Sendable, Hashable {
        /// The event's id for receivers; nil where nothing was posted.
        package var webhookID: String?
        /// Whether the endpoint accepted it.
        package var isDelivered: Bool
        /// A stable code: `http_503`, `timeout`.
        package var code: String
        /// The answer's status.
        package var status: Int?
        /// How long it took.
        package var milliseconds: Int64?
        /// The same for people, without any text of the endpoint's.
        package var message: String

        /// An outcome.
        package init(
            webhookID: String?, isDelivered: Bool, code: String, status: Int?, milliseconds: Int64?, message: String
        ) {
            self.webhookID = webhookID
            self.isDelivered = isDelivered
            self.code = code
            self.status = status
            self.milliseconds = milliseconds
            self.message = message
        }
    }

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        endpointID = try row.decode("endpoint_id")
        eventID = try row.decode("event_id")
        isBegun = try row.decode("is_begun")
        if let code = try row.decode("outcome", as: String?.self) {
            outcome = Outcome(
                webhookID: try row.decode("webhook_id"), isDelivered: try row.decode("is_delivered"), code: code,
                status: try row.decode("status", as: Int16?.self).map { Int($0) },
                milliseconds: try row.decode("milliseconds", as: Int32?.self).map { Int64($0) },
                message: try row.decode("message", as: String?.self) ?? "")
        }
    }
}

extension EndpointStore {
    /// Asks for a test, on record. A worker takes it within a second; one that none has taken after a minute is left alone.
    /// - Parameters:
    ///   - eventID: a past event; nil for a test event.
    ///   - why: for the audit.
    /// - Returns: its number.
    /// - Throws: `PostgresError`, also where there is no such endpoint.
    package func askTrial(
        of endpointID: Int64, sending eventID: Int64?, by person: String, why: String
    ) async throws -> Int64 {
        try await pool.withTransaction(TransactionOptions(isDurable: true, name: "endpoint.ask_trial")) { session in
            try Self.note(why, session)
            return try session.query(
                PostgresQuery(
                    "endpoint.ask_trial",
                    """
                    insert into storehook.endpoint_trials (endpoint_id, event_id, asked_by)
                    values (\(endpointID), \(eventID), \(String(person.prefix(200)))) returning id
                    """)
            ).one().decode(0)
        }
    }

    /// A test by its number; nil where there is none.
    package func trial(_ id: Int64) async throws -> AskedTrial? {
        try await pool.query(
            PostgresQuery(
                "endpoint.trial",
                """
                select id, endpoint_id, event_id, begun_at is not null as is_begun, webhook_id, is_delivered, outcome, status,
                       milliseconds, message
                  from storehook.endpoint_trials where id = \(id)
                """)
        ).first.map { try AskedTrial($0) }
    }

    /// The same, once it has an outcome, or at a deadline as it is then.
    package func trial(_ id: Int64, endedBy deadline: ContinuousClock.Instant) async throws -> AskedTrial? {
        while true {
            guard let trial = try await self.trial(id), trial.outcome == nil, ContinuousClock.now < deadline else {
                return try await self.trial(id)
            }
            try await Task.sleep(for: Self.look)
        }
    }

    private static let look = Duration.milliseconds(150)

    /// Takes tests that were asked for and that no worker has. Those of the day before are forgotten.
    package func takeTrials(atMost count: Int) async throws -> [AskedTrial] {
        try await pool.query(
            PostgresQuery(
                "endpoint.take_trials",
                """
                with former as (
                    delete from storehook.endpoint_trials where asked_at < now() - interval '1 day'
                ), waiting as (
                    select id from storehook.endpoint_trials
                     where begun_at is null and asked_at > now() - interval '1 minute'
                     order by id limit \(Int64(count)) for update skip locked
                )
                update storehook.endpoint_trials t set begun_at = now() from waiting w where t.id = w.id
                returning t.id, t.endpoint_id, t.event_id, true as is_begun, t.webhook_id, t.is_delivered, t.outcome, t.status,
                          t.milliseconds, t.message
                """)
        ).map { try AskedTrial($0) }
    }

    /// Notes what came of a test that was taken.
    package func settle(_ trial: AskedTrial, _ outcome: AskedTrial.Outcome) async throws {
        try await pool.query(
            PostgresQuery(
                "endpoint.settle_trial",
                """
                update storehook.endpoint_trials
                   set ended_at = now(), webhook_id = \(outcome.webhookID), is_delivered = \(outcome.isDelivered),
                       outcome = \(String(outcome.code.prefix(60))), status = \(outcome.status.map { Int16(clamping: $0) }),
                       milliseconds = \(outcome.milliseconds.map { Int32(clamping: $0) }),
                       message = \(String(outcome.message.prefix(300)))
                 where id = \(trial.id) and ended_at is null
                """))
    }
}
