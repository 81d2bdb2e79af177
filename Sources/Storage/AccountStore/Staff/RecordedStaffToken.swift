package import Postgres

/// What is recorded about a staff token: everything but the token.
package struct RecordedStaffToken: Sendable, Hashable {
    /// Its number; it is revoked by this.
    package var id: Int64
    /// Its member.
    package var memberID: Int64
    /// When it was made.
    package var createdAt: PostgresTimestamp
    /// The actor that made it.
    package var createdBy: String
    /// Until when it is valid.
    package var expiresAt: PostgresTimestamp
    /// Since when it is no longer valid; nil while it was not revoked.
    package var revokedAt: PostgresTimestamp?
    /// The actor that revoked it.
    package var revokedBy: String?

    static let columns = "t.id, t.member_id, t.created_at, t.created_by, t.expires_at, t.revoked_at, t.revoked_by"

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        memberID = try row.decode("member_id")
        createdAt = try row.decode("created_at")
        createdBy = try row.decode("created_by")
        expiresAt = try row.decode("expires_at")
        revokedAt = try row.decode("revoked_at")
        revokedBy = try row.decode("revoked_by")
    }
}
