import AppStorePayloads
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import StandInSupport
import Synchronization
import TestSupport
import Testing
import WebhookSupport

/// One life of a shop, the same in each run: customers who buy, renew, fail to pay and get their money back at instants that are
/// counted from its start, with every program of ours beside it.
struct GoldenLife: Sendable {
    /// One output: what was asked, and what came.
    struct Output: Sendable {
        enum Kind: Sendable { case json, table }

        /// The file that it stands in.
        var file: String
        /// What was asked.
        var question: String
        var kind: Kind
        var text: String
    }

    /// A purchase, as the shop's answer has it.
    struct Sale: Sendable {
        var transactionID: String
        var originalTransactionID: String
        var signedTransaction: String
        var signedRenewal: String?
        var receipt: String
    }

    static let catalog = """
        app: com.example.storehook
        currency: USD
        tiers:
          - id: free
          - id: pro
          - id: premium
        products:
          - {id: weekly, product_id: com.example.storehook.basic.weekly, tier: pro, period: week, price: 1.99, sort_order: 1}
          - {id: basic, product_id: com.example.storehook.basic.monthly, tier: pro, period: month, price: 4.99, sort_order: 2,
             introductory: {type: pay_up_front, duration: 3 months, price: 7.49}}
          - {id: monthly, product_id: com.example.storehook.premium.monthly, tier: premium, period: month, price: 9.99, sort_order: 3}
          - {id: yearly, product_id: com.example.storehook.premium.yearly, tier: premium, period: year, price: 89.99, sort_order: 4,
             introductory: {type: free_trial, duration: 7 days}}
          - {id: lifetime, product_id: com.example.storehook.lifetime.unlock, tier: premium, period: lifetime, sort_order: 5}
        features:
          - id: ai
            limits: {free: no, pro: 3 in total, premium: unlimited}
          - id: words
            limits: {free: 2 in total, pro: 1000 in total, premium: unlimited}
          - id: video
            limits: {free: no, pro: no, premium: yes}
        trial:
          tier: pro
          days: 7
          products: [yearly]
        refunds:
          - types: [consumable]
            answer: {delivery_status: DELIVERED, sample_content_provided: false, refund_preference: DECLINE}
          - answer: {delivery_status: DELIVERED, sample_content_provided: false}
        """

    let site: Site
    let settings: [String: String]
    let api: ServedAPI
    let receiver: Int
    let endpoint: WebhookReceiver
    let directory: String
    /// The life's start, in milliseconds since 1970.
    let start: Int64
    fileprivate let store: RunningStandIn
    fileprivate let delivered = Delivered()

    fileprivate let signed = Signed()

    /// How many of the shop's posts were handed on.
    fileprivate final class Delivered: Sendable {
        let count = Mutex(0)
    }

    /// The app's tokens, by account.
    fileprivate final class Signed: Sendable {
        let tokens = Mutex<[String: String]>([:])
    }

