import AppStorePayloads
import AppleRecords
import Base
import Postgres
import PurchaseStore

extension DatabaseChecks {
    /// How long a test notification may take.
    private static let canaryTolerance = Duration.seconds(600)

    /// Whether Apple's test notifications come through.
    func canary() async throws -> Finding {
        let statuses = try await Canaries(pool).statuses()
        guard !statuses.isEmpty else {
            return .skipped(
                "canary",
                "Apple was never asked for a test notification: STOREHOOK_CANARY_MINUTES has the workers do so, storehook apple "
                    + "test does it once")
        }
        let faults = statuses.compactMap(Self.fault)
        guard faults.isEmpty else { return .failed("canary", faults.joined(separator: "; ")) }
        let texts = statuses.map { status in
            let place = "\(status.scope.bundleID) \(status.scope.environment)"
            guard let askedAt = status.askedAt, let took = status.took else {
                return "\(place): the first is under way"
            }
            return "\(place): the one of \(Timestamp(askedAt)) was applied after \(took.age)"
        }
        return .ok("canary", texts.joined(separator: "; "))
    }

    private static func fault(_ status: CanaryStatus) -> String? {
        let place = "\(status.scope.bundleID) \(status.scope.environment)"
        if let missing = status.missing, missing > canaryTolerance {
            let result = status.postResult.map { ", and Apple says \($0)" } ?? ""
            return
                "\(place): a test notification asked for \(missing.age) ago has not come through\(result); see "
                + "StorehookCanaryMissing in deploy/runbook.md"
        }
        guard let outcome = status.outcome, !["applied", "recovered", "overdue", "dead_letter"].contains(outcome) else {
            return nil
        }
        return "\(place): Apple posts no test notification (\(outcome)): storehook apple test tells what to do"
    }
}
