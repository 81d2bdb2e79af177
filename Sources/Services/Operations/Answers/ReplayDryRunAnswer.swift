import Base
import EvidenceStore
import Subscriptions

extension CommandAnswer {
    /// What a replay would do.
    package init(_ report: ReplayDryRun.Report) {
        var lines = [
            "dry run, nothing was changed: of \(report.letters) letters \(report.applied) would be applied, \(report.duplicate) are duplicates, "
                + "\(report.parked) would be parked, \(report.stillDead.count) would die again"
        ]
        if !report.moves.isEmpty { lines += ["", Self.move.table(of: report.moves)] }
        if !report.stillDead.isEmpty { lines += ["", Self.letter.table(of: report.stillDead)] }
        self.init(report, Self.dryRun, text: lines.joined(separator: "\n"))
    }

    private static let dryRun = CommandShape<ReplayDryRun.Report>([
        .init("dry_run") { _ in true }, .init("letters", \.letters), .init("applied", \.applied),
        .init("duplicate", \.duplicate), .init("parked", \.parked), .list("still_dead", letter, \.stillDead),
        .list("changes", move, \.moves),
    ])

    private static let move = CommandShape<ReplayDryRun.Report.Move>([
        .init("original_transaction_id", column: "SUBSCRIPTION", \.purchase.originalTransactionID),
        .init("bundle_id", column: "APP", \.purchase.bundleID),
        .init("environment", column: "ENVIRONMENT", \.purchase.environment),
        .init("from", column: "FROM", \.from?.rawValue), .init("to", column: "TO", \.to.rawValue),
    ])

    private static let letter = CommandShape<ReplayDryRun.Report.StillDead>([
        .init("id", column: "LETTER", \.id), .init("reason", column: "REASON", \.reason.rawValue),
        .init("message", column: "MESSAGE", \.message),
    ])
}
