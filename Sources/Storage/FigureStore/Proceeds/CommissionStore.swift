package import Base
package import Figures
package import Postgres
import Synchronization

/// The commission tables of a database. The last one that was applied counts, and the release's own until then.
package final class CommissionStore: Sendable {
    private let pool: PostgresPool
    /// The one that was read last: a version never changes.
    private let read = Mutex<(version: Int64, commission: Commission?)?>(nil)

    /// The tables of a database.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Applies a table, as a whole or not at all, and records it. The same text as the current one is no new version. Of two who apply at
    /// once one waits.
    /// - Parameters:
    ///   - source: the file.
    ///   - actor: for the record.
    /// - Throws: `CommissionFault`; `PostgresError`.
    package func apply(_ source: String, by actor: String) async throws -> CommissionApplication {
        _ = try Commission(yaml: source)
        let digest = Fingerprint(of: Array(source.utf8)).description
        return try await pool.withTransaction(TransactionOptions(name: "commission.apply")) { session in
            // The lock comes first, by a statement of its own: what is read then is what was applied before.
            try session.query("select 1 from storehook.figure_state for update", deadline: Self.patience)
            let last = try session.query(.lastCommission).first
            if let last, try last.decode("digest") == digest {
                return CommissionApplication(version: try last.decode("version"), isNew: false)
            }
            let version = try last.map { try $0.decode("version", as: Int64.self) + 1 } ?? 1
            try session.query(
                PostgresQuery(
                    "commission.write",
                    """
                    insert into storehook.commissions (version, source, digest, applied_by)
                    values (\(version), \(source), decode(\(digest), 'hex'), \(actor))
                    """))
            return CommissionApplication(version: version, isNew: true)
        }
    }

    /// The one that was applied last; nil where none was.
    /// - Throws: `PostgresError`.
    package func applied() async throws -> AppliedCommission? {
        try await pool.query(.lastCommission).first.map { row in
            AppliedCommission(
                version: try row.decode("version"), source: try row.decode("source"),
                appliedAt: Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self)),
                appliedBy: try row.decode("applied_by"))
        }
    }

    /// The one that counts; nil where a newer release applied one that this one cannot read.
    /// - Throws: `PostgresError`.
    package func counting() async throws -> Commission? {
        let version = try await pool.query(.version).one().decode(0, as: Int64?.self)
        guard let version else { return .standard }
        if let known = read.withLock({ $0 }), known.version == version { return known.commission }
        guard let applied = try await applied() else { return nil }
        let commission = try? Commission(yaml: applied.source)
        read.withLock { $0 = (applied.version, commission) }
        return commission
    }

    /// For how long it waits for the worker that sums figures.
    private static let patience = Duration.seconds(300)
}

/// What became of a table that was applied.
package struct CommissionApplication: Sendable, Hashable {
    /// Its version.
    package var version: Int64
    /// Whether it was not the current one already.
    package var isNew: Bool

    /// Memberwise.
    package init(version: Int64, isNew: Bool) { (self.version, self.isNew) = (version, isNew) }
}

/// A commission table that was applied.
package struct AppliedCommission: Sendable, Hashable {
    /// From 1 on.
    package var version: Int64
    /// The file.
    package var source: String
    /// When.
    package var appliedAt: Timestamp
    /// By whom.
    package var appliedBy: String
}

extension PostgresQuery {
    static let lastCommission = PostgresQuery(
        "commission.last",
        """
        select version, source, encode(digest, 'hex') as digest, applied_at, applied_by
          from storehook.commissions order by version desc limit 1
        """)

    fileprivate static let version = PostgresQuery(
        "commission.version", "select max(version) from storehook.commissions")
}
