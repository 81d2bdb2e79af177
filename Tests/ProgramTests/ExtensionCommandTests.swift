import AsyncHTTPClient
import Crypto
import EvidenceStore
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

@Suite("storehook apple extend, extend-all and extensions")
struct ExtensionCommandTests {
    private static let product = "com.example.storehook.premium.monthly"

    /// A stand-in for Apple's servers, a receiver that it posts to and a worker, all of them programs.
    private func withShop(
        _ site: Site, _ body: (_ url: String, _ settings: [String: String]) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-shop-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try await site.with(["receive", "--port", "0"]) { receiver in
            let port = try #require(receiver.port)
            let shop = try site.start([
                "app-store", "--port", "0", "--pki", directory.path, "--notify",
                "http://127.0.0.1:\(port)/webhooks/apple",
            ])
            do {
                try await eventually("the shop is open") {
                    if let ending = shop.ending { throw NeverHappened("the shop is open: \(ending) \(shop.errors)") }
                    return shop.output.contains("\n")
                }
                let said = try JSONSerialization.jsonObject(with: Data(shop.output.utf8)) as? [String: Any]
                func text(_ name: String) throws -> String { try #require(said?[name] as? String) }
                let key = try Data(contentsOf: URL(fileURLWithPath: text("privateKeyFile")))
                let settings = [
                    "STOREHOOK_APPLE_URL": try text("url"), "STOREHOOK_TRUSTED_ROOTS": try text("rootFingerprint"),
                    "STOREHOOK_ENVIRONMENTS": "Sandbox", "APPLE_ISSUER_ID": try text("issuerId"),
                    "APPLE_KEY_ID": try text("keyId"), "APPLE_PRIVATE_KEY": key.base64EncodedString(),
                ]
                try await body(text("url"), settings)
                await shop.discard()
            } catch {
                await shop.discard()
                throw error
            }
        }
    }

    private func buy(_ url: String) async throws -> String {
        var request = HTTPClientRequest(url: "\(url)/stand-in/purchases")
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: #"{"productId":"\#(Self.product)"}"#))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 20).readableBytesView
        let answer = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return try #require(answer?["originalTransactionId"] as? String)
    }

    @Test("record, ask Apple at once, and a worker follows them to their end, which list and show tell")
    func followed() async throws {
        try await withSite { site in
            try await withShop(site) { url, settings in
                let ids = [try await buy(url), try await buy(url)]
                func extend(_ id: String) async throws -> Outcome {
                    try await site.run(
                        "apple", "extend", id, "--days", "3", "--reason", "outage", "--why", "a long night",
                        with: settings)
                }
                func state(_ number: Int) async throws -> [String: Any] {
                    let run = try await site.run("extensions", "show", "\(number)", with: settings)
                    #expect(run.ending == .exited(0), "\(run.errors)")
                    return try #require(try run.json() as? [String: Any])
                }
                try await site.with(["work"], settings) { _ in
                    // Twice is as often as Apple allows; the environment is found by asking.
                    for _ in 0..<2 {
                        let run = try await extend(ids[0])
                        #expect(run.ending == .exited(0), "\(run.output)\(run.errors)")
                        let answer = try #require(try run.json() as? [String: Any])
                        #expect(answer["original_transaction_id"] as? String == ids[0] && answer["days"] as? Int == 3)
                        #expect(answer["why"] as? String == "a long night" && answer["effective_date"] is String)
                        let number = try #require(answer["id"] as? Int)
                        try await eventually("it is extended") {
                            try await state(number)["state"] as? String == "extended"
                        }
                        #expect(try await state(number)["notification_uuid"] is String)
                    }
                    let third = try await extend(ids[0])
                    #expect(third.ending == .exited(1), "\(third.output)")
                    #expect(third.output.contains("subscription_max_extension"))

                    let all = try await site.run(
                        "apple", "extend-all", "--environment", "Sandbox", "--product", Self.product, "--days", "1",
                        "--reason", "outage", with: settings)
                    #expect(all.ending == .exited(0), "\(all.output)\(all.errors)")
                    let number = try #require((try all.json() as? [String: Any])?["id"] as? Int)
                    try await eventually("all are done") { try await state(number)["state"] as? String == "extended" }
                    let done = try await state(number)
                    #expect(done["succeeded_count"] as? Int == 1 && done["failed_count"] as? Int == 1)
                    let failures = try #require(done["failures"] as? [[String: Any]])
                    #expect(failures.map { $0["original_transaction_id"] as? String } == [ids[0]])
                    let shown = try await site.run(
                        "extensions", "show", "\(number)", "--format", "table", with: settings)
                    #expect(shown.output.contains("1 extended, 1 failed, of which 1 are named"), "\(shown.output)")
                    #expect(shown.output.contains(ids[0]))
                }
                let list = try await site.run("extensions", "list", with: settings)
                #expect((try list.json() as? [[String: Any]])?.count == 4, "\(list.output)")
                let own = try await site.run(
                    "extensions", "list", "--subscription", ids[0], "--format", "table", with: settings)
                #expect(own.output.split(separator: "\n").count == 4, "\(own.output)")
                let doctor = try await site.run("doctor", "--port", "1", with: settings)
                #expect(doctor.output.contains("none is under way"), "\(doctor.output)")
            }
        }
    }

    @Test("killed while Apple is asked leave it to a worker, which finds out and asks nothing twice")
    func killed() async throws {
        try await withSite { site in
            let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
            let asked = Mutex(false)
            let authority = site.authority
            // Apple does what it is asked, and its answer never arrives.
            let apple = try ScriptedServer { request in
                if request.line.hasPrefix("PUT") {
                    asked.withLock { $0 = true }
                    return .silence
                }
                guard request.line.contains("/subscriptions/1") else { return .json(404, #"{"errorCode":4040010}"#) }
                let end = now + 86_400_000 * (asked.withLock { $0 } ? 13 : 10)
                let transaction = authority.sign(
                    """
                    {"transactionId":"1","originalTransactionId":"1","bundleId":"\(Site.app.bundleId)",\
                    "environment":"Sandbox","productId":"com.example.pro","type":"Auto-Renewable Subscription",\
                    "purchaseDate":\(now - 1000),"expiresDate":\(end),"signedDate":\(now)}
                    """)
                return .json(
                    200,
                    """
                    {"environment":"Sandbox","bundleId":"\(Site.app.bundleId)","data":[{"lastTransactions":\
                    [{"originalTransactionId":"1","status":1,"signedTransactionInfo":"\(transaction)"}]}]}
                    """)
            }
            defer { apple.stop() }
            let settings = [
                "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(apple.port)", "STOREHOOK_ENVIRONMENTS": "Sandbox",
                "APPLE_ISSUER_ID": "issuer", "APPLE_KEY_ID": "KEYID12345",
                "APPLE_PRIVATE_KEY": Data(P256.Signing.PrivateKey().pemRepresentation.utf8).base64EncodedString(),
            ]
            let killed = try site.start(["apple", "extend", "1", "--days", "3", "--reason", "other"], settings)
            try await eventually("Apple is asked") {
                if let ending = killed.ending { throw NeverHappened("it asks: \(ending) \(killed.errors)") }
                return asked.withLock { $0 }
            }
            await killed.discard()
            #expect(try await site.value("select state from storehook.extensions") == "unknown")
            try await site.pool.query("update storehook.extension_queue set due_at = now()")
            try await site.with(["work"], settings) { _ in
                try await eventually("it is found out") {
                    try await site.value("select state from storehook.extensions") == "accepted"
                }
            }
            #expect(
                try await site.value(
                    "select effective_at = renews_before + interval '3 days' from storehook.extensions"))
            #expect(apple.requests.count { $0.line.hasPrefix("PUT") } == 1)
        }
    }

    @Test("say what is missing")
    func missing() async throws {
        try await withSite { site in
            let none = try await site.run("extensions", "show", "17")
            #expect(none.ending == .exited(1) && none.errors.contains("there is no extension 17"))
            let closed = try await site.run("extensions", "close", "17", "--why", "gone")
            #expect(closed.ending == .exited(1) && closed.errorLines == 1)
            let empty = try await site.run("extensions", "list", "--format", "table")
            #expect(empty.output.contains("no extensions"))
            let database = try await site.run(
                "apple", "extend", "1", "--days", "3", "--reason", "other", with: ["DATABASE_URL": ""])
            #expect(database.ending == .exited(2) && database.errors.contains("DATABASE_URL"))
        }
    }
}
