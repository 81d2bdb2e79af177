import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The transport over URLSession")
struct TransportTests {
    private static func api(_ server: LoopbackServer) throws -> AccountAPI {
        AccountAPI(baseURL: try #require(URL(string: "http://127.0.0.1:\(server.port)")), languages: []) {
            "secret-token"
        }
    }

    private static func redirect(_ status: Int, to address: String) -> String {
        "HTTP/1.1 \(status) Moved\r\nLocation: \(address)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }

    @Test("carries the token to the server, and reads its answer")
    func sends() async throws {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: AccountDesk.account()), as: UTF8.self)
        let server = try LoopbackServer(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        defer { server.close() }
        #expect(try await Self.api(server).account().id == "alice")
        #expect(server.requests.first?.contains("Authorization: Bearer secret-token") == true)
    }

    @Test(
        "follows no redirect: the token stays with the address that the app has named",
        arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let other = try LoopbackServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        let server = try LoopbackServer(Self.redirect(status, to: "http://127.0.0.1:\(other.port)/v1/account"))
        defer {
            server.close()
            other.close()
        }
        let api = try Self.api(server)
        await #expect {
            try await api.account()
        } throws: { ($0 as? Problem)?.code == "http_\(status)" }
        #expect(server.requests.count == 1 && other.requests.isEmpty)
    }

    @Test(
        "states when to ask again, in seconds or by a date",
        arguments: [
            ("30", 30.0), ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("soon", nil),
            ("-5", nil),
        ] as [(String, TimeInterval?)])
    func retryAfter(_ text: String, _ seconds: TimeInterval?) async throws {
        let transport = ScriptedTransport([
            .init(
                status: 503, body: "", headers: ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        ])
        let api = AccountAPI(baseURL: URL(fileURLWithPath: "/"), languages: [], transport: transport) { "t" }
        await #expect {
            try await api.account()
        } throws: { ($0 as? Problem)?.retryAfter == seconds }
    }
}
