package import AppleRecords
import Base
import Foundation

/// What is missing by Apple's notification history, as people and scripts see it.
package struct ReconcileCheckAnswer: Encodable, Sendable {
    private struct App: Encodable, Sendable {
        var app: String
        var environment: String
        var listed: Int
        var held: Int
        var recovered: Int
        var missing: Int
        var refused: Int
        var missingUUIDs: [String]
    }

    private let apps: [App]

    /// Whether nothing is missing, and everything listed is Apple's.
    package var isComplete: Bool { apps.allSatisfy { $0.missing == 0 && $0.refused == 0 } }

    /// An answer.
    package init(_ checks: [HistoryCheck]) {
        apps = checks.map { check in
            App(
                app: check.scope.bundleID, environment: check.scope.environment, listed: check.listed,
                held: check.held, recovered: check.recovered, missing: check.missingCount, refused: check.refused,
                missingUUIDs: check.missing.map { $0.uuidString.lowercased() })
        }
    }

    /// For people.
    package var text: String {
        var table = Table(
            ["APP", "ENVIRONMENT", "LISTED", "HELD", "RECOVERED", "MISSING", "REFUSED"], numeric: [2, 3, 4, 5, 6])
        for app in apps {
            table.add([
                app.app, app.environment, "\(app.listed)", "\(app.held)", "\(app.recovered)", "\(app.missing)",
                "\(app.refused)",
            ])
        }
        let names = apps.flatMap(\.missingUUIDs)
        let shown = names.prefix(20).map { "missing: \($0)" }
        let more = names.count > 20 ? ["and more: --format json names up to 1000"] : []
        return ([table.text] + shown + more).joined(separator: "\n")
    }
}
