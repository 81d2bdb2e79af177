package import Base
package import EvidenceStore
package import Postgres

/// A queue whose rows are each about an app in one environment: only who has a key of the app can do them, and what is wrong
/// with the key, or Apple's limit for it, holds for all of them.
package struct ScopedQueue: Sendable {
    private let queue: Queue
    private let owner: String

    /// A queue.
    /// - Parameter owner: the table, with its schema, whose `id` the queue's rows have, and whose `bundle_id` and `environment`
    ///   say whose they are. A literal, because it stands in statements as it is.
    package init(_ queue: Queue, of owner: StaticString) {
        self.queue = queue
        self.owner = "\(owner)"
    }

    /// Claims the row that has been due for longest, and reads what it stands for; nil if none is due.
    /// - Parameters:
    ///   - scopes: the app environments that this process has API keys for.
    ///   - id: this row alone.
    ///   - join: what to fetch besides.
    package func claim<Content: Sendable>(
        for lease: Lease, among scopes: [AppEnvironment], id: Int64? = nil, joining join: ClaimJoin,
        _ read: @Sendable @escaping (PostgresRow) throws -> Content
    ) async throws -> Content? {
        let allowed: PostgresQuery = """
            select r.id
              from \(unescaped: queue.table.name) waiting
              join \(unescaped: owner) r using (id)
              join unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                   on s.bundle_id = r.bundle_id and s.environment = r.environment
             where r.id = coalesce(\(id), r.id)
            """
        return try await queue.claim(1, for: lease, among: allowed, joining: join) { try $0.map(read) }
            .rows.first?.content
    }

    /// Puts a row off: it is due again after a while.
    /// - Parameters:
    ///   - reason: a code, for people.
    ///   - isItsOwn: whether the reason lies with the row, and the attempt counts.
    package func putOff(_ id: Int64, by delay: Duration, reason: String, isItsOwn: Bool, _ lease: Lease) async throws {
        try await queue.putOff(id, by: delay, reason: reason, isItsOwn: isItsOwn, lease)
    }

    /// Puts off all rows of an app in an environment that are due or fall due by then: whatever is asked there meanwhile would
    /// fail the same way. What is held by somebody stays with them.
    package func putOff(allOf scope: AppEnvironment, by delay: Duration, reason: String) async throws {
        let theirs: PostgresQuery = """
            select r.id from \(unescaped: owner) r
             where r.bundle_id = \(scope.bundleID) and r.environment = \(scope.environment)
            """
        try await queue.putOffWaiting(theirs, by: delay, reason: reason)
    }

    /// Gives a row back, as if it had not been claimed.
    package func giveBack(_ id: Int64, _ lease: Lease) async throws {
        try await queue.release([id], token: lease.token)
    }
}
