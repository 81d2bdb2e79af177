import AppStorePayloads
import AppleRecords
import Base
import Foundation
import Pipeline
import Postgres
import Simulation
import StandInSupport
import Synchronization
import TestSupport

@testable import AppStoreServerAPI
@testable import AppleSync

/// A site whose Apple is the stand-in: what it posts is kept back until a test delivers it.
struct ExtensionShop: Sendable {
    static let monthly = "com.example.storehook.premium.monthly"

    let site: Site
    let standIn: RunningStandIn
    private let delivered = Counted()

    /// Runs `body` with a shop of its own.
    /// - Parameter behind: by how many milliseconds its time is behind ours, for tests that advance it.
    static func with(
        behind: Int64 = 0, _ body: @escaping @Sendable (ExtensionShop) async throws -> Void
    ) async throws {
        try await withSite { site in
            try await RunningStandIn.with(clock: { MachineClock().now().millisecondsSince1970 - behind }) { standIn in
                try await body(ExtensionShop(site: site, standIn: standIn))
            }
        }
    }

    var extensions: RenewalExtensions { RenewalExtensions(site.pool) }

    /// Waits for nothing: each step looks at all there is.
    static var impatient: ExtensionDuty.Patience {
        var patience = ExtensionDuty.Patience()
        patience.findingOut = .zero
        patience.status = .zero
        patience.notification = .zero
        return patience
    }

    private func clients(_ transport: (any AppStoreTransport)?) throws -> AppleClients {
        AppleClients(
            [try transport.map { try standIn.client(over: $0) } ?? standIn.client], in: [.production])
    }

    private func following(_ patience: ExtensionDuty.Patience) -> ExtensionDuty {
        ExtensionDuty(extensions, site.history, patience: patience, logger: quiet, metrics: AppleSyncMetrics())
    }

    func hand(over transport: (any AppStoreTransport)? = nil) throws -> ExtensionByHand {
        ExtensionByHand(extensions, following(.init()), try clients(transport), owner: "somebody")
    }

    func duty(
        _ name: String = "test", _ patience: ExtensionDuty.Patience = .init(),
        over transport: (any AppStoreTransport)? = nil
    ) throws -> DutyRunner<ExtensionDuty> {
        DutyRunner(following(patience), try clients(transport), owner: name, interval: .zero)
    }

    /// Whatever is put off is due now, and looked after.
    func step(_ duty: DutyRunner<ExtensionDuty>) async throws {
        try await site.pool.query("update storehook.extension_queue set due_at = now() where lease_token is null")
        guard case .worked = try await duty.step() else { throw NeverHappened("an extension is due") }
    }

    /// A customer buys. Returns the original transaction's id.
    func buy(_ product: String = monthly, offer: String? = nil) async throws -> String {
        let more = offer.map { #","offer":"\#($0)""# } ?? ""
        let sold = try await standIn.shop(
            "purchases", #"{"productId":"\#(product)","environment":"Production"\#(more)}"#)
        guard let id = sold.string("originalTransactionId") else { throw NeverHappened("it is sold") }
        return id
    }

    func wish(
        _ subject: RenewalExtension.Subject, _ name: String = UUID().uuidString.lowercased(), days: Int64 = 7
    ) -> RenewalExtensions.Wish {
        RenewalExtensions.Wish(
            in: Site.scope, for: subject, requestIdentifier: name, days: days, reasonCode: 3, by: "somebody",
            why: "outage")
    }

    /// How many requests of this kind the stand-in has done.
    func done(_ kind: String) async throws -> Int {
        try await standIn.shop("received").objects("list")?.count { $0.string("kind") == kind } ?? 0
    }

    /// Waits until the stand-in has posted so many of a type since the last delivery, and lets a worker apply what it posted.
    /// - Parameter isKept: which of them come through.
    func deliver(
        _ type: String, _ count: Int = 1, where isKept: @Sendable (String) -> Bool = { _ in true }
    ) async throws {
        var posts: [String] = []
        try await eventually("\(count) of \(type) are posted") {
            posts = try standIn.receiver.requests.dropFirst(delivered.value).map(\.text).map(Self.jws)
            return try posts.count { try Self.payload($0).contains("\"\(type)\"") } >= count
        }
        delivered.value += posts.count
        try await site.post(posts.filter { try isKept(Self.payload($0)) })
        try await site.workOff(trusting: standIn.trustedRoots)
    }

    private static func jws(_ post: String) throws -> String {
        guard let found = post.firstMatch(of: /"signedPayload":"([^"]+)"/) else { throw NeverHappened("it is a post") }
        return String(found.1)
    }

    private static func payload(_ jws: String) throws -> String {
        let segments = jws.split(separator: ".")
        guard segments.count == 3, let bytes = Base64.url.decode(Array(segments[1].utf8)) else {
            throw NeverHappened("it is signed")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// When a subscription's latest period ends, by what is derived here.
    func expiry(of id: String) async throws -> PostgresTimestamp {
        try await site.value(
            "select expires_at from storehook.subscription_status where original_transaction_id = \(id)")
    }
}

/// A number that several share.
final class Counted: Sendable {
    private let number = Mutex(0)

    var value: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }
}

/// A way to Apple on which requests or answers of one kind get lost.
struct LossyTransport: AppStoreTransport {
    enum Loss: Sendable {
        /// Apple does what it is asked, and its answer is lost.
        case answer
        /// Apple does what it is asked, and the process that asked is gone by then.
        case asker
        /// Apple is not reached.
        case request
        /// Something in between answers instead of Apple.
        case proxy
    }

    let base: any AppStoreTransport
    let method: String
    let part: String
    let loss: Loss

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        guard request.method.rawValue == method, request.url.contains(part) else {
            return try await base.send(request)
        }
        switch loss {
        case .request: throw TransportFault.notConnected
        case .proxy: return TransportAnswer(status: 404)
        case .answer:
            _ = try await base.send(request)
            throw TransportFault.disconnected
        case .asker:
            _ = try await base.send(request)
            throw CancellationError()
        }
    }
}

/// Apple, who answers with another transaction than the one that was asked about.
struct SwappingTransport: AppStoreTransport {
    let base: any AppStoreTransport
    let asked: String
    let answered: String

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        let url = request.url.replacing("/transactions/\(asked)", with: "/transactions/\(answered)")
        return try await base.send(
            TransportRequest(method: request.method, url: url, token: request.token, body: request.body))
    }
}

/// Apple, who does not say when it was done.
struct UndatedTransport: AppStoreTransport {
    let base: any AppStoreTransport

    func send(_ request: TransportRequest) async throws -> TransportAnswer {
        var answer = try await base.send(request)
        let text = String(decoding: answer.body, as: UTF8.self)
        answer.body = Array(text.replacing("\"completeDate\"", with: "\"unheardOf\"").utf8)
        return answer
    }
}
