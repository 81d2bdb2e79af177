import ArgumentParser
import AuditStore
import Foundation
import Operations

struct AuditVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that no row of the audit was changed, removed or reordered.",
        discussion: """
            Each row's hash is computed anew from what the row says and held against the row behind it, in bounded memory. It names the
            first row that is wrong and then exits with 1; and the rows whose text an erasure took, which is no fault.

            The schema's owner could write all rows anew. Against that, keep exports elsewhere: with --since each exported row is held
            against the one that stands, and rows that were cut off the end are named.

            Example: storehook audit verify --since audit-2026-01.jsonl
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "A file that storehook audit export wrote.") var since: String?
    @OptionGroup var output: Output

    func run() async throws {
        let settings = try await shared.settings()
        var reader: AuditExportReader?
        if let since {
            do { reader = try AuditExportReader(since) } catch {
                throw CommandFailure("\(since) cannot be read: \(error.localizedDescription)", status: .usage)
            }
        }
        var export = reader
        let found = try await Database.with(settings) { pool in
            do {
                guard export != nil else { return try await AuditLog(pool).verify() }
                return try await AuditLog(pool).verify { try export?.next() }
            } catch let fault as AuditExportReader.Fault {
                throw CommandFailure("\(since ?? ""): \(fault)", status: .usage)
            }
        }
        output.print(CommandAnswer(found))
        if found.fault != nil { throw ExitStatus.failed }
    }
}
