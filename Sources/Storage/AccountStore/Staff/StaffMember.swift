package import Postgres
package import Staff

/// A member of the staff.
package struct StaffMember: Sendable, Hashable {
    /// The number: the audit calls them `staff:` and this.
    package var id: Int64
    /// By which people name them.
    package var mail: String
    /// How much they may do.
    package var role: StaffRole
    /// The bundle ids of the apps that they are staff of; nil for all.
    package var apps: [String]?
    /// When they were added.
    package var addedAt: PostgresTimestamp
    /// The actor.
    package var addedBy: String
    /// When they were removed; nil while they are staff.
    package var removedAt: PostgresTimestamp?
    /// The actor.
    package var removedBy: String?
    /// How many of their tokens are valid.
    package var validTokens: Int64
    /// When their password for the pages was set; nil without one.
    package var passwordSetAt: PostgresTimestamp?
    /// When they logged in to the pages last; nil where that is not known.
    package var lastLoginAt: PostgresTimestamp?
    /// The name that a proxy in front of the console has given; nil of members, who alone have a number.
    package private(set) var proxiedName: String?

    /// The apps that they are staff of.
    package var scope: StaffScope { apps.map { .some(Set($0)) } ?? .all }

    /// What acts record: the audit knows members by this number, as their address is personal, and others by the name of their proxy.
    package var actor: String { proxiedName.map { "proxy:\($0)" } ?? "staff:\(id)" }

    /// What log lines call them.
    package var logName: String { proxiedName == nil ? "\(id)" : "proxy" }

    /// A person that a proxy has logged in. ``ProxiedStaff/note(_:)`` makes the name known to the audit.
    package init(proxied name: String, _ standing: StaffGroups.Standing) {
        (id, mail, role, apps) = (0, name, standing.role, standing.apps)
        (addedAt, addedBy, validTokens) = (PostgresTimestamp(microsecondsSince1970: 0), "proxy", 0)
        proxiedName = name
    }

    static let columns = """
        m.id, m.mail, m.role, m.apps, m.added_at, m.added_by, m.removed_at, m.removed_by,
        (select count(*) from storehook.staff_tokens t
          where t.member_id = m.id and t.revoked_at is null and t.expires_at > now()) as valid_tokens,
        (select p.set_at from storehook.staff_passwords p where p.member_id = m.id) as password_set_at,
        (select l.at from storehook.staff_logins l where l.member_id = m.id) as last_login_at
        """

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        mail = try row.decode("mail")
        role = try row.decode("role", among: StaffRole.self)
        apps = try row.decode("apps")
        addedAt = try row.decode("added_at")
        addedBy = try row.decode("added_by")
        removedAt = try row.decode("removed_at")
        removedBy = try row.decode("removed_by")
        validTokens = try row.decode("valid_tokens")
        passwordSetAt = try row.decode("password_set_at")
        lastLoginAt = try row.decode("last_login_at")
    }
}
