import Crypto
import EvidenceStore
import Foundation
import Simulation
import Synchronization
import TestSupport
import Testing

@Suite("storehook apple")
struct AppleCommandTests {
    private static let pem = P256.Signing.PrivateKey().pemRepresentation

    /// The settings of an app with a key, and of a server that stands in for Apple's.
    private func settings(_ server: ScriptedServer, _ more: [String: String] = [:]) -> [String: String] {
        [
            "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(server.port)", "APPLE_ISSUER_ID": "issuer",
            "APPLE_KEY_ID": "KEYID12345", "APPLE_PRIVATE_KEY": Data(Self.pem.utf8).base64EncodedString(),
            "DATABASE_URL": "", "STOREHOOK_LOG_LEVEL": "trace",
        ].merging(more) { _, own in own }
    }

    private static func transaction(_ authority: SimulatedAuthority, _ id: String) -> String {
        authority.sign(
            """
            {"transactionId":"\(id)","originalTransactionId":"1","bundleId":"\(Site.app.bundleId)","environment":"Sandbox",\
            "productId":"com.example.pro","type":"Auto-Renewable Subscription","price":9990,"currency":"USD",\
            "purchaseDate":1769800000000,"expiresDate":1772400000000,"signedDate":1769900000000}
            """)
    }

