import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import Foundation
import Pipeline
import Postgres
import ServiceLifecycle
import StandInSupport
import TestSupport

@testable import Simulation

/// The stand-in's shop, a worker and the account API, over HTTP and on one database, all at one hour that the test sets.
struct LivesSite: Sendable {
    static let app = SimulatedApp.example.in(.production)
    /// 2025-09-01T00:00:00Z
    static let start: Milliseconds = 1_756_684_800_000
    static let catalog = shopLivesCatalog()

    let store: SimulatedAppStore
    let clock: ManualClock
    let shop: Shop
    /// Where the stand-in answers.
    let storeURL: URL
    /// Where the account API answers.
    let apiURL: URL
    let pipeline: EvidencePipeline
    private let worker: SteppedWorker

    /// Runs all of it while `body` lasts.
    static func with<T: Sendable>(_ body: @Sendable (LivesSite) async throws -> T) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-lives-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let access = try StandInAccess(directory: directory)
        let clock = ManualClock(millisecondsSince1970: start)
        var configuration = StandInConfiguration(app: app)
        configuration.hasEveryVerb = true
        configuration.step = .hours(6)
        let store = SimulatedAppStore(
            configuration, authority: access.authority, stranger: access.authority,
            machine: { clock.millisecondsSince1970 })
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let server = StandInServer(
            configuration, access: access, port: 0, logger: quiet, onListening: { continuation.yield($0) })
        let serving = Task { try await server.answers(for: store).run() }
        defer { serving.cancel() }
        guard let port = await ports.first(where: { _ in true }) else { throw NeverHappened("the stand-in listens") }
        let storeURL = try url(port)
        return try await Shop.open(
            signedBy: access.authority, catalog: catalog,
            // Before anything else is asked of the database.
            url: { database in
                try await database.withPool(1) { pool in
                    try await pool.stopTime(at: start)
                    // Its clock is a table there, by which the planner estimates so much that it would compile each statement.
                    try await pool.query("alter database \(unescaped: database.name) set jit = off")
                }
                return database.url
            }
        ) { shop in
            let verifier = Verifier(
                configuration: VerifierConfiguration(
                    apps: [app.bundleId: app.appAppleId], environments: [.production],
                    trustedRoots: Set([Fingerprint(access.authority.rootFingerprint)].compactMap(\.self)))
            ) { Timestamp(millisecondsSince1970: clock.millisecondsSince1970) }
            return try await body(
                LivesSite(
                    store: store, clock: clock, shop: shop, storeURL: storeURL, apiURL: try url(shop.api.port),
                    pipeline: EvidencePipeline(shop.api.observer),
                    worker: SteppedWorker(shop.api.observer, trusting: verifier)))
        }
    }

    private static func url(_ port: Int) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw NeverHappened("a URL of \(port)") }
        return url
    }

    /// The present hour, in milliseconds since 1970.
    var now: Milliseconds { clock.millisecondsSince1970 }

    /// Puts every clock to an instant, and lets the customers live up to it.
    func go(to instant: Milliseconds) async throws {
        clock.set(millisecondsSince1970: instant)
        // The shop dates what is done after all that was seen before, by milliseconds: the server's clock is ahead of those.
        try await shop.api.observer.setInstant(instant + 1000)
        await store.live()
    }

    /// Brings the server what Apple posts.
    func hear(_ posts: [ListedPost]) async throws {
        var bodies: [String] = []
        for post in posts { bodies.append(await store.signed(post)) }
        try await worker.hear(bodies)
    }

    /// A customer whose life a seed decides, whatever other customers there are. What the customer buys is for an account of the same name.
    func add(_ seed: UInt64) async -> (name: String, birth: Milliseconds) {
        let name = "life-\(seed)"
        let birth = Self.start + .days(Int64(seed % 5) + 1)
        await store.enter(
            Customer(
                name, by: seed, token: AccountToken.of(name).description, bornAt: birth,
                in: await store.app(.production)))
        await store.change(name) { $0.life.begin(at: birth) }
        return (name, birth)
    }
}

extension LivesSite {
    /// Whether the server gives an account access now, and its tier by the server.
    func standing(of account: String) async throws -> (allows: Bool, tier: String) {
        var standing: (allows: Bool, tier: String)?
        // On a machine that has much to do, the database may seem to be away.
        try await eventually("the server states how \(account) stands") {
            let answer = try await shop.get("/v1/subscriptions/status", as: account)
            guard answer.status == 200, let object = answer.object, let allows = object.bool("hasActiveSubscription"),
                let tier = object.string("tier")
            else { return false }
            standing = (allows, tier)
            return true
        }
        guard let standing else { throw NeverHappened("the server states how \(account) stands") }
        return standing
    }
}
