import AppStorePayloads
import AppleRecords
import Base
import Postgres
import PurchaseStore

extension DatabaseChecks {
    /// How long ago the proof may end; Apple is asked hour by hour.
    private static let proofTolerance = Duration.seconds(4 * 3600)

    /// Whether everything that Apple lists is held.
    func history() async throws -> Finding {
        let proofs = try await History(pool).proofs()
        guard !proofs.isEmpty else {
            return .skipped(
                "history",
                "Apple was never asked whether something is missing: set STOREHOOK_APPLE_KEYS for the workers, which ask, or "
                    + "run storehook reconcile")
        }
        let faults = proofs.compactMap(Self.fault)
        guard faults.isEmpty else { return .failed("history", faults.joined(separator: "; ")) }
        let texts = proofs.map { proof in
            let place = "\(proof.scope.bundleID) \(proof.scope.environment)"
            if proof.isUnreleased { return "\(place): Apple accepts the key in Sandbox, the app was never released" }
            guard let until = proof.provenUntil, proof.age <= Self.proofTolerance else {
                return
                    "\(place): Apple is being asked, \(proof.windows - proof.unprovenWindows) of \(proof.windows) done"
            }
            return "\(place) up to \(Timestamp(until)), \(proof.recovered) recovered"
        }
        return .ok("history", "all that Apple lists is held: " + texts.joined(separator: "; "))
    }

    private static func fault(_ proof: HistoryProof) -> String? {
        let place = "\(proof.scope.bundleID) \(proof.scope.environment)"
        if proof.refusedWindows > 0 {
            return
                "\(place): Apple's history lists \(proof.refused) that Apple did not sign, in \(proof.refusedWindows) "
                + "windows; see StorehookHistoryUnproven in deploy/runbook.md"
        }
        // The first walk, through all that Apple keeps, takes its time.
        guard !proof.isUnreleased, proof.age > proofTolerance, proof.followedFor > proofTolerance else { return nil }
        return
            "\(place): nothing is proven for the last \(proof.age.age) (\(proof.lastReason ?? "nobody asks Apple")): does a "
            + "worker with the key run? storehook reconcile tells more"
    }
}