    @Test("shows what Apple answers, page by page, as a table and as JSON, and keeps back what is forged")
    func history() async throws {
        try await withSite { site in
            let stranger = try SimulatedAuthority.generate()
            let first = Self.transaction(site.authority, "11")
            let second = Self.transaction(site.authority, "12")
            let forged = Self.transaction(stranger, "13")
            let server = try ScriptedServer { request in
                if request.line.contains("environment=Production") {
                    return .json(404, #"{"errorCode":4040010,"errorMessage":"…"}"#)
                }
                return request.line.contains("revision=r")
                    ? .json(200, "{\"signedTransactions\":[\"\(second)\",\"\(forged)\"],\"hasMore\":false}")
                    : .json(200, "{\"signedTransactions\":[\"\(first)\"],\"hasMore\":true,\"revision\":\"r\"}")
            }
            defer { server.stop() }
            let run = try await site.run("apple", "history", "11", with: settings(server))
            #expect(run.ending == .exited(1), "\(run.errors)")
            let answer = try #require(try run.json() as? [String: Any])
            let ids = (answer["transactions"] as? [[String: Any]])?.map { $0["transactionId"] as? String }
            #expect(ids == ["11", "12"] && answer["environment"] as? String == "Sandbox")
            let refused = (answer["refused"] as? [[String: Any]])?.map { $0["code"] as? String }
            #expect(refused == ["untrusted_root"])
            #expect(run.errors.contains("kept back record 2") && !run.output.contains("\"13\""))
            let table = try await site.run("apple", "history", "11", "--format", "table", with: settings(server))
            #expect(table.output.contains("9.99 USD") && table.output.contains("2026-03-01"))
        }
    }

    @Test("shows the pages that there were where a later one fails, says which, and goes on from there")
    func missingPage() async throws {
        try await withSite { site in
            let (first, second) = (Self.transaction(site.authority, "11"), Self.transaction(site.authority, "12"))
            let fails = Mutex(true)
            let server = try ScriptedServer { request in
                guard request.line.contains("revision=r") else {
                    return .json(200, "{\"signedTransactions\":[\"\(first)\"],\"hasMore\":true,\"revision\":\"r/1\"}")
                }
                return fails.withLock { $0 }
                    ? .json(400, #"{"errorCode":4000000,"errorMessage":"…"}"#)
                    : .json(200, "{\"signedTransactions\":[\"\(second)\"],\"hasMore\":false}")
            }
            defer { server.stop() }
            func ask(_ list: String, _ more: [String]) async throws -> (Outcome, ids: [String], missing: [String: Any]?)
            {
                let program = try site.start(["apple", list, "11"] + more, settings(server))
                let ending = await program.end()
                let outcome = Outcome(ending: ending, output: program.output, errors: program.errors, outputBytes: [])
                await program.discard()
                let answer = try #require(try outcome.json() as? [String: Any], "\(outcome.errors)")
                let ids = (answer["transactions"] as? [[String: Any]])?.compactMap { $0["transactionId"] as? String }
                return (outcome, ids ?? [], answer["missing"] as? [String: Any])
            }
            for list in ["history", "refunds"] {
                fails.withLock { $0 = true }
                let (half, ids, missing) = try await ask(list, ["--environment", "Sandbox"])
                #expect(half.ending == .exited(1) && half.errorLines == 1 && ids == ["11"], "\(half)")
                #expect(missing?["page"] as? Int == 2 && missing?["revision"] as? String == "r/1", "\(half.output)")
                #expect(half.errors.hasPrefix("storehook: page 2 failed, and the 1 before it is shown: "), "\(half)")
                #expect(half.errors.contains("4000000") && half.errors.contains("--environment Sandbox --revision=r/1"))
                fails.withLock { $0 = false }
                let (rest, others, none) = try await ask(list, ["--environment", "Sandbox", "--revision", "r/1"])
                #expect(rest.ending == .exited(0) && rest.errors.isEmpty && others == ["12"] && none == nil, "\(rest)")
                let (whole, all, _) = try await ask(list, ["--environment", "Sandbox"])
                #expect(whole.ending == .exited(0) && all == ["11", "12"], "\(whole)")
            }
        }
    }

    @Test("shows key and token nowhere, whatever is logged and whatever goes wrong, and neither in an argument list")
    func secrets() async throws {
        try await withSite { site in
            let answers: [ScriptedServer.Answer] = [
                .json(401, ""), .json(500, "{}"), .json(400, #"{"errorCode":4000006,"errorMessage":"eyJ"}"#),
                .json(200, "eyJhbGciOi"), .bytes("nonsense"),
            ]
            for (number, answer) in answers.enumerated() {
                let server = try ScriptedServer { _ in answer }
                let run = try await site.run(
                    "apple", "extend-all", "--environment", "Sandbox", "--product", "\(number)", "--days", "1",
                    "--reason",
                    "other", with: settings(server, ["DATABASE_URL": site.database.url]))
                #expect(run.ending == .exited(1), "\(run.errors)")
                let said = run.output + run.errors
                let tokens = server.requests.compactMap { request in
                    request.text.firstMatch(of: /Bearer ([A-Za-z0-9._-]+)/).map { String($0.1) }
                }
                #expect(!tokens.isEmpty)
                let lines = Self.pem.split(separator: "\n").dropFirst().dropLast().map(String.init)
                let packed = Data(Self.pem.utf8).base64EncodedString()
                for secret in tokens + lines + [packed, "eyJ"] { #expect(!said.contains(secret)) }
                server.stop()
            }
        }
    }

    @Test("has a test notification posted and shows its way: asked, posted, stored, applied")
    func test() async throws {
        try await withSite { site in
            let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
            var customer = SimulatedSubscriber(lane: 1, seed: 1)
            customer.test(at: now - 60_000)
            let jws = try #require(customer.takeNotifications().first).signed(by: site.authority)
            let server = try ScriptedServer { request in
                request.line.hasPrefix("POST")
                    ? .json(200, #"{"testNotificationToken":"T"}"#)
                    : .json(
                        200,
                        #"{"signedPayload":"\#(jws)","sendAttempts":[{"attemptDate":\#(now),"sendAttemptResult":"SUCCESS"}]}"#
                    )
            }
            defer { server.stop() }
            func answer(
                _ token: String?, _ database: String, status: Int32 = 0
            ) async throws -> [String: Any] {
                let more = settings(server, ["DATABASE_URL": database])
                let run =
                    if let token {
                        try await site.run("apple", "test", "--environment", "Sandbox", "--token", token, with: more)
                    } else {
                        try await site.run("apple", "test", "--environment", "Sandbox", with: more)
                    }
                #expect(run.ending == .exited(status), "\(run.errors)")
                return try #require(try run.json() as? [String: Any])
            }
            let early = try await answer("T", site.database.url, status: 1)
            #expect(early["broken_link"] as? String == "url")
            #expect(early["place"] is NSNull && early["stored_at"] is NSNull && early["asked_at"] is NSNull)
            try await site.outbox.store([Array(jws.utf8)])
            try await site.with(["work"]) { _ in try await site.untilDone() }
            let late = try await answer(nil, site.database.url)
            #expect(late["place"] as? String == "applied")
            #expect(late["asked_at"] is String && late["stored_at"] is String && late["applied_at"] is String)
            #expect((late["send_attempts"] as? [[String: Any]])?.first?["result"] as? String == "SUCCESS")
            // Without a database it tells what Apple says.
            #expect(try await answer("T", "")["place"] is NSNull)
        }
    }

    @Test("names the broken link where Apple posts none, too, in both formats", arguments: [401, 404])
    func refusedTest(status: Int) async throws {
        try await withSite { site in
            let server = try ScriptedServer { _ in
                .json(status, status == 401 ? "" : #"{"errorCode":4040007,"errorMessage":"x"}"#)
            }
            defer { server.stop() }
            let link = status == 401 ? "key" : "url"
            for format in ["json", "table"] {
                let run = try await site.run(
                    "apple", "test", "--environment", "Sandbox", "--format", format, with: settings(server))
                #expect(run.ending == .exited(1) && run.errors.isEmpty, "\(run.errors)")
                #expect(run.output.contains("\(link): "), "\(run.output)")
                if format == "json" {
                    let said = try #require(try run.json() as? [String: Any])
                    #expect(said["broken_link"] as? String == link && said["environment"] as? String == "Sandbox")
                }
            }
        }
    }

    @Test("says which setting is missing or wrong, and what to do")
    func settings() async throws {
        try await withSite { site in
            let server = try ScriptedServer { _ in .json(401, "") }
            defer { server.stop() }
            let cases: [([String: String], String)] = [
                (["APPLE_PRIVATE_KEY": "", "APPLE_KEY_ID": "", "APPLE_ISSUER_ID": ""], "no key"),
                (["APPLE_KEY_ID": ""], "belong together"), (["APPLE_PRIVATE_KEY": "secret!"], "base64"),
                (["STOREHOOK_APPLE_URL": "http://example.com"], "only https"),
                (["STOREHOOK_APPLE_URL": "https://example.com"], "Production"),
                (["STOREHOOK_APPLE_KEYS": "/nowhere"], "not both"),
                (
                    [
                        "STOREHOOK_APPLE_KEYS": "/nowhere", "APPLE_PRIVATE_KEY": "", "APPLE_KEY_ID": "",
                        "APPLE_ISSUER_ID": "", "APPLE_SHARED_SECRET": "secret!",
                    ], "not both"
                ),
                (["STOREHOOK_APPS": "a=1,b=2"], "STOREHOOK_APPLE_KEYS"),
                (["APPLE_BUNDLE_ID": "com.example.other"], "STOREHOOK_APPS"),
            ]
            for (more, words) in cases {
                let run = try await site.run("apple", "status", "1", with: settings(server, more))
                #expect(run.ending == .exited(2) && run.errorLines == 1, "\(more): \(run.errors)")
                #expect(run.errors.contains(words) && !run.errors.contains("secret!"), "\(run.errors)")
            }
            #expect(server.requests.isEmpty)
            let consumption = try await site.run("apple", "consumption", "1", with: settings(server))
            #expect(consumption.ending == .exited(2) && consumption.errors.contains("consent"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test("is asked by the doctor whether the keys are good, environment by environment")
    func doctor() async throws {
        try await withSite { site in
            let server = try ScriptedServer { request in
                request.line.contains("environment=Production")
                    ? .json(404, #"{"errorCode":4040007,"errorMessage":"…"}"#)
                    : .json(200, #"{"testNotificationToken":"t"}"#)
            }
            defer { server.stop() }
            let run = try await site.run("doctor", "--format", "json", "--port", "1", with: settings(server))
            struct Line: Decodable {
                var check: String
                var status: String
                var message: String
            }
            let lines = try JSONDecoder().decode([Line].self, from: Data(run.output.utf8))
            let apple = Dictionary(
                lines.filter { $0.check.hasPrefix("apple") }.map { ($0.check.split(separator: " ").last ?? "", $0) }
            ) { first, _ in first }
            #expect(apple["Sandbox"]?.status == "ok")
            #expect(apple["Production"]?.status == "failed")
            #expect(apple["Production"]?.message.contains("App Store Connect") == true)
            #expect(server.requests.allSatisfy { $0.line.hasPrefix("POST /inApps/v1/notifications/test") })
        }
    }
}
