import Base
import HTTPKit
import TestSupport
import Testing

@Suite("A call to another server")
struct OutboundClientTests {
    private func send(
        _ request: OutboundRequest, limits: OutboundClient.Limits = OutboundClient.Limits()
    ) async -> Result<OutboundAnswer, OutboundFault> {
        do throws(OutboundFault) {
            return .success(try await OutboundClient.send(request, limits: limits))
        } catch {
            return .failure(error)
        }
    }

    private func fault(_ result: Result<OutboundAnswer, OutboundFault>) -> OutboundFault? {
        if case .failure(let fault) = result { fault } else { nil }
    }

    @Test("sends what it was given, and brings status, headers and body; a redirect is an answer like another")
    func whole() async throws {
        let other = try ScriptedServer { _ in .json(200, "{}") }
        defer { other.stop() }
        let server = try ScriptedServer { _ in
            .json(302, #"{"a":1}"#, "Location: http://127.0.0.1:\(other.port)/\r\n")
        }
        defer { server.stop() }
        let request = OutboundRequest(
            "PUT", "http://127.0.0.1:\(server.port)/a?b=c", headers: [("X-One", "1")], body: Array("text".utf8))
        let answer = try await send(request).get()
        #expect(answer.status == 302 && answer.body == Array(#"{"a":1}"#.utf8))
        #expect(answer.header("location") == "http://127.0.0.1:\(other.port)/")
        let sent = try #require(server.requests.first)
        #expect(sent.line == "PUT /a?b=c" && sent.text.contains("X-One: 1\r\n") && sent.text.hasSuffix("text"))
        #expect(server.requests.count == 1 && other.requests.isEmpty)
    }

    @Test("reads a body up to its length; where the status counts alone, a longer one is an answer all the same")
    func long() async throws {
        let server = try ScriptedServer { _ in .json(200, String(repeating: "x", count: 1001)) }
        defer { server.stop() }
        var request = OutboundRequest("GET", "http://127.0.0.1:\(server.port)/")
        request.answerBody = .whole(upTo: 1000)
        #expect(fault(await send(request)) == .tooLong)
        request.answerBody = .whole(upTo: 1001)
        #expect(try await send(request).get().body.count == 1001)
        request.answerBody = .ignored(upTo: 10)
        let answer = try await send(request).get()
        #expect(answer.status == 200 && answer.body.isEmpty)
        request.answerBody = .beginning(upTo: 10)
        #expect(try await send(request).get().body == [UInt8](repeating: UInt8(ascii: "x"), count: 10))
    }

    @Test("ends in time, also where the body does not; then the status counts if that was all that was asked for")
    func endless() async throws {
        let server = try ScriptedServer { _ in
            .endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", then: "1\r\nx\r\n")
        }
        defer { server.stop() }
        let limits = OutboundClient.Limits(total: .milliseconds(300))
        var request = OutboundRequest("GET", "http://127.0.0.1:\(server.port)/")
        request.answerBody = .whole(upTo: 1 << 30)
        #expect(fault(await send(request, limits: limits)) == .timeout)
        request.answerBody = .ignored(upTo: 1 << 30)
        #expect(try await send(request, limits: limits).get().status == 200)
        request.answerBody = .beginning(upTo: 3)
        let beginning = try await send(request, limits: limits).get()
        #expect(beginning.status == 200 && beginning.body == Array("xxx".utf8))
        request.answerBody = .beginning(upTo: 1 << 30)
        let most = try await send(request, limits: limits).get()
        #expect(most.status == 200 && most.body.starts(with: "xxx".utf8))
    }

    @Test("says whether anything was sent")
    func unsent() async throws {
        let (socket, port) = try TCPSocket.listening(port: 0)
        socket.close()
        #expect(fault(await send(OutboundRequest("GET", "http://127.0.0.1:\(port)/"))) == .notConnected)
        let server = try ScriptedServer { _ in .bytes("HTT") }
        defer { server.stop() }
        #expect(fault(await send(OutboundRequest("GET", "http://127.0.0.1:\(server.port)/"))) == .disconnected)
        #expect(fault(await send(OutboundRequest("GET", "https://127.0.0.1:\(server.port)/"))) != nil)
    }
}