    /// Runs `body` at the end of a life, with everything still running.
    static func with<T: Sendable>(_ body: @escaping @Sendable (GoldenLife, [String: Sale]) async throws -> T)
        async throws -> T
    {
        // Half an hour beside a whole number of days ago: of no instant can there be a doubt whether it is the life's or the machine's.
        // A whole minute, because tables show no seconds.
        let minute = Int64(Date().timeIntervalSince1970) / 60
        let start = (minute - 100 * 1440 - 30) * 60_000
        return try await withSite { site in
            try await withTemporaryDirectory { directory in
                try await withTokenKey { keys in
                    // Its time stands still until the life moves it.
                    try await RunningStandIn.with(StandInConfiguration(seed: 7), clock: { start }) { store in
                        let endpoint = try await WebhookReceiver.start()
                        let settings = try settings(keys, store, directory)
                        try await site.apply(catalog: catalog)
                        return try await site.with(["receive", "--port", "0"], settings) { receiver in
                            // Without keys: a worker that has some asks Apple by itself, at its own times.
                            let keyless = settings.filter { !$0.key.hasPrefix("STOREHOOK_APPLE") }
                            return try await site.with(["work"], keyless) { _ in
                                try await site.with(["serve", "--port", "0"], settings) { api in
                                    let life = GoldenLife(
                                        site: site, settings: settings, api: ServedAPI(port: try #require(api.port)),
                                        receiver: try #require(receiver.port), endpoint: endpoint, directory: directory,
                                        start: start, store: store)
                                    let sales = try await life.live()
                                    let value = try await body(life, sales)
                                    try await endpoint.stop()
                                    return value
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func settings(
        _ keys: [String: String], _ store: RunningStandIn, _ directory: String
    ) throws -> [String: String] {
        keys.merging(try makeEndpointSettings(in: directory)) { $1 }.merging([
            "STOREHOOK_TRUSTED_ROOTS": store.access.authority.rootFingerprint,
            "STOREHOOK_APPLE_KEYS": store.access.keysFile,
            "STOREHOOK_APPLE_URL": store.url, "USER": "operator",
        ]) { $1 }
    }
}

// MARK: - What happens

extension GoldenLife {
    private func live() async throws -> [String: Sale] {
        let url = "http://127.0.0.1:\(endpoint.port)/hook"
        let added = try await site.run("endpoints", "add", url, "--format", "json", with: settings)
        guard added.ending == .exited(0) else { throw NeverHappened("an endpoint: \(added.errors)") }
        var sales: [String: Sale] = [:]
        let tokens = try await tokens()
        func buy(_ customer: String, _ product: String, _ more: String = "", as name: String? = nil) async throws {
            let token = tokens[customer].map { #","appAccountToken":"\#($0)""# } ?? ""
            let place = customer == "sam" ? "Sandbox" : "Production"
            sales[name ?? customer] = try await sale(
                #"{"customer":"\#(customer)","productId":"com.example.storehook.\#(product)","environment":"\#(place)"\#(token)\#(more)}"#
            )
        }
        func original(_ customer: String) throws -> String {
            #"{"originalTransactionId":"\#(try #require(sales[customer]).originalTransactionID)""#
        }
        func transaction(_ customer: String) throws -> String {
            #"{"transactionId":"\#(try #require(sales[customer]).transactionID)""#
        }

        try await buy("alice", "basic.monthly")
        try await hand(in: sales["alice"], by: "alice")
        try await pass(days: 1)
        try await buy("bob", "premium.yearly", #","offer":"trial""#)
        try await pass(days: 1)
        try await buy("carol", "basic.monthly")
        try await hand(in: sales["carol"], by: "carol")
        try await buy("mallory", "premium.monthly")
        try await pass(days: 1)
        try await buy("dave", "lifetime.unlock")
        try await buy("erin", "coins.100")
        try await buy("erin", "season.pass", as: "erin's pass")
        try await pass(days: 1)
        try await buy("frank", "basic.monthly")
        try await buy("gina", "basic.monthly")
        for customer in ["frank", "gina"] { try await shop("billing", original(customer) + #","fails":true}"#) }
        try await pass(days: 1)
        try await buy("heidi", "basic.weekly")
        try await buy("ivan", "premium.monthly")
        try await shop("cancellations", original("ivan") + "}")
        try await pass(days: 1)
        try await shop("reactivations", original("ivan") + "}")
        try await buy("judy", "premium.yearly")
        try await shop("plan-changes", original("judy") + #","productId":"com.example.storehook.basic.monthly"}"#)
        try await buy("sam", "basic.monthly")
        try await pass(days: 1)
        try await shop("refunds", transaction("heidi") + "}")
        try await consent("erin")
        try await shop("consumption-requests", transaction("erin") + #","reason":"UNINTENDED_PURCHASE"}"#)
        try await shop("consumption-requests", transaction("dave") + #","reason":"OTHER"}"#)
        try await pass(days: 1)
        try await shop("refund-reversals", transaction("heidi") + "}")
        try await shop("refunds", transaction("erin's pass") + #","percentage":40}"#)
        try await shop("plan-changes", original("alice") + #","productId":"com.example.storehook.premium.monthly"}"#)
        for day in [9, 16, 23, 30, 37] { try await pass(until: day) }
        try await shop("billing", original("gina") + #","fails":false}"#)
        try await shop("cancellations", original("carol") + "}")
        for day in [44, 51, 58, 65, 72, 79] { try await pass(until: day) }
        try await buy("kate", "basic.monthly")
        try await shop("cancellations", original("kate") + "}")
        try await buy("liam", "basic.weekly")
        try await shop("family", original("liam") + "}")
        for day in [86, 93, 99] { try await pass(until: day) }
        try await buy("nina", "premium.monthly", #","offer":"trial""#)
        return sales
    }

    /// The appAccountToken of each customer who has one.
    private func tokens() async throws -> [String: String] {
        var tokens: [String: String] = [:]
        for customer in [
            "alice", "bob", "dave", "erin", "frank", "gina", "heidi", "ivan", "judy", "sam", "kate", "nina",
        ] {
            let answer = try await api.send("/v1/account", token: try await token(customer))
            tokens[customer] = try #require(answer.object?["appAccountToken"] as? String)
        }
        return tokens
    }

    /// A token of the app's own for an account.
    func token(_ account: String) async throws -> String {
        if let token = signed.tokens.withLock({ $0[account] }) { return token }
        let token = try await site.run("demo", "token", account, with: settings).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        signed.tokens.withLock { $0[account] = token }
        return token
    }

    private func consent(_ account: String) async throws {
        let granted = try await site.run("consent", account, "--grant", "--text", "I agree.", with: settings)
        guard granted.ending == .exited(0) else { throw NeverHappened("a consent: \(granted.errors)") }
    }

    private func hand(in sale: Sale?, by account: String) async throws {
        let body = #"{"signedTransactionInfo":"\#(try #require(sale).signedTransaction)"}"#
        let answer = try await api.send("/v1/subscriptions/verify", token: try await token(account), body: body)
        guard answer.status == 200 else { throw NeverHappened("\(account) proves a purchase: \(answer.body)") }
        try await settle()
    }

    private func sale(_ body: String) async throws -> Sale {
        let sold = try await shop("purchases", body)
        func text(_ name: StaticString) throws -> String { try #require(sold.string(name)) }
        return Sale(
            transactionID: try text("transactionId"), originalTransactionID: try text("originalTransactionId"),
            signedTransaction: try text("signedTransactionInfo"), signedRenewal: sold.string("signedRenewalInfo"),
            receipt: try text("receiptData"))
    }

    /// Advances the shop by days, and delivers what it posts.
    private func pass(days: Int64) async throws {
        try await shop("clock", #"{"advanceSeconds":\#(days * 86_400)}"#)
    }

    /// Until noon of a day: periods begin and end at other times.
    private func pass(until day: Int) async throws {
        let now = try #require(try await ask("clock", #"{"advanceSeconds":0}"#).integer("now"))
        let seconds = (start + Int64(day) * 86_400_000 + 43_200_000 - now) / 1000
        guard seconds > 0 else { throw NeverHappened("day \(day) is to come") }
        try await shop("clock", #"{"advanceSeconds":\#(seconds)}"#)
    }

    /// Does what a person does; returns when all that it causes is applied and delivered.
    @discardableResult
    func shop(_ path: String, _ body: String) async throws -> JSONObject {
        let answer = try await ask(path, body)
        // The shop takes a payment that it waited for at its next look at the clock, and posts nothing before its date. In a whole
        // life that adds up to less than half an hour, so that its instants keep away from whole hours.
        for _ in 0..<2 { _ = try await ask("clock", #"{"advanceSeconds":10}"#) }
        try await deliver()
        return answer
    }

    private func ask(_ path: String, _ body: String? = nil) async throws -> JSONObject {
        let answer = try await store.shop(path, body)
        if let error = answer.string("error") { throw NeverHappened("\(path) \(body ?? ""): \(error)") }
        return answer
    }

    /// Hands on what the shop has posted, in the order of signing, one after the other: the shop itself posts several at once.
    private func deliver() async throws {
        try await eventually("everything is posted") {
            let counts = try await ask("posts")
            let listed = counts.integer("listed")
            return listed == counts.integer("arrived") && listed == Int64(store.receiver.requests.count)
        }
        let bodies = store.receiver.requests.dropFirst(delivered.count.withLock(\.self)).map { request in
            String(request.text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n"))
        }
        for body in try bodies.map({ (try Self.order($0), $0) }).sorted(by: { $0.0 < $1.0 }).map(\.1) {
            try await post(body)
            try await settle()
        }
        delivered.count.withLock { $0 += bodies.count }
        try await settle()
    }

    /// When a post was signed, and by what it is known.
    private static func order(_ body: String) throws -> String {
        let segments = try #require(try JSONDocument(Array(body.utf8)).object?.string("signedPayload")).split(
            separator: ".")
        let payload = try #require(
            try Base64.url.decode(Array(segments[1].utf8)).flatMap { try JSONDocument($0).object })
        return "\(payload.integer("signedDate") ?? 0) \(payload.string("notificationUUID") ?? "")"
    }

    /// Posts to the receiver, as Apple does.
    func post(_ body: String) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(receiver)/webhooks/apple")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await client.execute(request, timeout: .seconds(60))
        guard response.status.code == 200 else { throw NeverHappened("the receiver takes it: \(response.status)") }
    }

    /// Waits until all that is stored is applied, told of and delivered.
    func settle() async throws {
        try await eventually("everything is settled") {
            try await site.value(
                """
                select not exists (select from storehook.outbox_queue)
                   and not exists (select from storehook.events_unplaced)
                   and not exists (select from storehook.purchase_tellings where due_at <= now())
                   and not exists (select from storehook.access_tellings where due_at <= now())
                   and not exists (select from storehook.delivery_queue)
                   and not exists (
                       select from storehook.endpoint_cursors
                        where queued_position < position
                           or position < (select max(position) from storehook.event_places))
                """)
        }
    }
}
