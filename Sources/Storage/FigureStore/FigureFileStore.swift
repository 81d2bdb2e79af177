package import Base
package import Figures
package import Postgres
import Synchronization

/// A file by which figures go: operators apply one, and the release has one until then.
package protocol FigureFile: Sendable, Hashable {
    /// What it is called.
    static var title: String { get }
    /// The table of those that were applied.
    static var table: String { get }
    /// The release's own.
    static var standard: Self { get }
    /// ``standard``, as a file.
    static var standardText: String { get }
    /// Reads a file.
    init(yaml text: String) throws(FigureFileFault)
}

extension Commission: FigureFile {
    package static let title = "commission table"
    package static let table = "commissions"
}

extension FiscalCalendar: FigureFile {
    package static let title = "fiscal calendar"
    package static let table = "fiscal_calendars"
}

/// The commission tables of a database.
package typealias CommissionStore = FigureFileStore<Commission>
/// The fiscal calendars of a database.
package typealias FiscalCalendarStore = FigureFileStore<FiscalCalendar>

/// The files of one kind of a database. The last one that was applied counts, and the release's own until then.
package final class FigureFileStore<File: FigureFile>: Sendable {
    private let pool: PostgresPool
    /// The one that was read last: a version never changes.
    private let read = Mutex<(version: Int64, file: File?)?>(nil)

    /// The files of a database.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Applies a file, as a whole or not at all, and records it. The same text as the current one is no new version. Of two who apply at
    /// once one waits.
    /// - Parameters:
    ///   - source: the file.
    ///   - actor: for the record.
    /// - Throws: `FigureFileFault`; `PostgresError`.
    package func apply(_ source: String, by actor: String) async throws -> FigureFileApplication {
        _ = try File(yaml: source)
        let digest = Fingerprint(of: Array(source.utf8)).description
        return try await pool.withTransaction(TransactionOptions(name: "figures.apply_file")) { session in
            // The lock comes first, by a statement of its own: what is read then is what was applied before.
            try session.query("select 1 from storehook.figure_state for update", deadline: .seconds(300))
            let last = try session.query(.last(of: File.table)).first
            if let last, try last.decode("digest") == digest {
                return FigureFileApplication(version: try last.decode("version"), isNew: false)
            }
            let version = try last.map { try $0.decode("version", as: Int64.self) + 1 } ?? 1
            try session.query(
                PostgresQuery(
                    "figures.write_file",
                    """
                    insert into storehook.\(unescaped: File.table) (version, source, digest, applied_by)
                    values (\(version), \(source), decode(\(digest), 'hex'), \(actor))
                    """))
            return FigureFileApplication(version: version, isNew: true)
        }
    }

    /// The one that was applied last; nil where none was.
    /// - Throws: `PostgresError`.
    package func applied() async throws -> AppliedFigureFile? {
        try await pool.query(.last(of: File.table)).first.map { row in
            AppliedFigureFile(
                version: try row.decode("version"), source: try row.decode("source"),
                appliedAt: Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self)),
                appliedBy: try row.decode("applied_by"))
        }
    }

    /// The one that counts; nil where a newer release applied one that this one cannot read.
    /// - Throws: `PostgresError`.
    package func counting() async throws -> File? {
        let version = try await pool.query(.version(of: File.table)).one().decode(0, as: Int64?.self)
        guard let version else { return .standard }
        if let known = read.withLock({ $0 }), known.version == version { return known.file }
        guard let applied = try await applied() else { return nil }
        let file = try? File(yaml: applied.source)
        read.withLock { $0 = (applied.version, file) }
        return file
    }
}

/// What became of a file that was applied.
package struct FigureFileApplication: Sendable, Hashable {
    /// Its version.
    package var version: Int64
    /// Whether it was not the current one already.
    package var isNew: Bool

    /// Memberwise.
    package init(version: Int64, isNew: Bool) { (self.version, self.isNew) = (version, isNew) }
}

/// A file that was applied.
package struct AppliedFigureFile: Sendable, Hashable {
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
    static func last(of table: String) -> PostgresQuery {
        PostgresQuery(
            "figures.last_file",
            """
            select version, source, encode(digest, 'hex') as digest, applied_at, applied_by
              from storehook.\(unescaped: table) order by version desc limit 1
            """)
    }

    fileprivate static func version(of table: String) -> PostgresQuery {
        PostgresQuery("figures.file_version", "select max(version) from storehook.\(unescaped: table)")
    }
}
