import AsyncHTTPClient
import Foundation
import HTTPKit
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

@Suite("An HTTP server")
struct HTTPServerTests {
    private func server(_ onListening: @escaping @Sendable (Int) -> Void) -> HTTPServer {
        server({ _ in }, onListening)
    }

    private func server(
        _ adjust: (inout HTTPServerConfiguration) -> Void, _ onListening: @escaping @Sendable (Int) -> Void
    ) -> HTTPServer {
        var configuration = HTTPServerConfiguration(host: "127.0.0.1", port: 0)
        adjust(&configuration)
        let routes = HTTPRoutes(elsewhere: "nothing here")
        routes.serveHealth()
        routes.serve(
            "/a/b",
            [
                .get: { _, _ in Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "text"))) },
                .post: { _, _ in throw HTTPProblem(.conflict, "taken", [.retryAfter: "3"]) },
            ])
        return HTTPServer(routes.router, configuration: configuration, logger: quiet, onListening: onListening)
    }

    @Test("serves its paths as they are written, and answers 404 elsewhere")
    func paths() async throws {
        try await withServer(server) { request in
            #expect(try await request(.GET, "/a/b").body == "text")
            #expect(try await request(.GET, "/a/b?c=/d//e/").body == "text")
            for path in ["/", "/a", "/a/", "/a/b/", "//a/b", "/a//b", "/a/b/c", "/A/b", "/a%2Fb", "/./a/b"] {
                let answer = try await request(.GET, path)
                #expect(answer.status == 404 && answer.body == #"{"error":"nothing here"}"#, "\(path)")
                #expect(answer.headers["Content-Type"] == ["application/json"])
            }
        }
    }

    @Test("answers HEAD as GET, without a body, and 405 with what is meant to other methods")
    func methods() async throws {
        try await withServer(server) { request in
            let head = try await request(.HEAD, "/a/b")
            #expect(head.status == 200 && head.body.isEmpty && head.headers["Content-Length"] == ["4"])
            // On the same connection, which a body after HEAD would have spoilt.
            #expect(try await request(.GET, "/healthz").status == 200)
            for method in [HTTPMethod.PUT, .DELETE, .PATCH, .OPTIONS] {
                let answer = try await request(method, "/a/b")
                #expect(answer.status == 405 && answer.headers["Allow"] == ["GET, HEAD, POST"])
                #expect(answer.body == #"{"error":"GET, HEAD, POST only"}"#)
            }
        }
    }

    @Test("answers a problem that a route throws with its status, its reason and its headers")
    func problem() async throws {
        try await withServer(server) { request in
            let answer = try await request(.POST, "/a/b")
            #expect(answer.status == 409 && answer.body == #"{"error":"taken"}"#)
            #expect(answer.headers["Retry-After"] == ["3"])
        }
    }

    @Test("lets who does not read his answers yield to who has something to say")
    func unread() async throws {
        let port = Atomic(0)
        try await withServer({ listening in
            server({
                $0.maximumConnections = 1
                // So that nothing but yielding ends it.
                $0.requestDeadline = .seconds(3600)
                $0.maximumConnectionsPerAddress = 10
            }) {
                port.store($0, ordering: .relaxed)
                listening($0)
            }
        }) { request in
            // Alone, so that it waits for one answer at a time.
            let one = Array("GET /a/b HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let stranger = try TCPSocket(port: port.load(ordering: .relaxed))
            defer { stranger.close() }
            try await eventually("somebody else is answered") {
                while let sent = stranger.offer(one[...]), sent > 0 {}
                return (try? await request(.GET, "/a/b").status) == 200
            }
        }
    }

    @Test("throws why it cannot listen")
    func taken() async throws {
        let (holder, port) = try TCPSocket.listening(port: 0)
        defer { holder.close() }
        let routes = HTTPRoutes(elsewhere: "nothing here")
        for (host, code) in [("127.0.0.1", EADDRINUSE), ("no.such.host.invalid", nil)] {
            let server = HTTPServer(
                routes.router, configuration: HTTPServerConfiguration(host: host, port: port), logger: quiet)
            let failure = await #expect(throws: ListenFailure.self) { try await server.run() }
            #expect(failure?.code == code && failure?.host == host && failure?.port == port)
            #expect(failure?.description.hasPrefix("cannot listen on \(host):\(port): ") == true)
        }
    }
}
