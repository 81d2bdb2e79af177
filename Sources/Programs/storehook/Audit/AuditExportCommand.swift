import ArgumentParser
import AuditStore
import Operations

struct AuditExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the whole audit, in its order, for a place that its staff cannot reach.",
        discussion: """
            A JSON object a line, or CSV; the last line has the number of rows and the hash of the last one, which stands for all of them.
            storehook audit verify --since takes the file. Rows that are added meanwhile are left out. Memory does not grow with the audit.

            Account ids, names and reasons are shortened; --open with --why writes them in full, on record. An erasure cannot reach into a
            file: keep such ones as short as the law asks.

            Example: storehook audit export > audit-2026-01.jsonl
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "json or csv.") var format: AuditExport.Format = .json
    @OptionGroup var opening: OpeningOptions

    func run() async throws {
        try await Database.with(try await shared.settings()) { pool in
            let log = AuditLog(pool)
            if opening.open {
                try await opening.note(try await log.textCount(), isExport: true, log)
            }
            let end = try await log.tail().place
            do {
                try await AuditExport(log, as: format, isOpen: opening.open).run(through: end) { lines in
                    StandardOutput.line(lines)
                    try StandardOutput.check()
                }
            } catch let fault as AuditFault {
                throw CommandFailure("\(fault), so that this is no whole export: storehook audit verify")
            }
        }
    }
}

extension AuditExport.Format: ExpressibleByArgument {}
