import AsyncHTTPClient
import Crypto
import EvidenceStore
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Simulation
import TestSupport
import Testing

@testable import storehook

@Suite("storehook serve")
struct ServeTests {
    private func send(
        _ program: ChildProgram, _ path: String, _ method: HTTPMethod = .GET, token: String? = nil,
        body: String? = nil, _ headers: [(String, String)] = []
    ) async throws -> (status: Int, body: String) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(try #require(program.port))\(path)")
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, timeout: .seconds(120))
        return (Int(response.status.code), String(buffer: try await response.body.collect(upTo: 1 << 20)))
    }

    @Test("takes the tokens that demo token signs, whose key is its owner's alone, and ends at once when it is told to")
    func demoToken() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let key = try #require(settings["STOREHOOK_JWT_KEYS"]).replacing("jwt.json", with: "jwt-key.pem")
                let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let signed = try await site.run("demo", "token", "alice", with: settings)
                #expect(signed.ending == .exited(0), "\(signed.errors)")
                let token = signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
                // With the same key each time.
                #expect(try await site.run("demo", "token", "bob", "--key", key, with: settings).ending == .exited(0))
                try await site.with(["serve", "--port", "0", "--metrics-port", "0"], settings) { program in
                    let answer = try await send(program, "/v1/account", token: token)
                    #expect(answer.status == 200 && answer.body.contains(#""id":"alice""#))
                    #expect(try await send(program, "/v1/account").status == 401)
                    let operations = "http://127.0.0.1:\(try await program.metricsPort())"
                    #expect(try await fetch(operations + "/readyz").status == 200)
                    let page = try await fetch(operations + "/metrics").body
                    #expect(page.contains(#"storehook_api_requests_total{endpoint="getAccount",status="200"} 1"#))
                    #expect(page.contains(#"storehook_api_refused_tokens_total{reason="missing"} 1"#))
                    #expect(page.contains(#"storehook_api_refused_tokens_total{reason="expired"} 0"#))
                    #expect(page.contains(#"storehook_api_seconds_count{endpoint="getAccount"} 2"#))
                    #expect(!program.errors.contains(token))
                    program.signal(SIGTERM)
                    #expect(await program.end() == .exited(0))
                }
            }
        }
    }

    @Test("takes server keys that staff token makes, until they are revoked; the list shows none")
    func serverKeys() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let made = try await site.run("staff", "token", "--account-api", "--name", "shop")
                #expect(made.ending == .exited(0), "\(made.errors)")
                let answer = try #require(try made.json() as? [String: Any])
                let (key, id) = (try #require(answer["key"] as? String), try #require(answer["id"] as? Int))
                #expect(key.hasPrefix("shk_") && answer["name"] as? String == "shop")
                let listed = try await site.run("staff", "token", "--list", "--format", "table")
                #expect(
                    listed.output.contains("shop") && listed.output.contains("good") && !listed.output.contains(key))
                try await site.with(["serve", "--port", "0"], settings) { program in
                    let account = [("X-Account-ID", "alice")]
                    try await eventually("the key is known") {
                        try await send(program, "/v1/account", token: key, account).status == 200
                    }
                    let test = try await send(program, "/webhooks/apple/test", .POST, token: key)
                    #expect(test.status == 503 && test.body.contains("no_apple_key"))
                    #expect(try await site.run("staff", "token", "--revoke", "\(id)").ending == .exited(0))
                    try await eventually("it is refused") {
                        try await send(program, "/v1/account", token: key, account).status == 401
                    }
                    #expect(!program.errors.contains(key))
                }
                #expect(try await site.run("staff", "token", "--revoke", "99").ending == .exited(1))
                #expect(try await site.run("staff", "token", "--list").output.contains("revoked_at"))
                for wrong in [[], ["--list", "--revoke", "1"], ["--list", "--name", "x"]] {
                    let program = try site.start(["staff", "token"] + wrong)
                    #expect(await program.end() == .exited(2), "\(wrong)")
                    await program.discard()
                }
            }
        }
    }

    @Test("tells a server how a test notification of Apple's went, with its times")
    func testNotification() async throws {
        try await withSite { site in
            let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
            var customer = SimulatedSubscriber(lane: 1, seed: 1)
            customer.test(at: now - 60_000)
            let jws = try #require(customer.takeNotifications().first).signed(by: site.authority)
            let apple = try ScriptedServer { request in
                request.line.hasPrefix("POST")
                    ? .json(200, #"{"testNotificationToken":"T"}"#)
                    : .json(
                        200,
                        #"{"signedPayload":"\#(jws)","sendAttempts":[{"attemptDate":\#(now),"sendAttemptResult":"SUCCESS"}]}"#
                    )
            }
            defer { apple.stop() }
            try await site.outbox.store([Array(jws.utf8)])
            try await site.with(["work"]) { _ in try await site.untilDone() }
            let made = try await site.run("staff", "token", "--account-api", "--format", "json")
            let key = try #require((try made.json() as? [String: Any])?["key"] as? String)
            try await withTokenKey { settings in
                let more = settings.merging([
                    "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(apple.port)", "APPLE_ISSUER_ID": "issuer",
                    "APPLE_KEY_ID": "KEYID12345",
                    "APPLE_PRIVATE_KEY": Data(P256.Signing.PrivateKey().pemRepresentation.utf8).base64EncodedString(),
                ]) { $1 }
                try await site.with(["serve", "--port", "0"], more) { program in
                    try await eventually("the key is known") {
                        try await send(program, "/v1/account", token: key, [("X-Account-ID", "a")]).status == 200
                    }
                    let answer = try await send(
                        program, "/webhooks/apple/test", .POST, token: key, body: #"{"environment":"Sandbox"}"#)
                    #expect(answer.status == 200, "\(answer.body)")
                    let object = try #require(
                        try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
                    #expect(object["outcome"] as? String == "applied" && object["postResult"] as? String == "SUCCESS")
                    for name in ["askedAt", "postedAt", "storedAt", "appliedAt", "notificationUUID"] {
                        #expect(object[name] is String, "\(name)")
                    }
                    #expect((object["detail"] as? String)?.contains("came through") == true)
                    #expect(object["brokenLink"] is NSNull)
                    #expect(object["tookMilliseconds"] is Int && object["environment"] as? String == "Sandbox")
                    let wrong = try await send(
                        program, "/webhooks/apple/test", .POST, token: key, body: #"{"app":"com.example.other"}"#)
                    #expect(wrong.status == 400)
                }
            }
        }
    }

    @Test("does not start without what it needs, nor where somebody believes that verification can be skipped")
    func settings() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                func refused(_ more: [String: String], without: Set<String> = [], _ word: String) async throws {
                    let all = settings.merging(more) { _, own in own }.filter { !without.contains($0.key) }
                    let outcome = try await site.run("serve", "--port", "0", with: all)
                    #expect(outcome.ending == .exited(2) && outcome.errorLines == 1, "\(word): \(outcome.errors)")
                    #expect(outcome.errors.contains(word), "\(outcome.errors)")
                }
                for name in ["STOREHOOK_JWT_KEYS", "STOREHOOK_JWT_ISSUER", "STOREHOOK_JWT_AUDIENCE"] {
                    try await refused([:], without: [name], name)
                }
                try await refused(["STOREHOOK_JWT_SECRET_FILE": "/nowhere"], "not both")
                try await refused(
                    ["STOREHOOK_JWT_SECRET_FILE": "/nowhere"], without: ["STOREHOOK_JWT_KEYS"],
                    "STOREHOOK_JWT_SECRET_FILE: /nowhere")
                try await refused(["STOREHOOK_JWT_KEYS": "/nowhere/jwks.json"], "STOREHOOK_JWT_KEYS")
                try await refused(["STOREHOOK_JWT_KEYS": "http://login.example.com/jwks.json"], "https")
                try await refused(["STOREHOOK_CORS_ORIGINS": "*"], "STOREHOOK_CORS_ORIGINS")
                try await refused(["STOREHOOK_REQUESTS_PER_ACCOUNT": "0"], "STOREHOOK_REQUESTS_PER_ACCOUNT")
                for name in ["SKIP_JWS_VERIFICATION", "STOREHOOK_SKIP_VERIFICATION", "DISABLE_SIGNATURE_VERIFICATION"] {
                    try await refused([name: "false"], name)
                    let worker = try await site.run("work", with: [name: "1"])
                    #expect(worker.ending == .exited(2) && worker.errors.contains(name))
                }
            }
        }
        for name in ["GIT_SSL_NO_VERIFY", "PATH", "SKIP_TESTS", "VERIFICATION_SKIPPED_AT", "STOREHOOK"] {
            #expect(!Settings.skipsVerification(name), "\(name)")
        }
    }

    @Test(
        "does not start with what is no key: a bare secret, a public text as a secret, a set without keys, a named pipe"
    )
    func startingKeys() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let good = try #require(settings["STOREHOOK_JWT_KEYS"])
                let jwks = try String(contentsOfFile: good, encoding: .utf8)
                let file = URL(fileURLWithPath: good).deletingLastPathComponent().appending(path: "other").path
                func expect(_ text: String, as source: String, refusedFor why: String) async throws {
                    try text.write(toFile: file, atomically: true, encoding: .utf8)
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                    let all = settings.merging(["STOREHOOK_JWT_KEYS": source]) { _, own in own }
                    let outcome = try await site.run("serve", "--port", "0", with: all)
                    #expect(outcome.ending == .exited(2) && outcome.errorLines == 1, "\(why): \(outcome.errors)")
                    #expect(outcome.errors.contains(why), "\(outcome.errors)")
                    #expect(text.isEmpty || !outcome.errors.contains(text))
                }
                let secret = Data((0..<48).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
                try await expect(secret, as: file, refusedFor: "STOREHOOK_JWT_SECRET_FILE")
                try await expect("\u{FEFF}" + jwks, as: file, refusedFor: "is neither a JWK set nor PEM")
                try await expect(jwks, as: "secret:\(file)", refusedFor: "and no secret")
                try await expect("<html><body>502</body></html>", as: "secret:\(file)", refusedFor: "and no secret")
                try await expect("", as: file, refusedFor: "is empty")
                try await expect(#"{"keys":[]}"#, as: file, refusedFor: "holds no key")
                try await expect(
                    #"{"keys":[{"kty":"oct","k":"x"}]}"#, as: file, refusedFor: "with 2048 to 8192 bits (RS256)")
                try await expect(#"{"key":[]}"#, as: file, refusedFor: "wanted is JSON with a list of public keys")
                let provider = try ScriptedServer { _ in .json(200, #"{"keys":[]}"#) }
                defer { provider.stop() }
                try await expect("", as: "http://127.0.0.1:\(provider.port)/", refusedFor: "holds no key")
                unlink(file)
                guard mkfifo(file, 0o600) == 0 else { throw NeverHappened("a named pipe") }
                for source in [file, "secret:\(file)"] {
                    let all = settings.merging(["STOREHOOK_JWT_KEYS": source]) { _, own in own }
                    let outcome = try await site.run("serve", "--port", "0", with: all)
                    #expect(outcome.ending == .exited(2) && outcome.errors.contains("is no plain file"))
                }
                let tls = ["STOREHOOK_TLS_CERTIFICATE": file, "STOREHOOK_TLS_KEY": file]
                let outcome = try await site.run("serve", "--port", "0", with: settings.merging(tls) { $1 })
                #expect(outcome.ending == .exited(2) && outcome.errors.contains("is no plain file"))
            }
        }
    }

    @Test("says of keys that became garbage that those of before count, and since when; without keys it is not ready")
    func changingKeys() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                let file = try #require(settings["STOREHOOK_JWT_KEYS"])
                let jwks = try String(contentsOfFile: file, encoding: .utf8)
                let token = try await site.run("demo", "token", "alice", with: settings).output
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                func say(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }
                func doctor() async throws -> String {
                    try await site.run("doctor", "--role", "api", "--format", "json", with: settings).output
                }
                try await site.with(["serve", "--port", "0", "--metrics-port", "0"], settings) { program in
                    let operations = "http://127.0.0.1:\(try await program.metricsPort())"
                    func metric(_ name: String) async throws -> Double? {
                        let page = try await fetch(operations + "/metrics").body
                        return page.split(separator: "\n").first { $0.hasPrefix(name + " ") }?
                            .split(separator: " ").last.flatMap { Double($0) }
                    }
                    let since = "storehook_api_token_keys_stale_since_seconds"
                    #expect(try await fetch(operations + "/readyz").body == "")
                    #expect(try await metric("storehook_api_token_keys") == 1)
                    #expect(try await metric(since) == 0)
                    let start = Date().timeIntervalSince1970
                    for text in ["", "<html>"] {
                        try say(text)
                        try await eventually("it says so") {
                            let ready = try await fetch(operations + "/readyz")
                            return ready.status == 200
                                && ready.body.hasPrefix(#"{"warning":"the keys of STOREHOOK_JWT_KEYS"#)
                        }
                        #expect(try await send(program, "/v1/account", token: token).status == 200)
                        let stale = try #require(try await metric(since))
                        #expect(stale >= start - 2 && stale <= Date().timeIntervalSince1970 + 1)
                        #expect(try await metric("storehook_api_token_keys") == 1)
                        let finding = try await doctor()
                        #expect(finding.contains("it has stood so since 20"), "\(finding)")
                        #expect(finding.contains("goes on with the keys that it had before"))
                    }
                    try say(#"{"keys":[]}"#)
                    try await eventually("it is not ready") {
                        let ready = try await fetch(operations + "/readyz")
                        return ready.status == 503 && ready.body.contains("every token is refused")
                    }
                    #expect(try await send(program, "/v1/account", token: token).status == 401)
                    #expect(try await metric("storehook_api_token_keys") == 0)
                    #expect(try await doctor().contains("refuses every token"))
                    try say(jwks)
                    try await eventually("it is ready") { try await fetch(operations + "/readyz").status == 200 }
                    #expect(try await send(program, "/v1/account", token: token).status == 200)
                    #expect(try await metric(since) == 0)
                }
            }
        }
    }

    @Test("is what the doctor looks at: keys that can be read, and whose tokens they are for")
    func doctor() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                func finding(_ more: [String: String]) async throws -> String {
                    let program = try site.start(["doctor", "--format", "json"], more)
                    await program.end()
                    let output = program.output
                    await program.discard()
                    let findings = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: String]]
                    let one = findings?.first { $0["check"] == "app tokens" }
                    return "\(one?["status"] ?? "-"): \(one?["message"] ?? "-")"
                }
                let unset = try await finding([:])
                #expect(unset.hasPrefix("skipped"))
                #expect(try await finding(settings) == "ok: 1 key, for tokens of storehook-demo to storehook")
                #expect(try await finding(["STOREHOOK_JWT_ISSUER": "x"]).hasPrefix("failed: STOREHOOK_JWT_AUDIENCE"))
                let gone = settings.merging(["STOREHOOK_JWT_KEYS": "/nowhere"]) { $1 }
                #expect(try await finding(gone).hasPrefix("failed: STOREHOOK_JWT_KEYS"))
            }
        }
    }
}
