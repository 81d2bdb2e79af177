package import Base
import EvidenceStore
import Postgres

/// A queue whose rows are each about an app in one environment. Only a process with the app's key can work them, and a
/// fault of the key, or Apple's limit for it, affects all of them.
///
/// Workers write about a row only through ``holding(_:_:_:)`` or ``settling(_:_:_:)``: a worker whose lease is over
/// writes nothing.
package struct ScopedQueue: Sendable {
    private let queue: Queue
    private let pool: PostgresPool
    private let owner: String
    private let condition: String

    /// A queue.
    /// - Parameters:
    ///   - owner: the table, with its schema, that has the queue's `id` and, in `bundle_id` and `environment`, the app
    ///     of each row. A literal, because it stands in statements as it is.
    ///   - condition: which of the due rows can be claimed, of the owner's row `r`; a literal, too.
    init(_ table: QueueTable, _ pool: PostgresPool, of owner: StaticString, where condition: StaticString = "true") {
        queue = Queue(table, pool)
        self.pool = pool
        self.owner = "\(owner)"
        self.condition = "\(condition)"
    }

    /// Claims the row that is to be worked first, and reads what it stands for; nil if none is due.
    /// - Parameters:
    ///   - scopes: the app environments that this process has API keys for.
    ///   - id: this row alone.
    ///   - join: what to fetch besides: at least `bundle_id` and `environment`.
    func claim<Row: Sendable>(
        for lease: Lease, among scopes: [AppEnvironment], id: Int64? = nil, joining join: ClaimJoin,
        _ read: @Sendable @escaping (PostgresRow, ScopedClaim) throws -> Row
    ) async throws -> Row? {
        let allowed: PostgresQuery = """
            select r.id
              from \(unescaped: queue.table.name) waiting
              join \(unescaped: owner) r using (id)
              join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                   on s.bundle_id = r.bundle_id and s.environment = r.environment
             where r.id = coalesce(\(id), r.id) and \(unescaped: condition)
            """
        return try await claim(for: lease, of: allowed, joining: join, read)
    }

    /// Claims one of these rows if it is due, whatever else is the case.
    /// - Parameter allowed: gives their ids.
    func claim<Row: Sendable>(
        for lease: Lease, of allowed: PostgresQuery, joining join: ClaimJoin,
        _ read: @Sendable @escaping (PostgresRow, ScopedClaim) throws -> Row
    ) async throws -> Row? {
        try await queue.claim(1, for: lease, among: allowed, joining: join) { rows in
            try rows.map { try read($0, ScopedClaim($0, lease)) }
        }
        .rows.first?.content
    }

    /// Runs `body` in a transaction if the row is still held, and lets its lease last anew.
    /// - Returns: nil where another process holds the row by now; then nothing was written.
    @discardableResult
    func holding<T: Sendable>(
        _ claim: ScopedClaim, _ options: TransactionOptions = TransactionOptions(),
        _ body: @Sendable (borrowing PostgresSession) throws -> T
    ) async throws -> T? {
        let result: T? = try await pool.withTransaction(options) { session in
            guard try renew(claim, session) else { return nil }
            return try body(session)
        }
        return result
    }

    /// Runs `body` in a transaction if the row is still held, and takes it off the queue for good.
    /// - Returns: nil where another process holds the row by now; then nothing was written.
    @discardableResult
    func settling<T: Sendable>(
        _ claim: ScopedClaim, _ options: TransactionOptions = TransactionOptions(),
        _ body: @Sendable (borrowing PostgresSession) throws -> T
    ) async throws -> T? {
        let result: T? = try await pool.withTransaction(options) { session in
            guard try acknowledge(claim, session) else { return nil }
            return try body(session)
        }
        return result
    }

    /// Runs one statement, if the row is still held, and lets its lease last anew.
    /// - Returns: whether it is still held.
    func update(_ claim: ScopedClaim, _ query: PostgresQuery) async throws -> Bool {
        try await holding(claim) { session in _ = try session.query(query) } != nil
    }

    /// Renews the lease of a row, in the transaction that writes about it: until that ends no other process can claim
    /// the row.
    /// - Returns: whether it is still held.
    func renew(_ claim: ScopedClaim, _ session: borrowing PostgresSession) throws -> Bool {
        try !queue.table.renew([claim.id], token: claim.lease.token, for: claim.lease.duration, session).isEmpty
    }

    /// Takes a row off the queue for good, in the transaction that settles it.
    /// - Returns: whether it was still held.
    func acknowledge(_ claim: ScopedClaim, _ session: borrowing PostgresSession) throws -> Bool {
        try !queue.table.acknowledge([claim.id], token: claim.lease.token, session).isEmpty
    }

    /// Puts a row off: it is due again after a while.
    /// - Parameters:
    ///   - reason: a code, for people.
    ///   - isItsOwn: whether the reason lies with the row, and the attempt counts.
    package func putOff(_ claim: ScopedClaim, by delay: Duration, reason: String, isItsOwn: Bool) async throws {
        try await queue.putOff(claim.id, by: delay, reason: reason, isItsOwn: isItsOwn, claim.lease)
    }

    /// Puts off all rows of an app in an environment that are due or fall due by then: any request to Apple meanwhile
    /// would fail the same way. Rows under a lease stay as they are.
    package func putOff(allOf scope: AppEnvironment, by delay: Duration, reason: String) async throws {
        let theirs: PostgresQuery = """
            select r.id from \(unescaped: owner) r
             where r.bundle_id = \(scope.bundleID) and r.environment = \(scope.environment)
            """
        try await queue.putOffWaiting(theirs, by: delay, reason: reason)
    }

    /// Gives a row back, as if it had not been claimed.
    package func giveBack(_ claim: ScopedClaim) async throws {
        try await queue.release([claim.id], token: claim.lease.token)
    }
}
