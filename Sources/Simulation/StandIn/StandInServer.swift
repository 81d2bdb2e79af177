import AppStorePayloads
import Base
import Foundation
import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// A stand-in for Apple's servers: the App Store Server API, verifyReceipt, notifications, and simulated customers.
public struct StandInServer: Service {
    private let configuration: StandInConfiguration
    private let access: StandInAccess
    private let host: String
    private let port: Int
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void
    private let clock: @Sendable () -> Milliseconds

    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - onListening: called with the port once connections are accepted.
    ///   - clock: the time that the store's own time is counted from; the machine's by default.
    public init(
        _ configuration: StandInConfiguration, access: StandInAccess, host: String = "127.0.0.1", port: Int,
        logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }, clock: (@Sendable () -> Milliseconds)? = nil
    ) {
        self.configuration = configuration
        self.access = access
        self.host = host
        self.port = port
        self.logger = logger
        self.clock = clock ?? { Int64(Date().timeIntervalSince1970 * 1000) }
        self.onListening = onListening
    }

    /// Serves until graceful shutdown; the shop is then kept, where there is a file for it.
    ///
    /// - Throws: ``StandInFault``, in one line what is wrong with that file; ``StandInPortFault`` where it cannot listen; or what the
    ///   system says.
    public func run() async throws {
        let store = SimulatedAppStore(
            configuration, authority: access.authority, stranger: try SimulatedAuthority.generate(),
            machine: clock)
        if let path = configuration.stateFile { try await store.resume(from: path) }
        await store.open()
        try await store.save()
        let start = Start()
        let application = try await answers(for: store) { start.isListening.store(true, ordering: .releasing) }
        let poster = configuration.notifyURL.map(NotificationPoster.init(url:))
        do {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    do {
                        try await application.run()
                    } catch  where !start.isListening.load(ordering: .acquiring) && !Task.isCancelled {
                        throw StandInPortFault(host: host, port: port, code: (error as? IOError)?.errnoCode)
                    }
                }
                group.addTask { try await live(store) }
                if let poster { group.addTask { try await post(store, poster) } }
                // The server ends by graceful shutdown, or any of them by a failure; the rest ends with it.
                try await group.next()
                group.cancelAll()
            }
        } catch {
            await poster?.shutdown()
            try? await store.close()
            throw error
        }
        await poster?.shutdown()
        try await store.close()
    }

    /// Whether connections were ever accepted.
    private final class Start: Sendable {
        let isListening = Atomic(false)
    }

    /// Answers requests about a shop; by itself the shop does not live.
    func answers(
        for store: SimulatedAppStore, onStart: @escaping @Sendable () -> Void = {}
    ) async throws -> any Service {
        let receipts = Receipts(sharedSecret: access.sharedSecret, bundleId: configuration.app.bundleId)
        let check = try await TokenCheck(
            publicKeyPEM: access.publicKeyPEM, keyId: access.keyId, issuerId: access.issuerId,
            bundleId: configuration.app.bundleId)
        let onListening = onListening
        var quiet = logger
        quiet.logLevel = max(.notice, logger.logLevel)
        return Application(
            responder: StandInResponder(store: store, receipts: receipts, check: check),
            server: .http1(configuration: .init(additionalChannelHandlers: [AnswerDate(store.answerClock)])),
            configuration: .init(address: .hostname(host, port: port), serverName: "storehook app-store"),
            onServerRunning: { channel in
                onStart()
                onListening(channel.localAddress?.port ?? 0)
            }, logger: quiet)
    }

    /// Lets the shop live until it is cancelled.
    private func live(_ store: SimulatedAppStore) async throws {
        while !Task.isCancelled {
            await store.live()
            try await store.save()
            // A person does not notice this delay, and who asks meanwhile sees the shop brought up to now.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Posts what is due until it is cancelled. Runs beside `live`, so that a slow receiver does not stop the shop.
    private func post(_ store: SimulatedAppStore, _ poster: NotificationPoster) async throws {
        while !Task.isCancelled {
            let posts = try await store.takePosts(NotificationPoster.width * 4)
            await poster.post(posts, store)
            if posts.isEmpty { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }
}

/// Hands each request to the API that it is for.
struct StandInResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let store: SimulatedAppStore
    let receipts: Receipts
    let check: TokenCheck

    func respond(to request: Request, context: Context) async throws -> Response {
        var request = request
        // Receipts of old apps are the longest that comes.
        let buffer = try await request.collectBody(upTo: 4 << 20)
        let call = Call(
            method: request.method.rawValue, target: request.head.path ?? "/", authority: request.head.authority,
            authorization: request.headers[.authorization], body: Array(buffer.readableBytesView))
        let response = await answer(call)
        // What an answer says is saved before it is sent, and not sent before its date.
        try await store.save()
        let lead = await store.lead
        if lead > 0 { try await Task.sleep(for: .milliseconds(lead)) }
        return response
    }

    private func answer(_ call: Call) async -> Response {
        do throws(Refusal) {
            switch call.parts.first {
            case "inApps":
                let now = Int64(Date().timeIntervalSince1970) + store.answerClock.secondsAhead
                guard await !store.faults.keyRefusedIn.contains(call.place),
                    await check.accepts(call.authorization, at: now)
                else {
                    throw Refusal(status: 401, "Unauthenticated")
                }
                let answer = try await ServerAPI(store: store).answer(call)
                return Self.response(answer.status, answer.value)
            case "verifyReceipt": return Self.response(200, try await receipts.answer(call, store))
            case "stand-in":
                return Self.response(200, try await ControlAPI(store: store, receipts: receipts).answer(call))
            case "healthz": return Self.response(200, nil)
            default:
                throw Refusal(
                    status: 404,
                    "Not Found: Apple's paths begin with /inApps or /verifyReceipt, the stand-in's own with /stand-in, and GET /stand-in lists these"
                )
            }
        } catch {
            return Self.response(error, isControl: call.parts.first == "stand-in")
        }
    }

    private static func response(_ status: Int, _ value: JSONValue?) -> Response {
        guard let value else { return Response(status: .init(code: status)) }
        return Response(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(string: value.text)))
    }

    private static func response(_ refusal: Refusal, isControl: Bool) -> Response {
        var headers: HTTPFields = [:]
        if let retryAfter = refusal.retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let allow = refusal.allow { headers[.allow] = allow }
        if let code = refusal.code {
            headers[.contentType] = "application/json"
            let body: JSONValue = ["errorCode": .integer(code), "errorMessage": .string(refusal.message)]
            return Response(
                status: .init(code: refusal.status), headers: headers,
                body: .init(byteBuffer: ByteBuffer(string: body.text)))
        }
        if isControl {
            headers[.contentType] = "application/json"
            let body: JSONValue = ["error": .string(refusal.message)]
            return Response(
                status: .init(code: refusal.status), headers: headers,
                body: .init(byteBuffer: ByteBuffer(string: body.text)))
        }
        headers[.contentType] = "text/plain"
        return Response(
            status: .init(code: refusal.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: refusal.message)))
    }
}
