import ArgumentParser
import AuditStore
import Postgres
import Staff

/// Whether personal texts are shown in full, which is put on record.
struct OpeningOptions: ParsableArguments {
    @Flag(help: "Show account ids, names and reasons in full, on record; by default they are shortened.") var open =
        false
    @Option(help: "Why they are opened, for the record.") var why: String?
    @OptionGroup var acting: ActingOptions

    func validate() throws {
        guard open || why == nil else { throw ValidationError("--why goes with --open") }
        if let why {
            guard (1...1000).contains(why.unicodeScalars.count), why.contains(where: { !$0.isWhitespace }) else {
                throw ValidationError("--why takes 1 to 1000 characters")
            }
        }
    }

    /// Puts on record that texts are about to be shown in full.
    /// - Throws: `CommandFailure` where that is not allowed; `PostgresError`.
    func note(_ count: Int64, isExport: Bool, _ log: AuditLog) async throws {
        guard open else { return }
        let actor = try acting.actor(
            for: isExport ? .exportPersonalText(hasReason: why != nil) : .openPersonalText)
        guard count > 0 else { return }
        try await log.noteOpened(by: actor, why: why, count: count, isExport: isExport)
    }
}
