import ArgumentParser
import Base
import EvidenceStore
import Operations

struct Maintain: ActingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make partitions ahead, and drop old ones by the retention settings.",
        discussion: """
            Workers do this by themselves, about once an hour; running it at any time, from anywhere, does no harm. Bytes
            older than STOREHOOK_RETENTION_DAYS (400 by default; forever) are dropped by whole days, with the
            closed dead letters and the records of repeats of those days. What is recorded of each notification, facts
            and states stay, and so do bytes about which something is still to do. Attempts to buy and superseded consents
            go after STOREHOOK_HISTORY_DAYS (90 by default). Exits with 1 if a day could not be
            dropped because somebody was reading the outbox, and otherwise as the first step that failed says.

            Example: STOREHOOK_RETENTION_DAYS=400 storehook maintain
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Tell which days are older than the retention, and change nothing.") var dryRun = false
    @OptionGroup var output: Output

    func run() async throws {
        let settings = try await shared.settings()
        let retention = try settings.retention()
        let round = try await Database.with(settings) { pool -> MaintenanceRound? in
            if dryRun {
                let days = try await Outbox(pool).daysToDrop(retention)
                output.print(CommandAnswer(days.json, text: days.joined(separator: "\n")))
                return nil
            }
            return try await MaintenanceRound(pool, retention)
        }
        guard let round else { return }
        output.print(CommandAnswer(round))
        if let failure = round.outbox.failures.first { throw failure.error }
        if round.outbox.days.contains(where: { $0.outcome == .postponed }) { throw ExitStatus.failed }
    }
}
