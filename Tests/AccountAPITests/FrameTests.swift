import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import HTTPKit
import HTTPTypes
import JWTKit
import Logging
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("The account API")
struct FrameTests {
    @Test("answers problems as RFC 9457 has them: paths and methods that it does not serve, too")
    func problems() async throws {
        try await withAPI { api in
            let token = try await api.signer.token()
            for (method, path, status, code) in [
                ("GET", "/", 404, "not_found"), ("GET", "/v1/account/", 404, "not_found"),
                ("GET", "//v1/account", 404, "not_found"), ("GET", "/v2/account", 404, "not_found"),
                ("POST", "/v1/account", 405, "method_not_allowed"), ("DELETE", "/healthz", 405, "method_not_allowed"),
            ] {
                let answer = try await api.send(method, path, token: token)
                #expect(answer.status == status && answer.code == code, "\(method) \(path)")
                #expect(answer.header("Content-Type") == "application/problem+json")
                #expect(answer.object?.integer("status") == Int64(status))
                #expect(answer.object?.string("type") == "urn:storehook:problem:\(code)")
                #expect(
                    answer.object?.string("title")?.isEmpty == false
                        && answer.object?.string("detail")?.isEmpty == false)
            }
            #expect(try await api.send("POST", "/v1/account", token: token).header("Allow") == "GET, HEAD")
        }
    }

    @Test("lives: /healthz, and /health for those who know that, ask for no token")
    func health() async throws {
        try await withAPI { api in
            for path in ["/healthz", "/health"] {
                let answer = try await api.get(path)
                #expect(answer.status == 200)
                #expect(try await api.send("HEAD", path).status == 200)
            }
        }
    }

    @Test("says the request's name in its answer: the client's where that is plain, else one of its own")
    func requestID() async throws {
        try await withAPI { api in
            let given = try await api.get("/v1/account", [("X-Request-ID", "a.b-c_D:9")])
            #expect(given.header("X-Request-ID") == "a.b-c_D:9")
            var made: Set<String> = []
            for bad in ["", "a b", "a\"b", String(repeating: "a", count: 65), "é"] {
                let name = try #require(try await api.get("/nothing", [("X-Request-ID", bad)]).header("X-Request-ID"))
                #expect(name.count == 32 && name != bad)
                made.insert(name)
            }
            #expect(made.count == 5)
        }
    }

    @Test(
        "reads bodies exactly: what is not what a path takes is 400, and the answer names the member and quotes nothing"
    )
    func bodies() async throws {
        try await withAPI { api in
            let token = try await api.signer.token()
            func put(_ body: String?) async throws -> Answer {
                try await api.send("PUT", "/v1/consents/consumption", token: token, body: body)
            }
            for (body, detail) in [
                (nil, nil), ("", nil), ("[]", "the body must be a JSON object"), ("{", nil),
                ("{}", "granted is missing"),
                (#"{"granted":"true"}"#, "granted must be true or false"),
                (#"{"granted":1}"#, "granted must be true or false"),
                (#"{"granted":null}"#, "granted must be true or false"),
                (#"{"granted":true,"granted":false}"#, nil),
                (#"{"granted":false,"text":7}"#, "text must be a string"),
                (#"{"granted":false,"text":""}"#, "text is empty"),
                (#"{"granted":true}"#, nil), (#"{"granted":true,"text":"  "}"#, nil),
                (
                    #"{"granted":true,"text":"\#(String(repeating: "x", count: 2_001))"}"#,
                    "text is longer than 2000 characters"
                ),
                (String(repeating: "[", count: 100_000), nil),
            ] as [(String?, String?)] {
                let answer = try await put(body)
                #expect(answer.status == 400 && answer.code == "invalid_request", "\(body ?? "none")")
                if let detail { #expect(answer.object?.string("detail") == detail) }
            }
            #expect(try await put(String(repeating: " ", count: 300_000)).code == "too_large")
            // Unknown members are passed over, and an optional one may be null.
            let good = try await put(#"{"granted":false,"text":null,"later":[1]}"#)
            #expect(good.status == 200 && good.object?.bool("granted") == false)
        }
    }

    @Test("records and withdraws a consent for the caller's account and no other")
    func consent() async throws {
        try await withAPI { api in
            let token = try await api.signer.token(of: "alice")
            let body = #"{"granted":true,"text":"Apple may know how I used it."}"#
            #expect(try await api.send("PUT", "/v1/consents/consumption", token: token, body: body).status == 200)
            let key = try await api.serverKey()
            let withdrawn = try await api.send(
                "PUT", "/v1/consents/consumption", token: key.key.text, body: #"{"granted":false}"#,
                [("X-Account-ID", "alice")])
            #expect(withdrawn.status == 200)
            let rows = try await api.observer.query(
                "select account || ' ' || granted || ' ' || recorded_by from storehook.consumption_consents order by id"
            ).map { try $0.decode(0, as: String.self) }
            #expect(rows == ["alice true the app", "alice false server key \(key.recorded.id)"])
        }
    }

    @Test("refuses an account that asks too often, tells it when to come back, and nobody else")
    func accountRate() async throws {
        try await withAPI(adjusting: { $0.callerRate = .init(perMinute: 1, burst: 3) }) { api in
            let (alice, bob) = (try await api.signer.token(of: "alice"), try await api.signer.token(of: "bob"))
            for _ in 0..<3 { #expect(try await api.get("/v1/account", token: alice).status == 200) }
            let refused = try await api.get("/v1/account", token: alice)
            #expect(refused.status == 429 && refused.code == "rate_limited")
            let seconds = try #require(refused.header("Retry-After").flatMap { Int($0) })
            #expect((1...60).contains(seconds))
            // With another token it is the same account.
            let other = try await api.signer.token(TestClaims(sub: "alice"), key: "rsa")
            #expect(try await api.get("/v1/account", token: other).status == 429)
            #expect(try await api.get("/v1/account", token: bob).status == 200)
            // The operator's own servers ask for many.
            let key = try await api.serverKey().key.text
            for _ in 0..<10 {
                #expect(try await api.get("/v1/account", token: key, [("X-Account-ID", "alice")]).status == 200)
            }
        }
    }

    @Test(
        "refuses an address that asks too often, whatever it sends; a trusted proxy is none, and is believed whom it speaks for"
    )
    func addressRate() async throws {
        func adjust(_ configuration: inout APIConfiguration, _ proxies: TrustedProxies) {
            configuration.addressRate = .init(perMinute: 1, burst: 3)
            configuration.http.trustedProxies = proxies
        }
        try await withAPI(adjusting: { adjust(&$0, TrustedProxies()) }) { api in
            let key = try await api.serverKey().key.text
            for number in 0..<3 { #expect(try await api.get("/v1/account", token: "bad.\(number)").status == 401) }
            #expect(try await api.get("/v1/account", token: "bad").status == 429)
            #expect(try await api.get("/v1/account", token: api.signer.token()).status == 429)
            #expect(try await api.get("/v1/account", token: "shk_nonsense").status == 429)
            // What costs nothing, and the operator's own servers.
            #expect(try await api.get("/healthz").status == 200)
            #expect(try await api.get("/v1/account", token: key, [("X-Account-ID", "a")]).status == 200)
        }
        try await withAPI(adjusting: { adjust(&$0, .loopback) }) { api in
            for _ in 0..<10 {
                let answer = try await api.get("/v1/account")
                #expect(answer.status == 401)
            }
            for (address, status) in [
                ("192.0.2.1", 401), ("192.0.2.1", 401), ("192.0.2.1", 401), ("192.0.2.1", 429), ("192.0.2.2", 401),
            ] {
                #expect(try await api.get("/v1/account", [("X-Forwarded-For", address)]).status == status)
            }
        }
    }

    @Test("lets web pages ask only where that is set, and those alone")
    func cors() async throws {
        let origin = ("Origin", "https://app.example.com")
        let preflight = [
            origin, ("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Headers", "authorization"),
        ]
        try await withAPI { api in
            let answer = try await api.get("/v1/account", token: api.signer.token(), [origin])
            #expect(answer.status == 200 && answer.header("Access-Control-Allow-Origin") == nil)
            #expect(try await api.send("OPTIONS", "/v1/account", preflight).status == 405)
        }
        try await withAPI(adjusting: { $0.cors = CORSPolicy(origins: ["https://app.example.com"]) }) { api in
            let answer = try await api.get("/v1/account", token: api.signer.token(), [origin])
            #expect(answer.header("Access-Control-Allow-Origin") == "https://app.example.com")
            #expect(answer.header("Vary") == "Origin" && answer.header("Access-Control-Allow-Credentials") == nil)
            let asked = try await api.send("OPTIONS", "/v1/account", preflight)
            #expect(
                asked.status == 204 && asked.header("Access-Control-Allow-Headers")?.contains("Authorization") == true)
            for stranger in ["https://evil.example.com", "null", "https://app.example.com.evil.com"] {
                let refused = try await api.get("/v1/account", token: api.signer.token(), [("Origin", stranger)])
                #expect(refused.header("Access-Control-Allow-Origin") == nil)
                let asked = try await api.send(
                    "OPTIONS", "/v1/account", [("Origin", stranger), ("Access-Control-Request-Method", "GET")])
                #expect(asked.status == 405)
            }
        }
        #expect(CORSPolicy.isOrigin("https://app.example.com:8443") && CORSPolicy.isOrigin("http://localhost:3000"))
        for bad in ["*", "https://app.example.com/", "app.example.com", "https://", "https://a b", "null"] {
            #expect(!CORSPolicy.isOrigin(bad), "\(bad)")
        }
    }

    @Test("answers 503 with Retry-After while its database is away or silent, and by itself again when it is back")
    func databaseAway() async throws {
        let made = Mutex<DatabaseProxy?>(nil)
        try await withAPI(
            url: { database in
                let proxy = try await DatabaseProxy(to: database)
                made.withLock { $0 = proxy }
                return proxy.url
            }
        ) { api in
            let proxy = try #require(made.withLock { $0 })
            let token = try await api.signer.token()
            func put() async throws -> Answer {
                try await api.send("PUT", "/v1/consents/consumption", token: token, body: #"{"granted":false}"#)
            }
            #expect(try await put().status == 200)
            for silent in [false, true] {
                if silent { proxy.fallSilent() } else { proxy.refuse() }
                let answer = try await put()
                #expect(answer.status == 503 && answer.code == "unavailable")
                #expect(answer.header("Retry-After").flatMap { Int($0) }.map { $0 > 0 } == true)
                #expect(try await api.get("/healthz").status == 200)
                // What needs no database is answered.
                #expect(try await api.get("/v1/account", token: token).status == 200)
                try proxy.serve()
                try await eventually("200 again") { try await put().status == 200 }
            }
        }
        made.withLock { $0?.refuse() }
    }

    @Test("answers what it has in hand before it stops")
    func stops() async throws {
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let slow = AccountEndpoint(.get, "/slow", "getSlow", "Slow.", for: .anyone, successes: [.init("Done.", nil)]) {
            _ in
            begins.yield()
            for await _ in released { break }
            return APIAnswer(.ok, ["done": true])
        }
        let answer = Mutex<Task<Answer, any Error>?>(nil)
        try await withAPI(endpoints: [slow]) { api in
            answer.withLock { $0 = Task { try await api.get("/slow") } }
            for await _ in begun { break }
            // Told to stop when this returns; the answer comes after it.
            Task {
                try await eventually("it no longer listens") { (try? await api.get("/healthz")) == nil }
                release.yield()
            }
        }
        let task = try #require(answer.withLock { $0 })
        let answered = try await task.value
        #expect(answered.status == 200 && answered.body == #"{"done":true}"#)
    }

    @Test("answers 500 where a handler fails for a reason that nobody has thought of, and tells nothing of it")
    func unexpected() async throws {
        struct Odd: Error {}
        let odd = AccountEndpoint(.get, "/odd", "getOdd", "Odd.", for: .account, successes: [.init("Done.", nil)]) {
            _ in
            throw Odd()
        }
        try await withAPI(endpoints: [odd]) { api in
            let answer = try await api.get("/odd", token: api.signer.token())
            #expect(answer.status == 500 && answer.code == "internal_error" && !answer.body.contains("Odd"))
        }
    }

    @Test(
        "logs what changes something, with its name and the account's token, and never its id, the app's token or what was sent"
    )
    func logs() async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { _ in
            RecordingHandler { line in lines.withLock { $0.append(line) } }
        }
        try await withAPI(logger: logger) { api in
            let token = try await api.signer.token(of: "alice")
            let body = #"{"granted":true,"text":"word for word"}"#
            _ = try await api.send(
                "PUT", "/v1/consents/consumption", token: token, body: body, [("X-Request-ID", "request-7")])
            _ = try await api.get("/v1/account", token: token)
            _ = try await api.get("/v1/account", token: token + "x")
            let key = try await api.serverKey().key.text
            _ = try await api.send("POST", "/webhooks/apple/test", token: key)
            let said = lines.withLock { $0 }
            let consent = said.filter { $0.contains("request-7") }
            #expect(consent.count == 1 && consent[0].contains(AccountToken.of("alice").description))
            #expect(consent.first?.contains("putConsumptionConsent") == true)
            #expect(said.contains { $0.contains("testNotifications") && $0.contains("503") })
            #expect(!said.contains { $0.contains("getAccount") })
            for secret in ["alice", token.split(separator: ".")[2].description, "word for word", key] {
                #expect(!said.contains { $0.contains(secret) })
            }
        }
    }
}

/// Keeps lines.
private struct RecordingHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    let record: @Sendable (String) -> Void

    init(record: @escaping @Sendable (String) -> Void) { self.record = record }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { record("\(event.level) \(event.message) \(event.metadata ?? [:])") }
}
