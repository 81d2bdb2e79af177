import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Crypto
import Foundation
import Logging
import Postgres
import Schema
import ServiceLifecycle
import StandInSupport
import TestSupport
import Testing

@testable import Simulation

@Suite("Lives in the stand-in's shop")
struct ShopLivesTests {
    private static let app = SimulatedApp.example.in(.production)
    /// 2025-09-01T00:00:00Z
    private static let start: Milliseconds = 1_756_684_800_000

    @Test(
        "are told as the shop and Apple's library have them by all readers, with one notification in five lost: at no seam is who paid locked out, and nobody who did not pay has access for longer than is allowed"
    )
    func lives() async throws {
        let seeds = sampledSeeds(of: 500, oneIn: 50)
        let days: Int64 = takesAllSamples ? 240 : 90
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-lives-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let access = try StandInAccess(directory: directory)
        let clock = ManualClock(millisecondsSince1970: Self.start)
        var configuration = StandInConfiguration(app: Self.app)
        configuration.hasEveryVerb = true
        configuration.step = .hours(12)
        let store = SimulatedAppStore(
            configuration, authority: access.authority, stranger: access.authority,
            machine: { clock.millisecondsSince1970 })
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let server = StandInServer(
            configuration, access: access, port: 0, logger: quiet, onListening: { continuation.yield($0) })
        let serving = Task { try await server.answers(for: store).run() }
        defer { serving.cancel() }
        guard let port = await ports.first(where: { _ in true }) else { throw NeverHappened("the stand-in listens") }

        let figures = try await Self.withListeners(access, store, clock) { keyed, keyless, transport in
            try await AppleLibrary.with("http://127.0.0.1:\(port)", access, in: directory, of: Self.app) { library in
                var follower = ShopFollower(
                    store, clock, transport, keyed: keyed, keyless: keyless, library,
                    judgedOneIn: takesAllSamples ? 12 : 6)
                for (number, seed) in seeds.enumerated() {
                    try await follower.add(seed, bornAt: Self.start + .days(Int64(number % 7) + 1))
                }
                try await follower.follow(until: Self.start + .days(days))
                #expect(try await keyed.faults() == [])
                #expect(try await keyless.faults() == [])
                return follower.figures
            }
        }
        for disagreement in figures.disagreements.prefix(10) { Issue.record("\(disagreement)") }
        #expect(figures.disagreements.isEmpty, "\(figures.disagreements.count)")
        var told = figures
        told.disagreements = []
        print("lives in the shop: \(told)")
    }

    private static func withListeners<T>(
        _ access: StandInAccess, _ store: SimulatedAppStore, _ clock: ManualClock,
        _ body: (ShopListener, ShopListener, ShopTransport) async throws -> T
    ) async throws -> T {
        let verifier = Verifier(
            configuration: VerifierConfiguration(
                apps: [app.bundleId: app.appAppleId], environments: [.production],
                trustedRoots: Set([Fingerprint(access.authority.rootFingerprint)].compactMap(\.self)))
        ) { Timestamp(millisecondsSince1970: clock.millisecondsSince1970) }
        let transport = ShopTransport(store)
        let client = AppStoreClient(
            Credentials(
                bundleId: app.bundleId, issuerId: access.issuerId, keyId: access.keyId,
                key: try SigningKey(pem: String(contentsOfFile: access.privateKeyFile, encoding: .utf8))),
            transport: transport, clock: ImpatientClock(), verifier: verifier, budget: RateBudget(share: 1),
            policy: CallPolicy(maximumAttempts: 2, firstDelay: .milliseconds(1)), jitter: { 1 })
        // As other sites of this target have it: one template serves all.
        let script = "select storehook.ensure_outbox_partitions()"
        return try await withMigratedDatabase(Schema.migrations, then: script) { one in
            try await withMigratedDatabase(Schema.migrations, then: script) { other in
                try await one.withPool(3) { one in
                    try await other.withPool(3) { other in
                        let keyed = ShopListener(one, trusting: verifier, client)
                        let keyless = ShopListener(other, trusting: verifier, nil)
                        for listener in [keyed, keyless] { try await listener.begin(at: start) }
                        return try await body(keyed, keyless, transport)
                    }
                }
            }
        }
    }
}
