import AppStorePayloads
import AppStoreVerification
import Events
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Synchronization
import TestSupport
import Worker

/// A queue to work on, and a stand-in for Apple that the workers trust.
struct Bench: EvidenceSite {
    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox
    let authority: SimulatedAuthority

    /// A verifier that serves another app than the simulator's.
    var strangerToTheApp: Verifier { verifier { $0.apps = ["com.example.other": 1] } }

    /// Stores JWS as the receiver would.
    func store(_ texts: [String]) async throws { try await outbox.store(texts.map { Array($0.utf8) }) }

    /// TEST notifications, each with the UUID that it carries.
    func tests(_ count: Int, lane: Int = 1) -> [(uuid: UUID, text: String)] {
        var subscriber = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
        for number in 0..<count { subscriber.test(at: Self.now + Int64(number) * 10_000) }
        return subscriber.takeNotifications().compactMap { notification in
            UUID(uuidString: notification.uuid).map { ($0, notification.signed(by: authority)) }
        }
    }

    /// A worker that does not run yet.
    func worker(
        _ verifier: Verifier? = nil, pool: PostgresPool, listener: PostgresListener? = nil,
        _ configuration: WorkerConfiguration = WorkerConfiguration(name: "test")
    ) -> Worker {
        Worker(
            pool: pool, verifier: verifier ?? self.verifier(), ledger: Ledger(), listener: listener,
            configuration: configuration, logger: quiet)
    }

    /// Runs a worker while `body` lasts, and then stops it gracefully.
    func withWorker<T: Sendable>(
        _ verifier: Verifier? = nil, batch: Int = 100, listening: Bool = false, poll: Duration = .milliseconds(30),
        retries: ClaimPolicy = ClaimPolicy(from: .milliseconds(10), upTo: .milliseconds(50)),
        lease: Duration = .seconds(60), telling: EventRules? = EventRules(), pool own: PostgresPool? = nil,
        _ body: (RunningWorker) async throws -> T
    ) async throws -> T {
        var configuration = WorkerConfiguration(
            name: "test", batchSize: batch, lease: lease, retries: retries, pollInterval: poll)
        configuration.events = telling
        return try await RunningWorker.with(
            on: database, trusting: verifier ?? self.verifier(), configuration, listening: listening, pool: own, body)
    }

    /// Lets a worker do all there is to do.
    func workOff(_ verifier: Verifier? = nil, batch: Int = 100) async throws {
        try await withWorker(verifier, batch: batch) { _ in try await untilDone() }
    }

    /// Derives everything anew.
    /// - Returns: the report, and what is different from what was derived.
    func rebuild(repair: Bool) async throws -> (report: Rebuild.Report, differences: [RowDifference]) {
        let found = Mutex<[RowDifference]>([])
        let rebuild = Rebuild(pool: pool, verifier: verifier(), ledger: Ledger())
        let report = try await rebuild.run(repair: repair) { _ in
        } onDifference: { difference in
            found.withLock { $0.append(difference) }
        }
        return (report, found.withLock(\.self))
    }

    /// Open letters, the oldest first.
    func letters() async throws -> [DeadLetter] { try await outbox.deadLetters(DeadLetterFilter(), limit: 1000) }

    /// Has the database refuse notifications, and none but these.
    func refuse(_ uuids: [UUID], _ state: String, naming more: String = "") async throws {
        try await install(RefusingTrigger(notifications: uuids.map(\.uuidString), state: state, naming: more).script)
    }

    /// Installs SQL of the test's own into the schema.
    func install(_ script: String) async throws {
        try await pool.withTransaction { try $0.executeScript(script) }
    }
}

/// Runs `body` with a bench of its own.
func withBench<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Bench) async throws -> T
) async throws -> T {
    try await withEvidenceSite(connections: 3) { database, pool, authority in
        try await body(Bench(database: database, pool: pool, outbox: Outbox(pool), authority: authority))
    }
}
