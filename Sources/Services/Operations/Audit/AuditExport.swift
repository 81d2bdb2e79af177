package import AuditStore
import Base

/// The audit as a file: a line each row, and at its end how many they are and the hash of the last one, which stands for all.
package struct AuditExport: Sendable {
    /// How the lines are written.
    package enum Format: String, Sendable, CaseIterable {
        /// A JSON object a line.
        case json
        /// Values with commas between them, below a line of their names.
        case csv
    }

    private let log: AuditLog
    private let format: Format
    private let isOpen: Bool
    private static let shape = CommandShape<ShownAuditRow>.audit

    /// An export.
    /// - Parameter isOpen: whether personal texts are written in full.
    package init(_ log: AuditLog, as format: Format, isOpen: Bool) {
        self.log = log
        self.format = format
        self.isOpen = isOpen
    }

    /// Writes all rows through a place, a portion at a time.
    /// - Parameter write: takes some lines.
    /// - Throws: `PostgresError`; ``AuditFault`` where a row is missing, for an export without it would count as whole; what `write` throws.
    package func run(through end: Int64, _ write: (String) throws -> Void) async throws {
        if format == .csv { try write(Self.shape.csv(of: [])) }
        var last = AuditMark.start
        while last.place < end {
            let rows = try await log.rows(after: last.place, through: end)
            guard !rows.isEmpty else { throw AuditFault.cut(after: last.place, through: end) }
            for row in rows {
                guard row.place == last.place + 1 else {
                    throw AuditFault.missing(last.place + 1, through: row.place - 1)
                }
                last = AuditMark(place: row.place, hash: row.hash)
            }
            try write(lines(of: rows.map { ShownAuditRow($0, isOpen: isOpen) }))
        }
        switch format {
        case .json:
            try write(
                JSONValue.object([.init("count", .integer(last.place)), .init("hash", .string(last.hexHash))]).text)
        case .csv: try write("count,\(last.place),hash,\(last.hexHash)")
        }
    }

    private func lines(of rows: [ShownAuditRow]) -> String {
        switch format {
        case .json: rows.map { Self.shape.value(of: $0).text }.joined(separator: "\n")
        case .csv: Self.shape.csv(of: rows, isBegun: true)
        }
    }
}
