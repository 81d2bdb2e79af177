import AppStorePayloads
import Base
package import Pipeline

/// What asking for an account's purchases brought, as people and scripts see it.
package struct AccountRefreshAnswer: Encodable, Sendable {
    /// What Apple gave about one customer's purchases.
    private struct Answer: Encodable, Sendable {
        var app: String
        var environment: String
        var answered: Int
        var stored: Int
        var refused: Int
    }

    private let account: String
    private let appAccountToken: String
    private let purchases: Int
    /// Whether the account has more purchases than were looked at.
    private let isCut: Bool
    private let refreshes: [Answer]
    private let unknown: [String]
    private let unasked: [String]
    private let queued: Int
    private let trouble: String?

    /// Whether there was anything to ask about, everything in Apple's answers was Apple's, and what was not answered will be asked
    /// again.
    package var isComplete: Bool {
        purchases > 0 && unasked.isEmpty && !isCut && refreshes.allSatisfy { $0.refused == 0 }
            && (trouble == nil || queued > 0)
    }

    /// An answer.
    /// - Parameter account: as it was asked for.
    package init(_ report: AccountRefresh.Report, of account: String) {
        self.account = account
        appAccountToken = "\(report.token)"
        purchases = report.purchases
        isCut = report.isCut
        refreshes = report.answers.map {
            Answer(
                app: $0.bundleID, environment: $0.refresh.environment.rawValue, answered: $0.refresh.answered,
                stored: $0.refresh.stored, refused: $0.refresh.refused)
        }
        unknown = report.unknown
        unasked = report.unasked
        queued = report.queued
        trouble = report.trouble
    }

    /// For people: a line for each customer's history that was asked for, and about what was not answered.
    package var text: String {
        guard purchases > 0 else { return "no purchase that is known carries \(appAccountToken), the account's token" }
        var lines = [
            "\(purchases) purchase\(purchases == 1 ? "" : "s") of the account with the token \(appAccountToken)"
                + (isCut ? ", and more that were not looked at: refresh those by their own ids" : "")
        ]
        if !refreshes.isEmpty {
            var table = Table(["APP", "ENVIRONMENT", "ANSWERED", "STORED", "REFUSED"], numeric: [2, 3, 4])
            for refresh in refreshes {
                table.add([
                    refresh.app, refresh.environment, "\(refresh.answered)", "\(refresh.stored)", "\(refresh.refused)",
                ])
            }
            lines.append(table.text)
        }
        if !unknown.isEmpty { lines.append("Apple does not know \(unknown.joined(separator: ", "))") }
        if !unasked.isEmpty {
            lines.append(
                "nobody can be asked about \(unasked.joined(separator: ", ")): no key is set for the app, or its environment is not served"
            )
        }
        if let trouble { lines.append("asking went wrong: \(trouble)") }
        if queued > 0 { lines.append("\(queued) purchases are asked for later, by a worker") }
        return lines.joined(separator: "\n")
    }
}
