package import AppleRecords
import Base
import FoundationEssentials
import Postgres

extension HistoryProof {
    /// Whether every window of it is proven, or there can be none.
    package var isProven: Bool { unprovenWindows == 0 || isUnreleased }
}

extension HistoryCheck {
    /// Whether nothing is missing, and everything listed is Apple's.
    package var isComplete: Bool { missingCount == 0 && refused == 0 }
}

extension CommandAnswer {
    /// How much of Apple's notification history is proven: for people one line per app and environment, and what to do
    /// about those that are not proven.
    package init(_ proofs: [HistoryProof]) {
        let open = proofs.filter { $0.unprovenWindows > 0 }.map { proof in
            let place = "\(proof.scope.bundleID) \(proof.scope.environment)"
            if proof.isUnreleased {
                return "\(place): Apple accepts the key in Sandbox, the app was never released"
            }
            return "\(place): \(proof.unprovenWindows) of \(proof.windows) windows are not proven"
                + (proof.refused > 0 ? "; Apple's history lists what Apple did not sign" : "")
                + (proof.lastReason.map { " (\($0))" } ?? "") + "; run it again to go on"
        }
        self.init(
            ["apps": Self.proof.values(of: proofs)],
            text: ([Self.proof.table(of: proofs)] + open).joined(separator: "\n\n"))
    }

    private static let proof = CommandShape<HistoryProof>([
        .init("app", column: "APP", \.scope.bundleID), .init("environment", column: "ENVIRONMENT", \.scope.environment),
        .init("proven_from", \.provenFrom), .init("proven_until", column: "PROVEN UNTIL", \.provenUntil),
        .init("listed", column: "LISTED", \.listed), .init("held_before", column: "HELD BEFORE", \.heldBefore),
        .init("recovered", column: "RECOVERED", \.recovered), .init("refused", column: "REFUSED", \.refused),
        .init("windows", \.windows), .init("unproven_windows", \.unprovenWindows),
        .init("is_unreleased", \.isUnreleased), .init("last_reason", \.lastReason),
    ])

    /// What is missing by Apple's notification history.
    package init(_ checks: [HistoryCheck]) {
        let names = checks.flatMap(\.missing).map { $0.uuidString.lowercased() }
        let shown = names.prefix(20).map { "missing: \($0)" }
        let more = names.count > 20 ? ["and more: --format json names up to 1000"] : []
        self.init(
            ["apps": Self.check.values(of: checks)],
            text: ([Self.check.table(of: checks)] + shown + more).joined(separator: "\n"))
    }

    private static let check = CommandShape<HistoryCheck>([
        .init("app", column: "APP", \.scope.bundleID), .init("environment", column: "ENVIRONMENT", \.scope.environment),
        .init("listed", column: "LISTED", \.listed), .init("held", column: "HELD", \.held),
        .init("recovered", column: "RECOVERED", \.recovered), .init("missing", column: "MISSING", \.missingCount),
        .init("refused", column: "REFUSED", \.refused),
        .init("missing_uuids", \.missing),
    ])
}
