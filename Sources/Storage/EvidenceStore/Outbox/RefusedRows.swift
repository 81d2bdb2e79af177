package import Base
package import Postgres

/// The rows that wait because PostgreSQL refuses to have them settled.
package struct RefusedRows: Sendable {
    private let pool: PostgresPool

    /// The rows of one code.
    package struct Group: Sendable, Hashable {
        /// The code, as in the queue.
        package var reason: String
        /// How many there are.
        package var count: Int64
        /// How long ago the first of them was refused first.
        package var age: Duration
        /// The table that PostgreSQL named last, with its schema; empty where it named none.
        package var table: String
        /// The constraint or index that it named last; empty where it named none.
        package var constraint: String
        /// Its last message, without values.
        package var message: String
    }

    /// The rows in the database behind a pool of connections.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// By code, most rows first.
    package func groups() async throws -> [Group] {
        try await pool.query(
            PostgresQuery(
                "outbox.refused_rows",
                """
                select reason, count, oldest_age_seconds, table_name, constraint_name, message
                  from storehook.queue_refused order by count desc, reason
                """)
        ).map { row in
            Group(
                reason: try row.decode("reason"), count: try row.decode("count"),
                age: .seconds(try row.decode("oldest_age_seconds", as: Double.self)),
                table: try row.decode("table_name"), constraint: try row.decode("constraint_name"),
                message: try row.decode("message"))
        }
    }
}

extension RefusedRows: MonitoredStore {
    package static let monitored = "queue_refused"

    /// By the code's label; none while nothing is refused.
    package func samples() async throws -> [MetricSample] {
        let counts = Dictionary(
            try await groups().map { (ReasonCode(rawValue: $0.reason)?.label ?? "other", Double($0.count)) },
            uniquingKeysWith: +)
        return counts.sorted { $0.key < $1.key }.map { label, count in
            MetricSample("storehook_queue_refused", [("reason", label)], count)
        }
    }
}
