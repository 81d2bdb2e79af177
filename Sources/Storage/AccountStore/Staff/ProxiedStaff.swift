package import Postgres
import Staff

/// People that a proxy in front of the console has logged in: the audit takes their roles from what is noted here.
package struct ProxiedStaff: Sendable {
    private let pool: PostgresPool

    /// The people behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The longest name that is taken, in characters.
    package static let longestName = 190

    /// Notes a person with the role and the apps of today, before anything is done for them. Writes nothing where that is noted already.
    package func note(_ person: StaffMember) async throws {
        guard let name = person.proxiedName else { return }
        try await pool.query(
            PostgresQuery(
                "proxied.note",
                "select storehook.note_proxied_staff(\(name), \(person.role.rawValue), \(person.apps))"))
    }
}
