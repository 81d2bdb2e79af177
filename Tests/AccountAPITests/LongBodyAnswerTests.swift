import TestSupport
import Testing

@Suite("Long bodies sent to the account API")
struct LongBodyAnswerTests {
    /// A body longer than what is read without room; nothing of it is used.
    private static let long = #"{"signedTransactionInfo":""# + String(repeating: "a", count: 100_000) + #""}"#
    private static let short = #"{"signedTransactionInfo":"a.b.c"}"#

    /// Announces a body as an app does, and sends nothing of it.
    private func announce(_ bytes: Int, _ token: String, port: Int) async throws -> TCPSocket {
        try await onThread {
            let socket = try TCPSocket(port: port)
            try socket.send(
                "POST /v1/subscriptions/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(bytes)\r\n\r\n")
            return socket
        }
    }

    @Test("get 503 where their caller has two already; its short ones and other callers are answered meanwhile")
    func room() async throws {
        try await Shop.open { shop in
            func verify(_ body: String, as account: String) async throws -> Answer {
                try await shop.post("/v1/subscriptions/verify", as: account, body)
            }
            #expect(try await verify(Self.long, as: "alice").status == 400)
            let token = try await shop.api.signer.token(of: "alice")
            let (answers, answered) = AsyncStream.makeStream(of: String.self)
            var held: [TCPSocket] = []
            for _ in 0..<3 {
                let socket = try await announce(6 << 20, token, port: shop.api.port)
                held.append(socket)
                Task {
                    let bytes = try? await onThread { try socket.receive() }
                    answered.yield(String(decoding: bytes ?? [], as: UTF8.self))
                }
            }
            // Two have room and wait for their bytes, whichever came first.
            var iterator = answers.makeAsyncIterator()
            let refused = await iterator.next()
            #expect(refused?.hasPrefix("HTTP/1.1 503 ") == true, "\(refused ?? "")")
            let another = try await verify(Self.long, as: "alice")
            #expect(another.status == 503 && another.code == "unavailable", "\(another.body)")
            #expect(another.header("Retry-After").flatMap { Int($0) }.map { $0 > 0 } == true)
            #expect(try await verify(Self.short, as: "alice").status == 400)
            #expect(try await shop.get("/v1/account", as: "alice").status == 200)
            #expect(try await verify(Self.long, as: "bob").status == 400)
            for socket in held { socket.shutDown() }
            try await eventually("there is room again") { try await verify(Self.long, as: "alice").status == 400 }
            for _ in 0..<2 { _ = await iterator.next() }
            for socket in held { socket.close() }
        }
    }

    @Test("are refused for more values than are read, whatever these are")
    func values() async throws {
        try await Shop.open { shop in
            for (value, isTooMuch) in [("0", false), ("[]", false), (#"{"a":0}"#, true)] {
                let values = Array(repeating: value, count: 9_000).joined(separator: ",")
                let body = #"{"signedTransactionInfo":"a.b.c","more":[\#(values)]}"#
                let answer = try await shop.post("/v1/subscriptions/verify", as: "alice", body)
                #expect(answer.status == 400)
                #expect(answer.body.contains("too many values") == isTooMuch, "\(value): \(answer.body)")
            }
        }
    }
}
