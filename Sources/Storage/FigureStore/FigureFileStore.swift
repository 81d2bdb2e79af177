package import Base
package import Figures
package import Postgres
import Synchronization

/// A file of settings for figures. Operators apply one; until then the release's own counts.
package protocol FigureFile: Sendable, Hashable {
    /// Its name.
    static var title: String { get }
    /// The table of applied files.
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

/// The applied files of one kind in a database. The latest one counts; before any, the release's own does.
package final class FigureFileStore<File: FigureFile>: Sendable {
    private let pool: PostgresPool
    /// The file that was read last: a version never changes.
    private let read = Mutex<(version: Int64, file: File?)?>(nil)

    /// The files of a database.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Applies a file as a whole, and records it. The text of the current version makes no new one. Two callers apply one after the other.
    /// - Parameters:
    ///   - source: the file.
    ///   - actor: the actor, for the record.
    /// - Throws: `FigureFileFault`; `PostgresError`.
    package func apply(_ source: String, by actor: String) async throws -> FigureFileApplication {
        _ = try File(yaml: source)
        let digest = Fingerprint(of: Array(source.utf8)).description
        return try await pool.withTransaction(TransactionOptions(name: "figures.apply_file")) { session in
            // The lock is taken by a statement of its own: the next one sees the version of the caller that held it.
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

    /// The latest applied file; nil without one.
    /// - Throws: `PostgresError`.
    package func applied() async throws -> AppliedFigureFile? {
        try await pool.query(.last(of: File.table)).first.map { row in
            AppliedFigureFile(
                version: try row.decode("version"), source: try row.decode("source"),
                appliedAt: Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self)),
                appliedBy: try row.decode("applied_by"))
        }
    }

    /// The file that counts; nil where this release cannot read it, because a newer one applied it.
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

/// The result of applying a file.
package struct FigureFileApplication: Sendable, Hashable {
    /// Its version.
    package var version: Int64
    /// Whether the version is new; false where it was the current one already.
    package var isNew: Bool

    /// Memberwise.
    package init(version: Int64, isNew: Bool) { (self.version, self.isNew) = (version, isNew) }
}

/// An applied file.
package struct AppliedFigureFile: Sendable, Hashable {
    /// From 1 on.
    package var version: Int64
    /// The file.
    package var source: String
    /// The instant of its application.
    package var appliedAt: Timestamp
    /// The actor that applied it.
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
