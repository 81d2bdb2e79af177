package import AppStorePayloads
package import AppStoreServerAPI
package import AppStoreVerification
package import AppleSync
import AsyncHTTPClient
package import Base
import Foundation
import Logging
import NIOCore
import NIOHTTP1
package import Simulation
package import TestSupport

/// A stand-in that runs while a test does, the receiver it posts to, and a client of ours that asks it.
package struct RunningStandIn: Sendable {
    /// Where it is.
    package let url: String
    /// What a client needs.
    package let access: StandInAccess
    /// Where its root and its key are.
    package let directory: String
    /// What it posts to.
    package let receiver: ScriptedServer
    /// Asks it.
    package let client: AppStoreClient
    /// Asks it about receipts, as an app without a key does.
    package let receipts: ReceiptClient
    /// Verifies what it signs.
    package let verifier: Verifier
    /// Over which the clients ask.
    package let transport: HTTPTransport
    private let app: SimulatedApp

    /// Runs one while `body` lasts.
    /// - Parameters:
    ///   - answers: what the receiver says to each post.
    ///   - clock: the time that the store's own time is counted from; the machine's by default.
    package static func with<T: Sendable>(
        _ configuration: StandInConfiguration = StandInConfiguration(),
        answering answers: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer = { _ in .json(200, "")
        },
        clock: (@Sendable () -> Int64)? = nil,
        _ body: @escaping @Sendable (RunningStandIn) async throws -> T
    ) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-shop-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let access = try StandInAccess(directory: directory)
        let receiver = try ScriptedServer(answers)
        defer { receiver.stop() }
        var setUp = configuration
        setUp.notifyURL = "http://127.0.0.1:\(receiver.port)/webhooks/apple"
        var logger = Logger(label: "stand-in")
        logger.logLevel = .critical
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let server = StandInServer(
            setUp, access: access, port: 0, logger: logger, onListening: { continuation.yield($0) }, clock: clock)
        return try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask {
                try await server.run()
                return nil
            }
            group.addTask {
                for await port in ports {
                    let running = try RunningStandIn(
                        "http://127.0.0.1:\(port)", access, directory, receiver, configuration.app)
                    do {
                        let value = try await body(running)
                        await running.transport.shutdown()
                        return value
                    } catch {
                        await running.transport.shutdown()
                        throw error
                    }
                }
                throw NeverHappened("the stand-in listens")
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw NeverHappened("the stand-in goes on")
        }
    }

    private init(
        _ url: String, _ access: StandInAccess, _ directory: String, _ receiver: ScriptedServer, _ app: SimulatedApp
    ) throws {
        self.url = url
        self.access = access
        self.directory = directory
        self.receiver = receiver
        transport = HTTPTransport()
        self.app = app
        verifier = Self.verifier(access, app)
        client = try Self.client(url, access, app, over: transport)
        guard let secret = SharedSecret(access.sharedSecret) else { throw NeverHappened("a shared secret of one word") }
        receipts = ReceiptClient(
            bundleId: app.bundleId, secret: secret, in: [.production, .sandbox],
            hosts: try AppStoreHosts(standIn: url, for: [.production, .sandbox]), transport: transport,
            clock: MachineClock(), budget: RateBudget(share: 1), policy: Self.policy, jitter: { 1 })
    }

    private static let policy = CallPolicy(firstDelay: .milliseconds(20), freshDelays: [.milliseconds(20)])

    private static func verifier(_ access: StandInAccess, _ app: SimulatedApp) -> Verifier {
        Verifier(
            configuration: VerifierConfiguration(
                apps: [app.bundleId: app.appAppleId], trustedRoots: roots(access)),
            clock: MachineClock().now)
    }

    /// The roots that its signatures are verified by.
    package var trustedRoots: Set<Fingerprint> { Self.roots(access) }

    private static func roots(_ access: StandInAccess) -> Set<Fingerprint> {
        Set([Fingerprint(access.authority.rootFingerprint)].compactMap(\.self))
    }

    /// A client that asks over another transport.
    package func client(over transport: any AppStoreTransport) throws -> AppStoreClient {
        try Self.client(url, access, app, over: transport)
    }

    private static func client(
        _ url: String, _ access: StandInAccess, _ app: SimulatedApp, over transport: any AppStoreTransport
    ) throws -> AppStoreClient {
        let key = try SigningKey(pem: String(contentsOfFile: access.privateKeyFile, encoding: .utf8))
        return AppStoreClient(
            Credentials(bundleId: app.bundleId, issuerId: access.issuerId, keyId: access.keyId, key: key),
            hosts: try AppStoreHosts(standIn: url, for: [.production, .sandbox]), transport: transport,
            clock: MachineClock(), verifier: verifier(access, app), budget: RateBudget(share: 1), policy: policy,
            jitter: { 1 })
    }

    /// What a person does: a path under `/stand-in`, or any other with a leading slash.
    @discardableResult
    package func shop(_ path: String, _ body: String? = nil) async throws -> JSONObject {
        var request = HTTPClientRequest(url: url + (path.hasPrefix("/") ? path : "/stand-in/\(path)"))
        if let body {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = Array(try await response.body.collect(upTo: 8 << 20).readableBytesView)
        // A list is read as the member of an object.
        let object = try JSONDocument(text.first == UInt8(ascii: "[") ? Array("{\"list\":".utf8) + text + [0x7D] : text)
            .object
        guard let object else { throw NeverHappened("an object from \(path)") }
        return object
    }
}
