import AppStorePayloads
package import AppleRecords
import Base
import Postgres
import PurchaseStore

/// What is proven of Apple's notification history, as people and scripts see it.
package struct ReconcileAnswer: Encodable, Sendable {
    private struct App: Encodable, Sendable {
        var app: String
        var environment: String
        var provenFrom: String?
        var provenUntil: String?
        var listed: Int64
        var heldBefore: Int64
        var recovered: Int64
        var refused: Int64
        var windows: Int64
        var unprovenWindows: Int64
        var isUnreleased: Bool
        var lastReason: String?

        var isProven: Bool { unprovenWindows == 0 || isUnreleased }
    }

    private let apps: [App]

    /// Whether every window is proven.
    package var isProven: Bool { !apps.isEmpty && apps.allSatisfy(\.isProven) }

    /// An answer.
    package init(_ proofs: [HistoryProof]) {
        apps = proofs.map { proof in
            App(
                app: proof.scope.bundleID, environment: proof.scope.environment,
                provenFrom: proof.provenFrom.map { "\(Timestamp($0))" },
                provenUntil: proof.provenUntil.map { "\(Timestamp($0))" }, listed: proof.listed,
                heldBefore: proof.heldBefore, recovered: proof.recovered, refused: proof.refused,
                windows: proof.windows, unprovenWindows: proof.unprovenWindows,
                isUnreleased: proof.isUnreleased, lastReason: proof.lastReason)
        }
    }

    /// For people: a line for each app and environment, and what to do about those that are not proven.
    package var text: String {
        var table = Table(
            ["APP", "ENVIRONMENT", "PROVEN UNTIL", "LISTED", "HELD BEFORE", "RECOVERED", "REFUSED"],
            numeric: [3, 4, 5, 6])
        for app in apps {
            table.add([
                app.app, app.environment, app.provenUntil ?? "-", "\(app.listed)", "\(app.heldBefore)",
                "\(app.recovered)", "\(app.refused)",
            ])
        }
        let open = apps.filter { $0.unprovenWindows > 0 }.map { app in
            if app.isUnreleased {
                return "\(app.app) \(app.environment): Apple accepts the key in Sandbox, the app was never released"
            }
            return "\(app.app) \(app.environment): \(app.unprovenWindows) of \(app.windows) windows are not proven"
                + (app.refused > 0 ? "; Apple's history lists what Apple did not sign" : "")
                + (app.lastReason.map { " (\($0))" } ?? "") + "; run it again to go on"
        }
        return ([table.text] + open).joined(separator: "\n\n")
    }
}
