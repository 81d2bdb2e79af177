import AccountAPI
import AccountStore
import AppStorePayloads
import EvidenceStore
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("The account API about accounts")
struct DeskTests {
    @Test("has a purchase from the answer on that proves it, tells the same again, and gives it to nobody else")
    func verify() async throws {
        try await Shop.open { shop in
            #expect(try await shop.standing(of: "alice") == "free free")
            let bought = shop.buy(lane: 1, for: "alice")
            let body =
                #"{"signedTransactionInfo":"\#(bought.transaction)","signedRenewalInfo":"\#(bought.renewal ?? "")"}"#
            let first = try await shop.post("/v1/subscriptions/verify", as: "alice", body)
            #expect(first.status == 200, "\(first.body)")
            let subscription = try #require(first.object?.object("subscription"))
            #expect(first.object?.bool("success") == true)
            #expect(subscription.string("productId") == "com.example.storehook.basic.monthly")
            #expect(subscription.string("status") == "active" && subscription.bool("isTrialPeriod") == false)
            #expect(subscription.string("expiresAt") != nil && subscription.bool("autoRenewStatus") == true)
            #expect(first.object?.object("account")?.string("tier") == "pro")
            #expect(try await shop.standing(of: "alice") == "pro active")
            #expect(try await shop.post("/v1/subscriptions/verify", as: "alice", body).body == first.body)
            let other = try await shop.verify(bought.transaction, as: "bob")
            #expect(other.status == 403 && other.code == "other_account")
            #expect(try await shop.standing(of: "bob") == "free free")
            let books = try await Outbox(shop.api.observer).conservation()
            #expect(books.received == 2 && books.applied == 2 && books.pending == 0 && books.isWhole)
            // The same handlers under the other paths.
            #expect(
                try await shop.get("/subscriptions/status", as: "alice").object?.bool("hasActiveSubscription") == true)
            let entitled = try await shop.get("/v1/entitlements", as: "alice")
            #expect(entitled.object?.objects("products")?.count == 1 && entitled.object?.string("tier") == "pro")
        }
    }

    @Test("reads the account once to answer what was proven, and twice where it is told of another environment")
    func readings() async throws {
        let readings = Readings()
        let made = Mutex<DatabaseProxy?>(nil)
        defer { made.withLock { $0?.refuse() } }
        try await Shop.open(
            url: { database in
                let proxy = try await DatabaseProxy(to: database) { readings.hear($0) }
                made.withLock { $0 = proxy }
                return proxy.url
            }
        ) { shop in
            let bought = shop.buy(lane: 33)
            let tried = shop.buy(lane: 34, in: .sandbox)
            let first = try await shop.verify(bought.transaction, as: "alice")
            #expect(first.status == 200)
            _ = readings.take()
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            #expect(readings.take() == 1)
            #expect(try await shop.verify(tried.transaction, as: "alice").status == 200)
            #expect(readings.take() == 2)
        }
    }

    @Test("gives an unclaimed purchase to who proves it first, and keeps it there")
    func keep() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 2)
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            let second = try await shop.verify(bought.transaction, as: "bob")
            #expect(second.status == 409 && second.code == "bound_elsewhere")
            #expect(try await shop.standing(of: "alice") == "pro active")
            #expect(try await shop.standing(of: "bob") == "free free")
        }
    }

    @Test("moves it under transfer, and the one before has it no more")
    func transfer() async throws {
        try await Shop.open(rule: .transfer) { shop in
            let bought = shop.buy(lane: 3)
            let first = try await shop.verify(bought.transaction, as: "alice")
            #expect(first.status == 200)
            #expect(try await shop.verify(bought.transaction, as: "bob").status == 200)
            #expect(try await shop.standing(of: "bob") == "pro active")
            #expect(try await shop.standing(of: "alice") == "free free")
        }
    }

    @Test("gives a purchase to nobody for its renewal info, and keeps nothing of what holds only in part")
    func renewalAlone() async throws {
        try await Shop.open(rule: .transfer) { shop in
            let bought = shop.buy(lane: 31)
            let renewal = try #require(bought.renewal)
            #expect(try await shop.verify(bought.transaction, as: "alice").status == 200)
            let stolen = try await shop.post(
                "/v1/subscriptions/verify", as: "eve",
                #"{"signedTransactionInfo":"junk","signedRenewalInfo":"\#(renewal)"}"#)
            #expect(stolen.status == 400)
            #expect(try await shop.standing(of: "eve") == "free free")
            #expect(try await shop.standing(of: "alice") == "pro active")
            let other = shop.buy(lane: 32)
            let half = try await shop.post(
                "/v1/subscriptions/verify", as: "bob",
                #"{"signedTransactionInfo":"\#(other.transaction)","signedRenewalInfo":"junk"}"#)
            #expect(half.status == 400)
            #expect(try await shop.standing(of: "bob") == "free free")
        }
    }

    @Test("refuses what proves nothing with the code of verification, and what the catalog does not know")
    func refusals() async throws {
        try await Shop.open { shop in
            let stranger = try SimulatedAuthority.generate()
            let bought = shop.buy(lane: 4)
            let forged = stranger.sign(bought.notification.transaction?.json ?? [])
            let foreign = shop.buy(lane: 5, app: SimulatedApp(bundleId: "com.other"))
            let long = String(decoding: shop.buy(lane: 9).notification.transaction?.json ?? [], as: UTF8.self)
                .replacing(#""productId":""#, with: #""productId":"\#(String(repeating: "x", count: 3000))"#)
            let cases = [
                (shop.authority.sign(Array(long.utf8)), "malformed_payload"),
                (forged, "untrusted_root"), (foreign.transaction, "wrong_bundle"), ("x.y.z", "malformed"),
                (bought.renewal ?? "", "malformed_payload"),
                (shop.buy(.newsMonthly, lane: 6).transaction, "unknown_product"),
            ]
            for (text, code) in cases {
                let answer = try await shop.verify(text, as: "alice")
                #expect(answer.status == 400 && answer.code == code, "\(answer.body)")
            }
            func detail(_ body: String) async throws -> String {
                try await shop.post("/v1/subscriptions/verify", as: "alice", body).object?.string("detail") ?? ""
            }
            for text in [
                bought.transaction.dropLast(500), bought.transaction.dropLast(9), bought.transaction.dropFirst(9),
            ] {
                let said = try await detail(#"{"signedTransactionInfo":"\#(text)"}"#)
                #expect(said.contains("send jwsRepresentation whole"), "\(said)")
            }
            let renewed = try await detail(#"{"signedTransactionInfo":"\#(bought.renewal ?? "")"}"#)
            #expect(renewed.contains("this is a renewal info: send it as signedRenewalInfo"), "\(renewed)")
            let restored = try await shop.post(
                "/v1/subscriptions/restore", as: "alice", #"{"signedTransactions":["\#(bought.renewal ?? "")"]}"#)
            #expect(restored.body.contains("send it as signedRenewalInfo"), "\(restored.body)")
            let mixed = try await detail(
                #"{"signedTransactionInfo":"\#(bought.transaction)","productId":"com.example.storehook.other"}"#)
            #expect(
                mixed.hasPrefix(
                    "productId of the request is not that of the signed transaction, which is com.example.storehook.basic.monthly"
                ),
                "\(mixed)")
            let number = try await detail(#"{"signedTransactionInfo":"\#(bought.transaction)","transactionId":"7"}"#)
            #expect(number.hasPrefix("transactionId of the request is not that of the signed"), "\(number)")
            let without = try await shop.post("/v1/subscriptions/verify", as: "alice")
            #expect(without.status == 400 && without.code == "invalid_request")
            let another = #"{"signedTransactionInfo":"\#(bought.transaction)","productId":"something.else"}"#
            #expect(try await shop.post("/v1/subscriptions/verify", as: "alice", another).code == "mismatched_request")
            let parts =
                #"{"signedTransactionInfo":"\#(bought.transaction)","signedRenewalInfo":"\#(shop.buy(.basicYearly, lane: 7).renewal ?? "")"}"#
            #expect(try await shop.post("/v1/subscriptions/verify", as: "alice", parts).status == 400)
        }
    }

    @Test("gives nothing in Production for what was bought in Sandbox, but to testers and whoever is told to see it")
    func sandbox() async throws {
        try await Shop.open(sandbox: .testers(["tess"])) { shop in
            let bought = shop.buy(lane: 8, for: "alice", in: .sandbox)
            let answer = try await shop.verify(bought.transaction, as: "alice")
            #expect(
                answer.status == 200 && answer.object?.object("account")?.string("tier") == "free", "\(answer.body)")
            #expect(answer.object?.object("subscription")?.string("environment") == "Sandbox")
            #expect(try await shop.standing(of: "alice") == "free free")
            let asked = try await shop.get("/v1/subscriptions/status?environment=Sandbox", as: "alice")
            #expect(asked.status == 403 && asked.code == "environment_forbidden")
            let (key, _) = try await shop.api.serverKey()
            let server = try await shop.api.get(
                "/v1/subscriptions/status?environment=Sandbox", token: key.text, [("X-Account-ID", "alice")])
            #expect(server.object?.string("tier") == "pro", "\(server.body)")
            #expect(
                try await shop.verify(shop.buy(lane: 9, for: "tess", in: .sandbox).transaction, as: "tess").status
                    == 200)
            #expect(try await shop.standing(of: "tess") == "pro active")
        }
    }

    @Test("restores all that a device holds and tells of each what became of it")
    func restore() async throws {
        try await Shop.open { shop in
            let (mine, old, bobs) = (
                shop.buy(lane: 10), shop.buy(.basicYearly, lane: 11, for: "alice"), shop.buy(lane: 12)
            )
            #expect(try await shop.verify(old.transaction, as: "alice").status == 200)
            #expect(try await shop.verify(bobs.transaction, as: "bob").status == 200)
            let texts = [
                mine.transaction, old.transaction, bobs.transaction, shop.buy(lane: 13, for: "carol").transaction,
                try SimulatedAuthority.generate().sign(mine.notification.transaction?.json ?? []),
            ]
            let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
            let answer = try await shop.post(
                "/v1/subscriptions/restore", as: "alice", #"{"signedTransactions":[\#(list)]}"#)
            #expect(
                answer.object?.objects("transactions")?.map { $0.string("result") }
                    == ["restored", "known", "bound_elsewhere", "other_account", "invalid"], "\(answer.body)")
            #expect(answer.object?.integer("restored") == 2 && answer.object?.bool("success") == false)
            #expect(answer.object?.objects("subscriptions")?.count == 2)
            // Without anything it tells what is bound.
            let nothing = try await shop.post("/v1/subscriptions/restore", as: "alice")
            #expect(nothing.object?.objects("subscriptions")?.count == 2 && nothing.object?.bool("success") == true)
        }
    }

    @Test("starts the app's trial once, for who never paid, and tells why not")
    func trial() async throws {
        try await Shop.open { shop in
            let root = "/v1/subscriptions/trial"
            #expect(try await shop.get(root + "/eligibility", as: "alice").object?.bool("eligible") == true)
            let products = try await shop.get("/v1/products", as: "alice")
            #expect(products.object?.objects("products")?.map { $0.object("trial") != nil } == [false, true, false])
            let started = try await shop.post(root + "/start", as: "alice", #"{"productId":"yearly"}"#)
            #expect(started.status == 200 && started.object?.integer("daysLeft") == 7, "\(started.body)")
            #expect(try await shop.standing(of: "alice") == "pro trial")
            #expect(try await shop.get("/subscriptions/trial/status", as: "alice").object?.bool("isActive") == true)
            // Who has not heard the answer repeats the start, by Apple's id as well.
            for name in ["yearly", "com.example.storehook.basic.yearly"] {
                let repeated = try await shop.post(root + "/start", as: "alice", #"{"productId":"\#(name)"}"#)
                #expect(repeated.status == 200, "\(repeated.body)")
                #expect(
                    repeated.object?.string("trialStartedAt") == started.object?.string("trialStartedAt")
                        && repeated.object?.string("trialEndsAt") == started.object?.string("trialEndsAt"))
            }
            let again = try await shop.post(root + "/start", as: "alice")
            #expect(again.status == 409 && again.object?.string("reason") == "trial_used")
            try await shop.api.observer.query(
                """
                update storehook.trials set started_at = started_at - interval '8 days',
                       ends_at = ends_at - interval '8 days'
                """)
            let over = try await shop.post(root + "/start", as: "alice", #"{"productId":"yearly"}"#)
            #expect(over.status == 409 && over.object?.string("reason") == "trial_used", "\(over.body)")
            #expect(try await shop.verify(shop.buy(lane: 14, for: "bob").transaction, as: "bob").status == 200)
            let refused = try await shop.get(root + "/eligibility", as: "bob")
            #expect(refused.object?.string("reason") == "active_subscription")
        }
    }

    @Test("counts use up to the limit, once a key, and says what it would take")
    func usage() async throws {
        try await Shop.open { shop in
            let closed = try await shop.get("/v1/features/ai", as: "alice")
            #expect(closed.object?.bool("allowed") == false && closed.object?.string("reason") == "tierRequired")
            let refused = try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":1}"#)
            #expect(refused.status == 403 && refused.code == "tier_required", "\(refused.body)")
            #expect(try await shop.verify(shop.buy(lane: 15, for: "alice").transaction, as: "alice").status == 200)
            let keyed = #"{"amount":2,"idempotencyKey":"k1"}"#
            #expect(try await shop.post("/v1/usage/ai", as: "alice", keyed).object?.integer("remaining") == 1)
            let repeated = try await shop.post("/usage/ai", as: "alice", keyed)
            #expect(repeated.object?.bool("duplicate") == true && repeated.object?.integer("remaining") == 1)
            let over = try await shop.post("/v1/usage/ai", as: "alice", #"{"amount":2}"#)
            #expect(over.status == 429 && over.code == "limit_reached" && over.header("Retry-After") != nil)
            #expect(over.object?.integer("remaining") == 1)
            let current = try await shop.get("/usage/current", as: "alice")
            #expect(current.object?.objects("usage")?.map { $0.integer("used") } == [2, 0], "\(current.body)")
            #expect(try await shop.post("/v1/usage/nothing", as: "alice").code == "unknown_feature")
            #expect(try await shop.get("/v1/features", as: "alice").object?.objects("features")?.count == 3)
        }
    }

    @Test("speaks EmoFlow's dialect under its paths, errors included")
    func emoFlow() async throws {
        try await Shop.open { shop in
            let bought = shop.buy(lane: 16, for: "alice")
            let answer = try await shop.verify(bought.transaction, as: "alice", under: "/subscription")
            #expect(
                answer.body.hasPrefix(#"{"status":"success","message":"订阅验证成功","subscription":{"status":"active","#))
            #expect(answer.object?.object("subscription")?.bool("is_member") == true)
            let nobody = try await shop.get("/subscription/status", as: "bob")
            #expect(nobody.object?.object("subscription")?.string("subscription_status") == "inactive")
            let malformed = try await shop.verify("x.y.z", as: "bob", under: "/subscription")
            #expect(malformed.status == 400 && malformed.body == #"{"detail":"Apple 验证失败: 收据数据格式错误"}"#)
            let stranger = try await shop.api.get("/subscription/status", token: "x")
            #expect(stranger.status == 401 && stranger.body == #"{"detail":"用户未认证"}"#)
            #expect(try await shop.get("/subscription/products", as: "bob").object?.objects("products")?.count == 3)
        }
    }

    @Test("says in its description all that it answers about accounts")
    func described() async throws {
        try await Shop.open { shop in
            let paths = try #require(try await shop.api.get("/openapi.json").object?.object("paths"))
            let text = paths.members(except: []).keys
            for path in [
                "/v1/subscriptions/verify", "/subscriptions/trial/start", "/usage/{feature}", "/subscription/restore",
            ] {
                #expect(text.contains(path), "\(path)")
            }
        }
    }
}

/// Counts by what the database sends how often an account was read: each time the rows are described, by a column of their own.
private final class Readings: Sendable {
    private let heard = Mutex<[UInt8]>([])

    func hear(_ bytes: [UInt8]) { heard.withLock { $0 += bytes } }

    /// How often since the last time.
    func take() -> Int {
        let column = Array("originally\0".utf8)
        let bytes = heard.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
        return bytes.indices.filter { bytes[$0...].starts(with: column) }.count
    }
}
