import AccountStore
import AppStoreVerification
import Base
import EvidenceStore
import Foundation
import Logging
import Pipeline
import Postgres
import PurchaseStore
import ServiceLifecycle
import Simulation
import StandInSupport
import Synchronization
import TestSupport
import Testing
import Worker

@Suite("Lines about what becomes of customers")
struct LifeLogTests {
    @Test("one is written a second, whatever comes, with how many came; nothing is put together for those that are not")
    func flood() {
        let (log, clock) = (RecordedLog(), ManualInstant())
        let lives = LifeLog(log.logger, now: { clock.now })
        var described = 0
        let (seconds, each) = (20, 5000)
        for _ in 0..<seconds {
            for _ in 0..<each {
                lives.note(.applied, times: 2) {
                    described += 1
                    return ["status": "active"]
                }
                clock.advance(by: .microseconds(1_000_000 / each))
            }
        }
        let lines = log.lines("Applied a notification")
        #expect(lines.count == seconds && described == seconds)
        #expect(
            lines.map { $0.metadata["count"] ?? "-" } == ["2"] + Array(repeating: "\(2 * each)", count: seconds - 1))
        // What has another thing to say does not wait for it.
        lives.note(.ended, times: 1) { ["tier": "free"] }
        #expect(log.lines("Ended a trial").map(\.metadata) == [["tier": "free"]])
    }

    @Test("none is due, and none is put together, where the log leaves out what is usual")
    func quietLog() {
        let log = RecordedLog()
        var logger = log.logger
        logger.logLevel = .warning
        let lives = LifeLog(logger)
        lives.note(.applied, times: 1) {
            Issue.record("it was put together")
            return [:]
        }
        #expect(log.lines.isEmpty)
    }

    /// The clock of PostgreSQL, by which a status is given: what is posted here has dates of today.
    private static func now() -> Milliseconds { Int64(Date().timeIntervalSince1970) * 1000 }

    private func verifier(_ bench: Bench) -> Verifier {
        let configuration = VerifierConfiguration(
            apps: [Bench.app.bundleId: Bench.app.appAppleId],
            trustedRoots: Set([Fingerprint(bench.authority.rootFingerprint)].compactMap(\.self)))
        return Verifier(configuration: configuration) { Timestamp(millisecondsSince1970: Self.now()) }
    }

    /// Runs a worker that logs while `body` lasts.
    private func withWorker(
        _ bench: Bench, batch: Int, every interval: Duration, _ body: (RecordedLog) async throws -> Void
    ) async throws {
        let log = RecordedLog()
        var configuration = WorkerConfiguration(name: "test", batchSize: batch, pollInterval: .milliseconds(20))
        configuration.lineInterval = interval
        let pool = PostgresPool(configuration: bench.database.configuration, size: 2, logger: quiet)
        let worker = Worker(
            pool: pool, verifier: verifier(bench), ledger: Ledger(), listener: nil, configuration: configuration,
            logger: log.logger)
        let group = ServiceGroup(services: [pool, worker] as [any Service], logger: quiet)
        let running = Task { try await group.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(log)) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    private static let catalog = """
        app: \(Bench.app.bundleId)
        tiers: [{id: free}, {id: premium}]
        products: [{id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: premium, period: month}]
        """

    @Test(
        "an applied notification's says whose it is, what it was and is, its tier and end, and why, and nothing personal"
    )
    func applied() async throws {
        try await withBench { bench in
            _ = try await AccountStore(bench.pool).apply(Self.catalog, by: "test")
            let token = "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10"
            let day: Int64 = 86_400_000
            var subscriber = SimulatedSubscriber(appAccountToken: token, lane: 1, seed: 1)
            let start = Self.now() - 3 * day
            let line = subscriber.buy(.premiumMonthly, at: start)
            subscriber.switchAutoRenew(line, on: false, at: start + day)
            subscriber.refund(subscriber.latest(of: line), reason: 1, at: start + 2 * day)
            subscriber.test(at: start + 2 * day + 1000)
            let coins = subscriber.charge(.coins, at: start + 2 * day + 2000)
            subscriber.requestRefund(of: coins, reason: "UNINTENDED_PURCHASE", at: start + 2 * day + 3000)
            subscriber.refund(coins, at: start + 2 * day + 4000)
            let notifications = subscriber.takeNotifications()
            let texts = notifications.map { $0.signed(by: bench.authority) }
            try await withWorker(bench, batch: 1, every: .zero) { log in
                try await bench.store(texts)
                try await bench.untilDone()
                try await eventually("a line for each") {
                    log.lines("Applied a notification").count == notifications.count
                }
                // Nothing is applied twice, and what is not applied has no line.
                try await bench.store([texts[0], "junk"])
                try await bench.untilDone()
                let lines = log.lines("Applied a notification").map(\.metadata)
                func all(_ name: String) -> [String] { lines.map { $0[name] ?? "-" } }
                #expect(all("notification_uuid") == notifications.map { $0.uuid.lowercased() })
                #expect(
                    all("type") == [
                        "SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS", "REFUND", "TEST", "ONE_TIME_CHARGE",
                        "CONSUMPTION_REQUEST", "REFUND",
                    ])
                #expect(all("status_before") == ["-", "active", "cancelled", "-", "-", "bought", "bought"])
                #expect(all("status") == ["active", "cancelled", "revoked", "-", "bought", "bought", "refunded"])
                #expect(all("tier") == ["premium", "premium", "free", "-", "free", "free", "free"])
                #expect(all("reason") == ["-", "-", "app_issue", "-", "-", "UNINTENDED_PURCHASE", "other"])
                #expect(all("app_account_token") == [token, token, token, "-", token, token, token])
                #expect(all("environment").allSatisfy { $0 == "Sandbox" })
                #expect(all("ends").prefix(2).allSatisfy { $0.hasPrefix("20") })
                let original = notifications[0].transaction?.originalTransactionId
                #expect(all("original_transaction_id").prefix(3).allSatisfy { $0 == original })
                let known: Set = [
                    "notification_uuid", "outbox_id", "attempt", "type", "subtype", "environment", "app_account_token",
                    "original_transaction_id", "status_before", "status", "tier", "ends", "reason",
                ]
                #expect(lines.allSatisfy { known.isSuperset(of: $0.keys) })
            }
        }
    }

    @Test("a flood of them is one line a second, and the lines count all but those since the last")
    func flooded() async throws {
        try await withBench { bench in
            let count = 600
            let texts = bench.tests(count).map(\.text)
            try await bench.store(texts)
            let start = ContinuousClock.now
            try await withWorker(bench, batch: 20, every: .seconds(1)) { log in
                try await bench.untilDone()
                let lines = log.lines("Applied a notification")
                let seconds = Int((ContinuousClock.now - start) / .seconds(1))
                #expect((1...(seconds + 1)).contains(lines.count), "\(seconds) s")
                let told = lines.map { $0.metadata["count"].flatMap { Int($0) } ?? 1 }
                #expect(told.first == 20 && told.reduce(0, +) <= count)
            }
        }
    }
}

/// An instant that a test moves.
private final class ManualInstant: Sendable {
    private let instant = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { instant.withLock { $0 } }
    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
}
