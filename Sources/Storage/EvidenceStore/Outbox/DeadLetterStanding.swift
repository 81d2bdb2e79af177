package import Postgres

/// How a dead letter stands.
package struct DeadLetterStanding: Sendable, Hashable {
    /// Whether it waits, or what was done.
    package var resolution: DeadLetterResolution
    /// When that was done; nil while it waits.
    package var resolvedAt: PostgresTimestamp?
    /// Who did it; likewise.
    package var resolvedBy: String?
    /// The open letter of the same evidence: where it was replayed and died again, that has another number.
    package var openAs: Int64?

    init(_ row: PostgresRow) throws {
        resolution = try row.decode("resolution", among: DeadLetterResolution.self)
        resolvedAt = try row.decode("resolved_at")
        resolvedBy = try row.decode("resolved_by")
        openAs = try row.decode("open_as")
    }
}
