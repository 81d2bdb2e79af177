import AppStorePayloads
import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Operations
import Simulation

struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show whom workers on this database have served, and whether these settings do.",
        discussion: """
            With --check it exits with 1 if the database serves an app that these settings do not, or trusts a root that they
            do not: a worker with them would bury what comes for it.

            Example: STOREHOOK_APPS=com.example.app=1234567890 storehook apps --check
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Exit with 1 if the database serves somebody whom these settings do not.") var check = false
    @Option(help: "With --check: the simulator's certificates; what a demonstration with them has left does not count.")
    var pki: String?
    @OptionGroup var output: Output

    private struct Row {
        var environment: String
        var app: String?
        var root: String?
        var servedHere: Bool

        static let shape = CommandShape<Row>([
            .init("environment", column: "ENVIRONMENT", \.environment), .init("app", \.app), .init("root", \.root),
            .column("APP OR ROOT") { $0.app ?? $0.root }, .init("served_here", column: "SERVED HERE", \.servedHere),
        ])
    }

    func run() async throws {
        let settings = try await shared.settings()
        let own = ServedApps(try settings.verifier())
        let recorded = try await Database.with(settings) { try await Outbox($0).served() }
        var missing = recorded.missing(from: own)
        let apps = recorded.apps.map {
            Row(environment: "\($0.environment)", app: $0.bundleID, servedHere: !missing.apps.contains($0))
        }
        let roots = recorded.roots.map {
            Row(environment: "\($0.environment)", root: $0.fingerprint, servedHere: !missing.roots.contains($0))
        }
        let rows = (apps + roots).sorted {
            ($0.app ?? "~", $0.environment, $0.root ?? "") < ($1.app ?? "~", $1.environment, $1.root ?? "")
        }
        output.print(CommandAnswer(Row.shape.values(of: rows), text: Row.shape.table(of: rows)))
        guard check else { return }
        if let pki, FileManager.default.fileExists(atPath: pki) {
            let simulated = try SimulatedAuthority.loadOrGenerate(in: pki).rootFingerprint
            missing.apps = missing.apps.filter { $0.bundleID != SimulatedApp.example.bundleId }
            missing.roots = missing.roots.filter { $0.fingerprint != simulated }
        }
        if let app = missing.apps.min(by: { $0.bundleID < $1.bundleID }) {
            throw CommandFailure(
                "this database serves \(app.bundleID) (\(app.environment)), and these settings do not: name it in "
                    + "STOREHOOK_APPS, or choose another database (DATABASE_URL)")
        }
        if let root = missing.roots.min(by: { $0.fingerprint < $1.fingerprint }) {
            throw CommandFailure(
                "this database trusts root \(root.fingerprint) for \(root.environment), and these settings do not: see "
                    + "STOREHOOK_TRUSTED_ROOTS, or choose another database (DATABASE_URL)")
        }
    }
}
