package import Base
package import EvidenceStore
import Postgres

/// That a worker holds a row of a ``ScopedQueue``.
package struct ScopedClaim: Sendable, Hashable {
    /// The row's number.
    package var id: Int64
    /// The app and environment.
    package var scope: AppEnvironment
    /// Claims so far, this one included.
    package var attempts: Int
    /// The lease on the row.
    package var lease: Lease

    /// Reads the columns id, bundle_id, environment and attempts.
    init(_ row: PostgresRow, _ lease: Lease) throws {
        id = try row.decode("id")
        scope = try AppEnvironment(row)
        attempts = Int(try row.decode("attempts", as: Int16.self))
        self.lease = lease
    }
}

/// What a claimed row stands for.
package protocol ScopedRow: Sendable {
    /// That it is held.
    var claim: ScopedClaim { get }
}

extension ScopedRow {
    /// The row's number.
    package var id: Int64 { claim.id }
    /// The app and environment.
    package var scope: AppEnvironment { claim.scope }
}

extension AppEnvironment {
    /// Reads the columns bundle_id and environment.
    init(_ row: PostgresRow) throws {
        self.init(bundleID: try row.decode("bundle_id"), environment: try row.decode("environment"))
    }
}

extension PostgresRow {
    /// How long ago something was, out of a column of seconds; nil where it was not. Clocks that differ make it zero.
    func age(_ name: String) throws -> Duration? {
        try decode(name, as: Double?.self).map { .seconds(max(0, $0)) }
    }
}
