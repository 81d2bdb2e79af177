package import Postgres

/// What is recorded about a server key: everything but the key.
package struct RecordedServerKey: Sendable, Hashable {
    /// Its number; it is revoked by this.
    package var id: Int64
    /// SHA-256 of its text.
    package var digest: [UInt8]
    /// What it is for, as its creator named it.
    package var name: String
    /// When it was made.
    package var createdAt: PostgresTimestamp
    /// Who made it.
    package var createdBy: String
    /// Since when it is no longer valid; nil while it is.
    package var revokedAt: PostgresTimestamp?
    /// Who revoked it.
    package var revokedBy: String?
    /// When it was last used, to the hour; nil if it never was.
    package var lastUsedAt: PostgresTimestamp?

    init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        digest = try row.decode("digest")
        name = try row.decode("name")
        createdAt = try row.decode("created_at")
        createdBy = try row.decode("created_by")
        revokedAt = try row.decode("revoked_at")
        revokedBy = try row.decode("revoked_by")
        lastUsedAt = try row.decode("last_used_at")
    }
}
