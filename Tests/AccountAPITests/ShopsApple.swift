import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import Base
import Pipeline
import Postgres
import Simulation
import StandInSupport
import TestSupport

/// The clients that a shop's account API asks Apple with: none, by default.
struct ShopsApple: Sendable {
    var server: AppStoreClient?
    var receipts: ReceiptClient?

    init(server: AppStoreClient? = nil, receipts: ReceiptClient? = nil) {
        self.server = server
        self.receipts = receipts
    }

    /// verifyReceipt at a server of the test's own, asked once.
    init(receiptsAt server: ScriptedServer, over transport: HTTPTransport) throws {
        guard let secret = SharedSecret("hunter2") else { throw NeverHappened("a shared secret of one word") }
        let url = "http://127.0.0.1:\(server.port)"
        receipts = ReceiptClient(
            bundleId: SimulatedApp.example.bundleId, secret: secret, in: [.production, .sandbox],
            hosts: try AppStoreHosts(standIn: url, for: [.production, .sandbox]), transport: transport,
            clock: MachineClock(), budget: RateBudget(share: 1),
            policy: CallPolicy(maximumAttempts: 1, firstDelay: .milliseconds(1)), jitter: { 1 })
    }

    func intake(_ verifier: Verifier, _ pool: PostgresPool) -> ReceiptIntake {
        ReceiptIntake(
            verifier, apps: [.init(SimulatedApp.example.bundleId, server: server, receipts: receipts)],
            history: History(pool))
    }

    func refresh(_ pool: PostgresPool) -> AccountRefresh? {
        server.map { AccountRefresh(History(pool), AppleClients([$0], in: [.production, .sandbox])) }
    }
}
