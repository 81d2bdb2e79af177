import Logging
public import Postgres

/// A transaction that has done something and stays open until it is told to go on, for tests that need a lock held.
public struct HeldTransaction: Sendable {
    private let gate: PostgresConnection
    private let transaction: Task<Void, any Error>

    /// Begins a transaction, runs the statement in it, and returns with the transaction open.
    public init(
        in database: TestDatabase, as options: TransactionOptions = TransactionOptions(), _ statement: PostgresQuery
    ) async throws {
        var logger = Logger(label: "test-held")
        logger.logLevel = .error
        let key = Int64.random(in: 1...Int64.max)
        let gate = try await PostgresConnection.connect(to: database.configuration, logger: logger)
        // A transaction's body cannot wait for anything but the database: so it waits for a lock that the gate holds.
        try await gate.query("select pg_advisory_lock(\(key))::text")
        let holder = try await PostgresConnection.connect(to: database.configuration, logger: logger)
        transaction = Task {
            do {
                try await holder.withTransaction(options) { session in
                    try session.query(statement)
                    try session.query("select pg_advisory_xact_lock(\(key))::text", deadline: .seconds(300))
                }
                await holder.close()
            } catch {
                await holder.close()
                throw error
            }
        }
        self.gate = gate
        try await eventually("the transaction is held") {
            try await !gate.query(
                """
                select 1 from pg_locks where locktype = 'advisory' and not granted
                   and (classid::bigint << 32) | objid::bigint = \(key)
                """
            ).isEmpty
        }
    }

    /// Lets the transaction go on and commit.
    public func release() async throws {
        await gate.close()
        try await transaction.value
    }
}
