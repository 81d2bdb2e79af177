import Base
import EventStore
import Events
import EvidenceStore
import Foundation
import Glibc
import Postgres
import Synchronization

/// Workers that are killed in turn, and the endpoint that they deliver to.
final class FaultsSite: Sendable {
    /// How long a claim of notifications lasts, in seconds: short, so that other workers soon take over from a killed
    /// one.
    private static let leaseSeconds = 3
    private static let pause = Duration.seconds(2)

    let database: BenchDatabase
    let receiver: FaultsReceiver
    private let programs: ChaosPrograms
    private let settings: [String: String]
    private let count: Int
    private let running = Mutex<[SupervisedProgram]>([])
    private let killed = Atomic(0)

    private init(
        _ programs: ChaosPrograms, _ database: BenchDatabase, _ receiver: FaultsReceiver, workers: Int,
        settings: [String: String]
    ) {
        self.programs = programs
        self.database = database
        self.receiver = receiver
        self.settings = settings
        count = workers
    }

    /// Adds an endpoint, starts workers, and ends them after `body`.
    static func with<T>(
        _ programs: ChaosPrograms, _ database: BenchDatabase, workers: Int, seed: UInt64, workplace: URL,
        _ body: (FaultsSite) async throws -> T
    ) async throws -> T {
        let secretKey = workplace.appending(path: "secret-key").path
        let bytes = [UInt8](repeating: 7, count: SecretKey.size)
        guard let key = SecretKey(bytes: bytes),
            FileManager.default.createFile(
                atPath: secretKey, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw NeverCameAbout(what: "a key file") }
        let receiver = try await FaultsReceiver.start(seed: seed)
        _ = try await EndpointStore(database.pool).add(
            try StrictURL("http://127.0.0.1:\(receiver.port)/hook"), secret: WebhookSecret(), key,
            by: "storehook-bench")
        let site = FaultsSite(
            programs, database, receiver, workers: workers,
            settings: [
                "STOREHOOK_SECRET_KEY_FILE": secretKey, "STOREHOOK_ENDPOINT_HTTP": "on",
                "STOREHOOK_ENDPOINT_NETWORKS": "127.0.0.1", "STOREHOOK_LEASE_SECONDS": "\(leaseSeconds)",
            ])
        do {
            try site.start()
            let result = try await body(site)
            await site.stop()
            await receiver.stop()
            return result
        } catch {
            await site.stop()
            await receiver.stop()
            throw error
        }
    }

    /// Workers that were killed so far.
    var kills: Int { killed.load(ordering: .relaxed) }

    func start() throws {
        let started = try (0..<count).map { _ in try programs.supervised(["work"], database.url, with: settings) }
        running.withLock { $0 = started }
    }

    /// Ends the workers for good.
    func stop() async {
        let stopping = running.withLock { running in
            defer { running = [] }
            return running
        }
        await withTaskGroup { group in
            for program in stopping { group.addTask { await program.stop() } }
        }
    }

    /// Kills one worker after the other, every two seconds, while `body` lasts, and until each was killed twice.
    func killing<T>(_ body: () async throws -> T) async throws -> T {
        let working = running.withLock(\.self)
        let killing = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.pause)
                working[kills % working.count].signal(SIGKILL)
                killed.add(1, ordering: .relaxed)
            }
        }
        defer { killing.cancel() }
        let result = try await body()
        while kills < 2 * working.count { try await Task.sleep(for: .milliseconds(100)) }
        return result
    }

    /// Makes what was put off due at once, and paused endpoints called, while `body` lasts: how long one waits is not what this is
    /// about.
    func hurrying<T>(_ body: () async throws -> T) async throws -> T {
        let hurrying = Task {
            while !Task.isCancelled {
                _ = try? await database.pool.query(
                    """
                    update storehook.delivery_queue set due_at = now(), attempts = 0
                     where lease_token is null and due_at > now()
                    """, deadline: .seconds(60))
                _ = try? await database.pool.query(
                    "update storehook.endpoint_health set probe_at = now() where probe_at > now()")
                try? await Task.sleep(for: .seconds(1))
            }
        }
        defer { hurrying.cancel() }
        return try await body()
    }

    // MARK: - Waiting

    func untilApplied() async throws {
        let outbox = Outbox(database.pool)
        try await patiently("all is applied", within: .seconds(1800)) {
            try await Task.sleep(for: .milliseconds(200))
            return try await outbox.queue.pending() == 0
        }
    }

    /// Waits until every event is written and delivered, and ends the workers.
    /// - Returns: an instant by which every event is written, with no worker running.
    func untilTold() async throws -> PostgresTimestamp {
        for _ in 0..<10 {
            try await patiently("everything is reported and delivered", within: .seconds(1800)) {
                try await Task.sleep(for: .milliseconds(500))
                return try await self.isQuiet()
            }
            await stop()
            let now: PostgresTimestamp = try await database.pool.query("select now()").one().decode(0)
            // Where something has come to be just then, once more.
            if try await isQuiet() { return now }
            try start()
        }
        throw NeverCameAbout(what: "an instant at which nothing is to be reported")
    }

    private func isQuiet() async throws -> Bool {
        try await database.pool.query(
            """
            select t.unplaced = 0 and t.due_seconds is not distinct from 0
                   and not exists (select from storehook.outbox_queue where due_at < now() + interval '10 minutes')
                   and not exists (select from storehook.deliveries_pending)
                   and not exists (select from storehook.endpoint_cursors where position < t.last_position)
              from storehook.telling_status t
            """, deadline: .seconds(60)
        ).one().decode(0)
    }
}
