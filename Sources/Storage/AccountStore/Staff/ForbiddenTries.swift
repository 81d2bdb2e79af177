package import Postgres

/// What members of the staff tried and may not do. The database counts the tries of each minute, and takes the minutes that are over into the
/// audit: one row for a member, a route and a minute.
package struct ForbiddenTries: Sendable {
    private let pool: PostgresPool

    /// The tries behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Counts a try, for good, before it is refused.
    /// - Parameter route: what was asked: a method and a path of the API's description.
    package func note(_ route: String, by member: StaffMember) async throws {
        let note: PostgresQuery =
            if let name = member.proxiedName {
                PostgresQuery("forbidden.note_proxied", "select storehook.note_proxied_try(\(name), \(route))")
            } else {
                PostgresQuery("forbidden.note", "select storehook.note_forbidden_try(\(member.id), \(route))")
            }
        try await pool.query(note, durably: true)
    }

    /// Takes the minutes that are over into the audit.
    /// - Returns: how many rows it got.
    @discardableResult
    package func record() async throws -> Int64 {
        try await pool.query(
            PostgresQuery("forbidden.record", "select storehook.record_forbidden_tries()"), durably: true
        ).one().decode(0)
    }
}
