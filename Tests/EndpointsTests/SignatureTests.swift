import AppStorePayloads
import Base
import Events
import Foundation
import TestSupport
import Testing
import Webhooks

struct SignatureTests {
    private let published = Timestamp(secondsSince1970: 1_614_265_330)

    /// The example that the specification's libraries test themselves with.
    @Test func `The published example is signed as published`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signed = try #require(
            WebhookSignature(
                Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: published,
                secrets: [secret]))
        #expect(signed.signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect(signed.headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(signed.headers.map(\.value) == [signed.id, "1614265330", signed.signature])
    }

    @Test func `While a secret is replaced there are two signatures, each the same as alone`() throws {
        let (new, old) = (WebhookSecret(), WebhookSecret())
        func signature(_ secrets: [WebhookSecret]) throws -> String {
            try #require(WebhookSignature([1, 2, 3], id: "evt_1", at: published, secrets: secrets)).signature
        }
        #expect(try signature([new, old]) == "\(signature([new])) \(signature([old]))")
    }

    @Test func `Each attempt is signed anew, and the id stays`() throws {
        let secret = WebhookSecret()
        let first = try #require(WebhookSignature([], id: "evt_1", at: published, secrets: [secret]))
        let second = try #require(
            WebhookSignature([], id: "evt_1", at: published.adding(seconds: 5), secrets: [secret]))
        #expect(first.id == second.id && first.timestamp != second.timestamp && first.signature != second.signature)
        let before = try #require(
            WebhookSignature([], id: "e", at: Timestamp(millisecondsSince1970: -1), secrets: [secret]))
        #expect(before.timestamp == "-1")
    }

    @Test func `An id that could move the borders of what is signed is refused, and so is no secret`() {
        for id in ["", "a.b", "a b", "é", "a\n"] {
            #expect(WebhookSignature([], id: id, at: published, secrets: [WebhookSecret()]) == nil, "\(id)")
        }
        #expect(WebhookSignature([], id: "a", at: published, secrets: []) == nil)
    }

    @Test func `A secret is 32 random bytes, written as the specification says, and shows itself to nobody`() throws {
        let secret = WebhookSecret()
        #expect(secret.bytes.count == 32 && secret != WebhookSecret())
        #expect(secret.text.hasPrefix("whsec_") && secret.text.utf8.count == 50)
        #expect(WebhookSecret(secret.text) == secret)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "whsec_…" && String(reflecting: secret) == "whsec_…" && !dumped.contains("UInt8"))
        for text in ["", "whsec_", "whsec_AAAA", secret.text + " ", String(secret.text.dropFirst(6)), "WHSEC_AAAA"] {
            #expect(WebhookSecret(text) == nil, "\(text)")
        }
        #expect(WebhookSecret(bytes: Array(repeating: 0, count: 23)) == nil)
        #expect(WebhookSecret(bytes: Array(repeating: 0, count: 65)) == nil)
    }

    @Test func `The public Python package verifies what is signed, with the old secret and with the new one`()
        async throws
    {
        let library = try await pythonPackage("standardwebhooks")
        let (new, old, other) = (WebhookSecret(), WebhookSecret(), WebhookSecret())
        let body = #"{"type":"test","timestamp":"2026-01-02T03:04:05Z","data":{"text":"ü € 😀 \"quoted\""}}"#
        let now = Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        let signed = try #require(
            WebhookSignature(Array(body.utf8), id: "evt_1", at: now, secrets: [new, old]))
        let late = try #require(
            WebhookSignature(Array(body.utf8), id: "evt_1", at: now.adding(seconds: -600), secrets: [new, old]))
        func given(_ signature: WebhookSignature, _ secret: WebhookSecret, _ body: String) -> [String: Any] {
            [
                "secret": secret.text, "body": body,
                "headers": Dictionary(signature.headers.map { ($0.name, $0.value) }) { first, _ in first },
            ]
        }
        let cases = [
            given(signed, new, body), given(signed, old, body), given(signed, other, body),
            given(signed, new, body + " "), given(late, new, body),
        ]
        let argument = String(decoding: try JSONSerialization.data(withJSONObject: cases), as: UTF8.self)
        let script = packageRoot.appending(path: "Tests/EndpointsTests/webhooks_library.py").path
        let output = try await ChildProgram.run(library + "/bin/python", [script, argument])
        #expect(output == "verified verified refused refused refused\n")
    }
}
