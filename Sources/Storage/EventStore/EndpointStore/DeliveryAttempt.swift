package import Base
package import Postgres

/// A call that was made for a delivery, and what the endpoint said.
package struct DeliveryAttempt: Sendable, Hashable {
    /// When it began.
    package var at: PostgresTimestamp
    /// How long it took, in milliseconds.
    package var milliseconds: Int64
    /// How it ended, as a stable code: `http_503`, `timeout`.
    package var code: String
    /// The answer's status; nil where there was none.
    package var status: Int?
    /// The beginning of what the endpoint said: a stranger's text, which may name a person.
    package var answer: String?

    /// The most that is kept of an answer, in Unicode scalars.
    private static let longestAnswer = 4096

    /// What is kept of an answer.
    static func kept(_ answer: String) -> String { String(answer.unicodeScalars.prefix(longestAnswer)) }

    init(_ row: PostgresRow) throws {
        at = try row.decode("attempted_at")
        milliseconds = Int64(try row.decode("milliseconds", as: Int32.self))
        code = try row.decode("code")
        status = try row.decode("status", as: Int16?.self).map { Int($0) }
        answer = try row.decode("answer")
    }
}

extension EndpointStore {
    /// The most attempts of a delivery that are read. There are ten, and those before an event that could be delivered.
    private static let mostAttempts: Int64 = 100

    /// The calls that were made for a delivery, the first first; of more than a hundred the latest.
    /// - Parameter instant: those that had begun by then; nil for all.
    /// - Throws: `PostgresError`.
    package func attempts(
        at delivery: DeliveryRecord, by instant: Timestamp? = nil
    ) async throws -> [DeliveryAttempt] {
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        return try await pool.query(
            PostgresQuery(
                "delivery.attempts",
                """
                select a.attempted_at, a.milliseconds, a.code, a.status, a.answer
                  from storehook.delivery_attempts a
                 where a.event_id = \(delivery.eventID) and a.delivery_id = \(delivery.id)
                   and (\(then)::timestamptz is null or a.attempted_at <= \(then))
                 order by a.attempted_at desc limit \(Self.mostAttempts)
                """)
        ).map { try DeliveryAttempt($0) }.reversed()
    }
}
