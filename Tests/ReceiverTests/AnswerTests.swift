import EvidenceStore
import Foundation
import NIOHTTP1
import Simulation
import TestSupport
import Testing

@Suite("The receiver's answers")
struct AnswerTests {
    @Test("200 with nothing in it, and then the notification is there for everybody else")
    func stored() async throws {
        try await withReceiver { receiver async throws in
            for round in 0..<20 {
                let answer = try await receiver.post(envelope("a.b.\(round)"))
                #expect(answer.status == 200)
                #expect(answer.body.isEmpty)
                #expect(try await receiver.stored().last == "a.b.\(round)")
            }
            #expect(try await receiver.outbox.depth().first?.count == 20)
        }
    }

    @Test("200 for what the simulator signs, stored byte for byte")
    func signed() async throws {
        let authority = try SimulatedAuthority.generate()
        let simulation = Simulation(seed: 3, notifications: 12, endingAt: 1_767_225_600_000)
        let texts = Array(simulation.signedDeliveries(by: authority))
        try await withReceiver { receiver async throws in
            for text in texts {
                let body = String(decoding: UnsignedNotification.postBody(text), as: UTF8.self)
                #expect(try await receiver.post(body).status == 200)
            }
            #expect(try await receiver.stored() == texts)
        }
    }

    @Test("200 whatever the content type says, and without one")
    func contentTypes() async throws {
        try await withReceiver { receiver async throws in
            for type in ["application/json", "text/plain", "application/x-www-form-urlencoded", "nonsense", "", nil] {
                #expect(
                    try await receiver.post(envelope("a.b.c"), contentType: type).status == 200, "\(type ?? "none")")
            }
            #expect(try await receiver.stored().count == 6)
        }
    }

    @Test("200 for a JWS that is none: judging it is the worker's business")
    func garbage() async throws {
        try await withReceiver { receiver async throws in
            #expect(try await receiver.post(envelope("not a JWS at all")).status == 200)
            #expect(try await receiver.stored() == ["not a JWS at all"])
        }
    }

    @Test("200 for an escaped JWS, other members beside it and white space around; stored as it was meant")
    func unusualJSON() async throws {
        try await withReceiver { receiver async throws in
            let body = "\r\n { \"x\" : [1, {}], \"signedPayload\" : \"a\\u002eb\\/\\u00e9\" }\n"
            #expect(try await receiver.post(body).status == 200)
            #expect(try await receiver.stored() == ["a.b/é"])
        }
    }

    @Test(
        "400 for what Apple never sends, with the reason, and nothing is stored",
        arguments: [
            "", " ", "null", "[]", "\"text\"", "{", "{}", #"{"signedPayload":1}"#, #"{"signedPayload":null}"#,
            #"{"signedPayload":""}"#, #"{"signedpayload":"a.b.c"}"#, #"{"signedPayload":"a","signedPayload":"b"}"#,
            #"{"signedPayload":"a"} x"#, #"{"signedPayload":"\ud800"}"#, "signedPayload=a.b.c",
            String(repeating: "[", count: 100_000),
        ])
    func refused(body: String) async throws {
        try await withReceiver { receiver async throws in
            let answer = try await receiver.post(body)
            #expect(answer.status == 400)
            #expect(answer.body.hasPrefix(#"{"error":""#))
            #expect(answer.headers["Content-Type"] == ["application/json"])
            #expect(try await receiver.stored().isEmpty)
        }
    }

    @Test("405 for other methods, naming the one that is meant, and 404 elsewhere")
    func elsewhere() async throws {
        try await withReceiver { receiver async throws in
            for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"] {
                let answer = try await receiver.send(method, "/webhooks/apple")
                #expect(answer.status == 405, "\(method)")
                #expect(answer.headers["Allow"] == ["POST"])
            }
            for path in [
                "/", "/webhooks", "/webhooks/apple/", "/webhooks/apple/x", "/Webhooks/Apple", "/..%2fwebhooks",
                "//webhooks/apple",
                "/webhooks//apple",
            ] {
                #expect(try await receiver.post(envelope("a"), to: path).status == 404, "\(path)")
            }
            #expect(try await receiver.post(envelope("a.b.c"), to: "/webhooks/apple?from=apple").status == 200)
            #expect(try await receiver.stored() == ["a.b.c"])
        }
    }

    @Test("healthz answers GET and HEAD; what operators read is not on this port")
    func health() async throws {
        try await withReceiver { receiver async throws in
            #expect(try await receiver.send("GET", "/healthz").status == 200)
            #expect(try await receiver.send("HEAD", "/healthz").status == 200)
            #expect(try await receiver.send("POST", "/healthz").status == 405)
            for path in ["/readyz", "/metrics", "/healthz/"] {
                #expect(try await receiver.send("GET", path).status == 404)
            }
        }
    }
}
