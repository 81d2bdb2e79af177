import Base
import EvidenceStore
import Subscriptions

/// What a replay would do, as people and scripts see it.
package struct ReplayDryRunAnswer: Encodable, Sendable {
    private struct StillDead: Encodable, Sendable {
        var id: Int64
        var reason: String
        var message: String
    }
    private struct Change: Encodable, Sendable {
        var environment: String
        var bundleId: String
        var originalTransactionId: String
        var from: String?
        var to: String
    }

    private let dryRun: Bool
    private let letters: Int
    private let applied: Int
    private let duplicate: Int
    private let parked: Int
    private let stillDead: [StillDead]
    private let changes: [Change]

    /// An answer.
    package init(_ report: ReplayDryRun.Report) {
        dryRun = true
        letters = report.letters
        applied = report.applied
        duplicate = report.duplicate
        parked = report.parked
        stillDead = report.stillDead.map { StillDead(id: $0.id, reason: $0.reason.rawValue, message: $0.message) }
        changes = report.moves.map {
            Change(
                environment: $0.purchase.environment, bundleId: $0.purchase.bundleID,
                originalTransactionId: $0.purchase.originalTransactionID, from: $0.from?.rawValue, to: $0.to.rawValue)
        }
    }

    /// For people.
    package var text: String {
        var lines = [
            "dry run, nothing was changed: of \(letters) letters \(applied) would be applied, \(duplicate) are duplicates, "
                + "\(parked) would be parked, \(stillDead.count) would die again"
        ]
        if !changes.isEmpty {
            var table = Table(["SUBSCRIPTION", "APP", "ENVIRONMENT", "FROM", "TO"])
            for change in changes {
                table.add([
                    change.originalTransactionId, change.bundleId, change.environment, change.from ?? "-", change.to,
                ])
            }
            lines += ["", table.text]
        }
        if !stillDead.isEmpty {
            var table = Table(["LETTER", "REASON", "MESSAGE"], numeric: [0])
            for letter in stillDead { table.add(["\(letter.id)", letter.reason, letter.message]) }
            lines += ["", table.text]
        }
        return lines.joined(separator: "\n")
    }
}
