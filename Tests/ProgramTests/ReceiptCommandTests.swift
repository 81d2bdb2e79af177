import AppStorePayloads
import Crypto
import EvidenceStore
import Foundation
import Simulation
import TestSupport
import Testing

@Suite("storehook refresh --receipt")
struct ReceiptCommandTests {
    private static let secret = "0123456789abcdef0123456789abcdef"

    /// A customer's receipt, in a file while `body` runs.
    private func withReceipt<T>(
        by authority: SimulatedAuthority, _ body: (_ file: String, _ original: String) async throws -> T
    ) async throws -> T {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        customer.buy(.basicMonthly, at: Site.now)
        let items = customer.allItems.map { customer[$0] }
        let bytes = try ReceiptSigner(authority.chain).sign(
            SimulatedReceipt(of: items, app: Site.app, at: Site.now + 1000))
        let file = FileManager.default.temporaryDirectory.appending(path: "receipt-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Base64.standard.encode(bytes)).write(to: file)
        return try await body(file.path, items[0].originalTransactionId)
    }

    private func settings(_ server: ScriptedServer) -> [String: String] {
        [
            "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(server.port)", "APPLE_SHARED_SECRET": Self.secret,
            "STOREHOOK_LOG_LEVEL": "trace",
        ]
    }

    @Test("asks verifyReceipt where a shared secret is all there is, keeps receipt and answer, and shows no secret")
    func sharedSecret() async throws {
        try await withSite { site in
            let answer = """
                {"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(Site.app.bundleId)","in_app":[]}}
                """
            let server = try ScriptedServer { request in
                .json(200, request.line.contains("environment=Production") ? #"{"status":21007}"# : answer)
            }
            defer { server.stop() }
            try await withReceipt(by: site.authority) { file, original in
                let run = try await site.run(
                    "refresh", "--receipt", file, "--format", "json", with: settings(server))
                #expect(run.ending == .exited(0), "\(run.errors)")
                let told = try #require(try run.json() as? [String: Any])
                #expect(told["proof"] as? String == "signature" && told["environment"] as? String == "Sandbox")
                #expect(told["transaction_ids"] as? [String] == [original])
                #expect((told["outbox_ids"] as? [Int])?.count == 2)
                #expect(server.requests.map(\.line).map { $0.contains("/verifyReceipt") } == [true, true])
                #expect(
                    server.requests.allSatisfy { $0.text.contains(Self.secret) && !$0.text.contains("Authorization") })
                #expect(!(run.output + run.errors).contains(Self.secret))
                let table = try await site.run(
                    "refresh", "--receipt", file, "--format", "table", with: settings(server))
                #expect(table.output.contains("Apple signed it"), "\(table.output)")
                try await site.with(["work"]) { _ in try await site.untilDone() }
                let books = try await site.outbox.conservation()
                #expect(books.parked == 2 && books.duplicate == 2 && books.missing == 0)
                // What takes a key says so.
                let other = try await site.run("refresh", original, with: settings(server))
                #expect(other.ending == .exited(2) && other.errors.contains("shared secret alone"), "\(other.errors)")
                // A worker has nothing to ask, and works.
                let doctor = try await site.run("doctor", with: settings(server))
                #expect(doctor.output.contains("a shared secret alone is set"), "\(doctor.output)")
            }
        }
    }

    @Test(
        "derives from what verifyReceipt says where that is all there is, and the story and the rebuild know what it is"
    )
    func unsigned() async throws {
        try await withSite { site in
            try await withReceipt(by: site.authority) { file, original in
                func answer(_ second: Int64, _ more: String) -> String {
                    """
                    {"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\(Site.app.bundleId)",\
                    "request_date_ms":"\(Site.now + second * 1000)","in_app":[]},"latest_receipt_info":[\
                    {"transaction_id":"\(original)","original_transaction_id":"\(original)",\
                    "product_id":"\(SimulatedProduct.basicMonthly.id)","purchase_date_ms":"\(Site.now)",\
                    "original_purchase_date_ms":"\(Site.now)","expires_date_ms":"\(Site.now + 30 * 86_400_000)"\(more)}]}
                    """
                }
                let refund = #","cancellation_date_ms":"\#(Site.now + 10_000)""#
                for (said, stored) in [(answer(2, ""), 1), (answer(20, refund), 1), (answer(21, refund), 0)] {
                    let server = try ScriptedServer { request in
                        .json(200, request.line.contains("environment=Production") ? #"{"status":21007}"# : said)
                    }
                    let run = try await site.run(
                        "refresh", "--receipt", file, "--format", "json", with: settings(server))
                    server.stop()
                    #expect(run.ending == .exited(0), "\(run.errors)")
                    let told = try #require(try run.json() as? [String: Any])
                    #expect(told["unsigned_stored"] as? Int == stored)
                    try await site.with(["work"]) { _ in try await site.untilDone() }
                }
                let told = try await site.run("subscription", original, "--format", "table", "--at", "2026-02-02")
                #expect(told.output.contains("revoked"), "\(told.output)\(told.errors)")
                #expect(told.output.contains("verifyReceipt's answer, unsigned"), "\(told.output)")
                let json = try await site.run("subscription", original, "--format", "json")
                #expect(json.output.contains("\"receipt_transaction\""), "\(json.output)")
                let check = try await site.run("rebuild", "--check")
                #expect(check.ending == .exited(0), "\(check.output)\(check.errors)")
                let books = try await site.outbox.conservation(audit: true)
                #expect(books.isWhole && books.applied == 2)
            }
        }
    }

    @Test("leaves with 1 and what to do where verifyReceipt does not vouch, and stores nothing")
    func refused() async throws {
        try await withSite { site in
            let server = try ScriptedServer { _ in .json(200, #"{"status":21004}"#) }
            defer { server.stop() }
            try await withReceipt(by: SimulatedAuthority.generate()) { file, _ in
                let run = try await site.run("refresh", "--receipt", file, with: settings(server))
                #expect(run.ending == .exited(1) && run.errorLines == 1)
                #expect(run.errors.contains("shared_secret_mismatch") && run.errors.contains("App Information"))
                #expect(!run.errors.contains(Self.secret))
                for wrong in [["refresh"], ["refresh", "1", "--receipt", file]] {
                    let program = try site.start(wrong)
                    #expect(await program.end() == .exited(2))
                    await program.discard()
                }
            }
            #expect(try await site.outbox.conservation().received == 0)
        }
    }

    @Test("stores what Apple signed although verifyReceipt gives no answer, says what went wrong, and leaves with 1")
    func signatureAlone() async throws {
        try await withSite { site in
            let server = try ScriptedServer { _ in .json(200, #"{"status":21004}"#) }
            defer { server.stop() }
            try await withReceipt(by: site.authority) { file, original in
                let run = try await site.run(
                    "refresh", "--receipt", file, "--format", "json", with: settings(server))
                #expect(run.ending == .exited(1), "\(run.errors)")
                let told = try #require(try run.json() as? [String: Any])
                #expect(told["proof"] as? String == "signature" && told["transaction_ids"] as? [String] == [original])
                #expect((told["trouble"] as? String)?.hasPrefix("shared_secret_mismatch") == true)
            }
            #expect(try await site.outbox.conservation().received == 1)
        }
    }

    @Test("only asks with the ids of a receipt that nobody vouches for, says so, and leaves with 1")
    func unproven() async throws {
        try await withSite { site in
            let server = try ScriptedServer { _ in .json(404, #"{"errorCode":4040010,"errorMessage":"…"}"#) }
            defer { server.stop() }
            var settings = settings(server)
            settings["APPLE_SHARED_SECRET"] = nil
            settings["APPLE_ISSUER_ID"] = "issuer"
            settings["APPLE_KEY_ID"] = "KEYID12345"
            settings["APPLE_PRIVATE_KEY"] = Data(P256.Signing.PrivateKey().pemRepresentation.utf8)
                .base64EncodedString()
            try await withReceipt(by: SimulatedAuthority.generate()) { file, original in
                let run = try await site.run("refresh", "--receipt", file, "--format", "json", with: settings)
                #expect(run.ending == .exited(1), "\(run.errors)")
                let told = try #require(try run.json() as? [String: Any])
                #expect(told["proof"] == nil && (told["refusal"] as? String)?.hasPrefix("untrusted_root") == true)
                #expect(server.requests.contains { $0.line.contains("/inApps/v2/history/\(original)") })
            }
            #expect(try await site.outbox.conservation().received == 0)
        }
    }
}
