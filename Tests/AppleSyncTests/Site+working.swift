import AppStoreVerification
import Base
import EvidenceStore
import Postgres
import PurchaseStore
import StandInSupport
import Subscriptions
import TestSupport
import Worker

extension Site {
    /// Lets a worker do all there is to do.
    /// - Parameter policy: by which statuses are derived; without any leeway by default.
    func workOff(trusting roots: Set<Fingerprint>? = nil, policy: StatusPolicy = StatusPolicy()) async throws {
        let configuration = WorkerConfiguration(
            name: "test", retries: ClaimPolicy(from: .milliseconds(10), upTo: .milliseconds(50)),
            pollInterval: .milliseconds(30))
        try await RunningWorker.with(
            on: database, trusting: roots.map { verifier(trusting: $0) } ?? verifier, configuration,
            ledger: Ledger(policy: policy)
        ) { _ in
            try await eventually("the queue is empty") {
                try await value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
            }
        }
    }
}
