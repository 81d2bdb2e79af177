import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPKit

/// The handlers of a connection, on an event loop whose clock is set by hand.
struct EmbeddedConnection {
    let channel = EmbeddedChannel()
    /// Bytes of requests that were not answered yet.
    let heldBytes: @Sendable () -> Int

    init(_ adjust: (inout HTTPServerConfiguration) -> Void = { _ in }) throws {
        var configuration = HTTPServerConfiguration(host: "", port: 0)
        adjust(&configuration)
        heldBytes = try RequestPipeline.add(to: channel, configuration)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func receive(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    /// What went on to the routes.
    func parts() throws -> [HTTPRequestPart] {
        var parts: [HTTPRequestPart] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { parts.append(part) }
        return parts
    }

    /// What was sent.
    func answer() throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    func write(_ status: HTTPResponse.Status) throws {
        try channel.writeOutbound(
            HTTPResponsePart.head(HTTPResponse(status: status, headerFields: [.contentLength: "0"])))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        channel.embeddedEventLoop.run()
    }

    /// Whether what was written has gone.
    func setWritable(_ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    func advance(seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }
}

@Suite("What bounds a request")
struct RequestBoundsTests {
    private let post = "POST /a HTTP/1.1\r\nHost: x\r\n"

    @Test("closes a connection that says nothing, at its beginning only")
    func silence() throws {
        let silent = try EmbeddedConnection()
        silent.advance(seconds: 9)
        #expect(silent.channel.isActive)
        silent.advance(seconds: 1)
        #expect(!silent.channel.isActive)

        let spoke = try EmbeddedConnection()
        try spoke.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try spoke.write(.ok)
        spoke.advance(seconds: 30)
        #expect(spoke.channel.isActive)
        _ = try? spoke.channel.finish()
    }

    @Test(
        "refuses a head of more than 16 KiB however it is made, and reads no more of it",
        arguments: ["GET / HTTP/1.1\r\nX:", "GET /", "GET / HTTP/1.1\r\nX: ", "\r\n", "GET / HTTP/1.1\r\na", ""])
    func head(beginning: String) throws {
        let connection = try EmbeddedConnection()
        try connection.receive(beginning)
        let filling = String(repeating: beginning == "\r\n" ? "\r\n" : " ", count: 8192)
        for _ in 0..<3 { try? connection.receive(filling) }
        let answer = try connection.answer()
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431 "), "\(answer)")
        #expect(try connection.parts().isEmpty)
        connection.advance(seconds: 10)
        #expect(!connection.channel.isActive)
        #expect(connection.heldBytes() == 0)
    }

    @Test("takes a head of just below 16 KiB, also byte by byte")
    func longHead() throws {
        let start = "GET / HTTP/1.1\r\nHost: x\r\nX: "
        let request = start + String(repeating: "x", count: 16 * 1024 - start.utf8.count - 4) + "\r\n\r\n"
        for isWhole in [true, false] {
            let connection = try EmbeddedConnection()
            if isWhole {
                try connection.receive(request)
            } else {
                for byte in request.utf8 { try connection.channel.writeInbound(ByteBuffer(bytes: [byte])) }
            }
            #expect(try connection.parts().count == 2)
            #expect(connection.heldBytes() == 16 * 1024)
            try connection.write(.ok)
            #expect(connection.heldBytes() == 0)
            _ = try? connection.channel.finish()
        }
    }

    @Test("refuses chunks that are mostly framing, extensions and trailers without an end")
    func framing() throws {
        let endless = ["1\r\nx\r\n", "1;" + String(repeating: "e", count: 40) + "=1\r\nx\r\n"]
        for piece in endless {
            let connection = try EmbeddedConnection()
            try connection.receive(post + "Transfer-Encoding: chunked\r\n\r\n")
            #expect(throws: RequestRefusal.tooLong) {
                for _ in 0..<5000 { try connection.receive(piece) }
            }
            _ = try? connection.channel.finish()
        }
        for (piece, filling) in [("0\r\nX:", " "), ("5;e=", "e"), ("0\r\nX: ", "x")] {
            let connection = try EmbeddedConnection()
            try connection.receive(post + "Transfer-Encoding: chunked\r\n\r\n" + piece)
            // By us, or by the decoder, whose own bounds are the same.
            #expect(throws: (any Error).self) {
                for _ in 0..<100 { try connection.receive(String(repeating: filling, count: 1024)) }
            }
            #expect(connection.heldBytes() < 40 * 1024)
            _ = try? connection.channel.finish()
        }
    }

    @Test("passes on the chunks that came together as one")
    func coalescing() throws {
        let connection = try EmbeddedConnection()
        let chunks = String(repeating: "1\r\nx\r\n", count: 1000)
        try connection.receive(post + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n")
        let parts = try connection.parts()
        #expect(parts.count == 3)
        guard case .body(let body) = try #require(parts.dropFirst().first) else { throw ChannelError.eof }
        #expect(body.readableBytes == 1000)
        _ = try? connection.channel.finish()
    }

    @Test("counts a body as it comes, answers 503 where there is no room for it, and gives back what was held")
    func budget() throws {
        let connection = try EmbeddedConnection { $0.maximumBytesInFlight = 10_000 }
        try connection.receive(post + "Content-Length: 20000\r\n\r\n")
        try connection.receive(String(repeating: "x", count: 5000))
        #expect((5000..<5100).contains(connection.heldBytes()))
        #expect(throws: RequestRefusal.busy) { try connection.receive(String(repeating: "x", count: 6000)) }
        // By the route, which reads the body.
        try connection.write(.serviceUnavailable)
        #expect(connection.heldBytes() == 0)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
    }

    @Test("answers 503 itself where no route has the request yet")
    func budgetOfHead() throws {
        let connection = try EmbeddedConnection { $0.maximumBytesInFlight = 400 }
        try connection.receive("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 500))
        let answer = try connection.answer()
        #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: 5"), "\(answer)")
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
    }

    @Test("tells who expects to be told to go on, once and in turn")
    func goOn() throws {
        let connection = try EmbeddedConnection()
        try connection.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try connection.receive(post + "Content-Length: 1\r\nExpect: 100-Continue\r\n\r\n")
        #expect(try connection.answer().isEmpty)
        try connection.write(.ok)
        #expect(try connection.answer().hasSuffix("\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"))
        try connection.receive("x")
        try connection.write(.ok)
        #expect(try connection.answer().hasPrefix("HTTP/1.1 200 "))
        // Who announces too much hears no such thing.
        try connection.receive(post + "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
        #expect(try connection.answer().isEmpty)
        _ = try? connection.channel.finish()
    }

    @Test("gives back what each of several requests held, that came together")
    func pipelined() throws {
        let connection = try EmbeddedConnection()
        let request = post + "Content-Length: 3\r\n\r\nabc"
        try connection.receive(request + request + request)
        #expect(try connection.parts().count == 9)
        for rest in [2, 1, 0] {
            try connection.write(.ok)
            #expect(connection.heldBytes() == rest * request.utf8.count)
        }
        _ = try? connection.channel.finish()
        #expect(connection.heldBytes() == 0)
    }

    @Test("answers few of the requests that come faster than they are answered, keeps none of the others, and closes")
    func faster() throws {
        let connection = try EmbeddedConnection()
        let request = "GET / HTTP/1.1\r\n\r\n"
        #expect(throws: RequestRefusal.busy) { try connection.receive(String(repeating: request, count: 1800)) }
        #expect(try connection.parts().count == 2 * RequestBytes.mostWaiting)
        #expect(connection.heldBytes() == RequestBytes.mostWaiting * request.utf8.count)
        for _ in 0..<RequestBytes.mostWaiting { try connection.write(.ok) }
        #expect(connection.heldBytes() == 0)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
    }

    @Test("answers few of those that follow chunks, too")
    func fasterAfterChunks() throws {
        let connection = try EmbeddedConnection()
        let chunked = post + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
        let requests = String(repeating: "GET / HTTP/1.1\r\n\r\n", count: 1700)
        #expect(throws: RequestRefusal.busy) { try connection.receive(chunked + requests) }
        let heads = try connection.parts().count { if case .head = $0 { true } else { false } }
        #expect((RequestBytes.mostWaiting...24).contains(heads))
        _ = try? connection.channel.finish()
        #expect(connection.heldBytes() == 0)
    }

    @Test("takes as many requests as ever on one connection, where few of them wait at once")
    func many() throws {
        let connection = try EmbeddedConnection()
        let few = String(repeating: "GET / HTTP/1.1\r\n\r\n", count: RequestBytes.mostWaiting)
        for _ in 0..<200 {
            try connection.receive(few)
            #expect(try connection.parts().count == 2 * RequestBytes.mostWaiting)
            for _ in 0..<RequestBytes.mostWaiting { try connection.write(.ok) }
        }
        #expect(connection.channel.isActive && connection.heldBytes() == 0)
        _ = try? connection.channel.finish()
    }

    @Test("lets who asks again before he was answered yield, and never who waits for one answer")
    func yields() throws {
        let configuration = HTTPServerConfiguration(host: "", port: 0)
        let limits = configuration.requestLimits
        let connections = OpenConnections(
            .init(connections: 1, connectionsPerParty: 1, bytes: 1 << 20, bytesPerParty: 1 << 20),
            proxies: TrustedProxies(), stopDeadline: .seconds(1))
        let (first, second) = (EmbeddedChannel(), EmbeddedChannel())
        let connection = try #require(connections.open(first))
        try first.pipeline.syncOperations.addHandler(
            RequestBytes(connection, limits, limited: { _ in }) { bytes, channel in
                try? RequestPipeline.add(behind: bytes, to: channel, limits, limited: { _ in })
            })
        try first.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let request = ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")
        try first.writeInbound(request)
        #expect(connections.open(second) == nil)
        try first.writeInbound(request)
        #expect(connections.open(second) != nil)
        first.embeddedEventLoop.run()
        #expect(!first.isActive)
        _ = try? second.finish()
    }

    @Test("closes who does not read his answers for ten seconds, which begin anew once he has read all of them")
    func unread() throws {
        let connection = try EmbeddedConnection()
        try connection.receive("GET / HTTP/1.1\r\n\r\n")
        connection.setWritable(false)
        connection.advance(seconds: 9)
        connection.setWritable(true)
        connection.advance(seconds: 9)
        connection.setWritable(false)
        connection.advance(seconds: 9)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
    }

    @Test("closes at once who yields and would not read why")
    func unreadYields() throws {
        for isWritable in [false, true] {
            let connection = try EmbeddedConnection()
            try connection.receive("GET / HTTP/1.1\r\n\r\n")
            connection.setWritable(isWritable)
            connection.channel.pipeline.fireUserInboundEventTriggered(RequestRefusal.busy)
            connection.channel.embeddedEventLoop.run()
            #expect(connection.channel.isActive == isWritable)
            _ = try? connection.channel.finish()
        }
    }
}
