import ArgumentParser
import Outbox

struct Maintain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make partitions ahead, and drop old ones by the retention settings.",
        discussion: """
            Workers do this by themselves, about once an hour; running it at any time, from anywhere, does no harm. Bytes
            older than STOREHOOK_RETENTION_DAYS (400 unless told otherwise; forever) are dropped by whole days, with the
            closed dead letters and the records of repeats of those days. What is recorded of each notification, facts
            and states stay, and so do bytes about which something is still to do. Exits with 1 if a day could not be
            dropped because somebody was reading the outbox.

            Example: STOREHOOK_RETENTION_DAYS=400 storehook maintain
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Tell which days are older than the retention, and change nothing.") var dryRun = false
    @Option(help: "table or json.") var format = OutputFormat.table

    private struct Answer: Encodable {
        struct Day: Encodable {
            var day: String
            var outcome: String
            var gone: Int64
            var kept: Int64
        }
        var made: Int
        var days: [Day]

        init(_ report: MaintenanceReport) {
            made = report.made
            days = report.days.map {
                Day(day: $0.day, outcome: $0.outcome.rawValue, gone: $0.gone, kept: $0.kept)
            }
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let retention = try settings.retention()
        let report = try await Database.with(settings) { pool -> MaintenanceReport? in
            let outbox = Outbox(pool)
            if dryRun {
                let days = try await outbox.daysToDrop(retention)
                print(format == .json ? try JSONText.encode(days) : days.joined(separator: "\n"))
                return nil
            }
            return try await outbox.maintain(retention)
        }
        guard let report else { return }
        switch format {
        case .json: print(try JSONText.encode(Answer(report)))
        case .table: print(([Self.line(made: report.made)] + report.days.map(Self.line)).joined(separator: "\n"))
        }
        if report.days.contains(where: { $0.outcome == .postponed }) { throw ExitStatus.failed }
    }

    private static func line(made: Int) -> String {
        made == 0 ? "partitions stand ready" : "made \(made) partitions"
    }

    private static func line(_ day: MaintenanceReport.Day) -> String {
        switch day.outcome {
        case .dropped:
            "\(day.day) dropped: the bytes of \(day.gone) notifications"
                + (day.kept == 0 ? "" : ", without \(day.kept) that are still to do")
        case .stays: "\(day.day) stays: \(day.kept) are still to do; see storehook queue, storehook dead-letters list"
        case .busy: "\(day.day) left to another session, which is at it"
        case .postponed: "\(day.day) not dropped: somebody reads the outbox without a pause; try again later"
        }
    }
}
