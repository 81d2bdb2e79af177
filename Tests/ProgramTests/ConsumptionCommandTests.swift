import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import TestSupport
import Testing

@Suite("storehook consent and consumption")
struct ConsumptionCommandTests {
    private static let policy = """
        rules:
          - types: [auto_renewable]
            answer: {delivery_status: DELIVERED, sample_content_provided: false, refund_preference: DECLINE}
        """

    private func file(_ name: String, _ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)-\(name)").path
        // A file that holds a key is for its owner alone.
        #expect(
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
        return path
    }

    private struct Announcement: Decodable {
        var url: String
        var issuerId: String
        var keyId: String
        var privateKeyFile: String
        var rootFingerprint: String
        var bundleId: String
        var appAppleId: Int64
    }

    private func shop(_ url: String, _ path: String, _ body: [String: String]? = nil) async throws -> Data {
        var request = HTTPClientRequest(url: "\(url)/stand-in/\(path)")
        if let body {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: body)))
        }
        let response = try await client.execute(request, timeout: .seconds(60))
        let answer = Data(try await response.body.collect(upTo: 8 << 20).readableBytesView)
        #expect(response.status.code < 300, "\(path): \(String(decoding: answer, as: UTF8.self))")
        return answer
    }

    @Test("asked for by the stand-in: with consent Apple is told by the policy and once, without it never")
    func whole() async throws {
        try await withSite { site in
            let pki = FileManager.default.temporaryDirectory.appending(path: "consumption-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: pki) }
            let policy = try file("policy.yaml", Self.policy)
            try await site.with(["receive", "--port", "0"]) { receiver in
                let port = try #require(receiver.port)
                let store = try site.start([
                    "app-store", "--port", "\(try freePort())", "--notify",
                    "http://127.0.0.1:\(port)/webhooks/apple", "--pki", pki, "--speed", "1",
                ])
                do {
                    try await whole(site, store, policy)
                    await store.discard()
                } catch {
                    await store.discard()
                    throw error
                }
            }
        }
    }

    private func whole(_ site: Site, _ store: ChildProgram, _ policy: String) async throws {
        try await eventually("the stand-in listens") { store.output.contains("\n") }
        let apple = try JSONDecoder().decode(Announcement.self, from: Data(store.output.utf8))
        let keys = try file(
            "keys.yaml",
            """
            \(apple.bundleId):
              issuer_id: \(apple.issuerId)
              key_id: \(apple.keyId)
              private_key_file: \(apple.privateKeyFile)
            """)
        let settings = [
            "STOREHOOK_APPS": "\(apple.bundleId)=\(apple.appAppleId)", "STOREHOOK_APPLE_URL": apple.url,
            "STOREHOOK_TRUSTED_ROOTS": apple.rootFingerprint, "STOREHOOK_APPLE_KEYS": keys,
            "STOREHOOK_CONSUMPTION_POLICY": policy,
        ]
        var transactions: [String: String] = [:]
        for account in ["user-42", "user-43"] {
            let run = try await site.run("consent", account, "--format", "json", with: settings)
            let shown = try #require(try run.json() as? [String: Any])
            #expect(shown["granted"] as? Bool == false && (shown["history"] as? [Any])?.isEmpty == true)
            let token = try #require(shown["app_account_token"] as? String)
            let bought = try await shop(
                apple.url, "purchases",
                [
                    "productId": "com.example.storehook.premium.monthly", "appAccountToken": token,
                    "environment": "Production",
                ])
            let purchase = try #require(try JSONSerialization.jsonObject(with: bought) as? [String: Any])
            transactions[account] = try #require(purchase["transactionId"] as? String)
        }
        let granted = try await site.run(
            "consent", "user-42", "--grant", "--text", "I agree.", "--format", "table", with: settings)
        #expect(granted.ending == .exited(0) && granted.output.contains("42ca334f-18cb-59e1-9616-a1dca64eb9b4"))
        #expect(granted.output.contains("I agree.") && granted.output.contains("granted"))
        for (_, transaction) in transactions {
            for _ in 1...2 {
                _ = try await shop(
                    apple.url, "consumption-requests", ["transactionId": transaction, "reason": "OTHER"])
            }
        }
        try await site.with(["work"], settings) { _ in
            try await site.with(["work"], settings) { _ in
                try await eventually("all four requests are looked at") {
                    try await site.value(
                        """
                        select count(*) = 4 from storehook.consumption_answers
                         where outcome in ('answered', 'not_answered') or why = 'no_consent'
                        """)
                }
            }
        }
        let received = try JSONSerialization.jsonObject(with: try await shop(apple.url, "received")) as? [[String: Any]]
        let told = (received ?? []).filter { $0["kind"] as? String == "consumption" }
        #expect(told.count == 1 && told.first?["transactionId"] as? String == transactions["user-42"])
        #expect(told.first?["refundPreference"] as? String == "DECLINE")
        let list = try await site.run("consumption", "list", "--format", "json", with: settings)
        let rows = try #require(try list.json() as? [[String: Any]])
        let states = rows.map { "\($0["state"] as? String ?? "") \($0["why"] as? String ?? "-")" }.sorted()
        #expect(states == ["answered -", "not_answered answered_before", "open no_consent", "open no_consent"])
        let table = try await site.run("consumption", "list", "--state", "open", "--format", "table", with: settings)
        #expect(table.output.contains("no_consent: the customer was never asked"), "\(table.output)")
        try await byHand(site, apple, settings, rows, transactions.values.sorted())
    }

    /// What is left is answered by hand; then it is not answered again, also not by hand.
    private func byHand(
        _ site: Site, _ apple: Announcement, _ settings: [String: String], _ rows: [[String: Any]],
        _ transactions: [String]
    ) async throws {
        let open = rows.filter { $0["state"] as? String == "open" }.compactMap { $0["notification_uuid"] as? String }
        for (number, uuid) in open.enumerated() {
            let run = try await site.run(
                "apple", "consumption", uuid, "--consented", "--preference", "grant-full", with: settings)
            #expect(run.ending == .exited(number == 0 ? 0 : 1), "\(run.errors)")
            if number > 0 { #expect(run.errors.contains("answered once"), "\(run.errors)") }
        }
        // The transaction's id is no way around what is on record.
        for transaction in transactions {
            let run = try await site.run("apple", "consumption", transaction, "--consented", with: settings)
            #expect(run.ending == .exited(1) && run.errors.contains("answered once"), "\(run.errors)")
        }
        let received = try JSONSerialization.jsonObject(with: try await shop(apple.url, "received")) as? [[String: Any]]
        #expect((received ?? []).count { $0["kind"] as? String == "consumption" } == 2)
        #expect(
            try await site.value(
                "select count(*) = 1 from storehook.consumption_answers where sent_by is not null and outcome = 'answered'"
            ))
    }

    @Test("say what is wrong with a policy and where, and workers do not start with one")
    func policies() async throws {
        try await withSite { site in
            let good = try file("good.yaml", Self.policy)
            let check = try await site.run("consumption", "check", good, "--format", "table")
            #expect(
                check.ending == .exited(0) && check.output.contains("Auto-Renewable Subscription"), "\(check.output)")
            let bad = try file("bad.yaml", Self.policy.replacing("DECLINE", with: "PERHAPS"))
            let run = try await site.run("consumption", "check", bad)
            #expect(run.ending == .exited(2) && run.errors.contains("\(bad):3: refund_preference is one of DECLINE"))
            let work = try await site.run("work", with: ["STOREHOOK_CONSUMPTION_POLICY": bad])
            #expect(work.ending == .exited(2) && work.errors.contains("STOREHOOK_CONSUMPTION_POLICY: \(bad):3:"))
            let stranger = try file(
                "stranger.yaml", Self.policy.replacing("types:", with: "apps: [org.other]\n    types:"))
            let other = try await site.run("work", with: ["STOREHOOK_CONSUMPTION_POLICY": stranger])
            #expect(other.ending == .exited(2) && other.errors.contains("org.other, which is not served"))
            let gone = try await site.run("consumption", "check", "/nowhere")
            #expect(gone.ending == .exited(2) && gone.errors.contains("cannot read /nowhere"))
            let doctor = try await site.run(
                "doctor", "--format", "json", "--port", "\(try freePort())",
                with: ["STOREHOOK_CONSUMPTION_POLICY": good])
            #expect(doctor.output.contains("it is set, and no key for"), "\(doctor.output)")
        }
    }

    @Test("record nothing without the words that the customer was shown")
    func words() async throws {
        try await withSite { site in
            for arguments in [["--grant"], ["--grant", "--text", " "], ["--grant", "--withdraw"], ["--text", "x"]] {
                let program = try site.start(["consent", "user-42"] + arguments)
                #expect(await program.end() == .exited(2), "\(arguments)")
                await program.discard()
            }
            #expect(try await site.value("select count(*) from storehook.consumption_consents") == Int64(0))
        }
    }
}
