import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPKit

/// By an event loop whose clock is set by hand: nothing here depends on how fast this machine is.
@Suite("The deadline of a request")
struct RequestDeadlineTests {
    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "x", path: "/"))
    private static let limit = TimeAmount.seconds(10)
    private static let almost = TimeAmount.seconds(9)

    private func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: RequestDeadline(Self.limit, mostBytes: 100))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func receive(_ parts: HTTPRequestPart..., by channel: EmbeddedChannel) throws {
        for part in parts { try channel.writeInbound(part) }
    }

    private func bytes(_ count: Int) -> HTTPRequestPart { .body(ByteBuffer(repeating: 0, count: count)) }

    @Test("ends a connection whose body is still on its way, though bytes keep coming")
    func body() throws {
        let channel = try connection()
        try receive(Self.head, bytes(1), by: channel)
        channel.embeddedEventLoop.advanceTime(by: Self.almost)
        try receive(bytes(1), by: channel)
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("ends a connection whose headers are still on their way, those of a second request too")
    func headers() throws {
        for isFirst in [true, false] {
            let channel = try connection()
            if !isFirst { try receive(Self.head, .end(nil), by: channel) }
            channel.embeddedEventLoop.advanceTime(by: Self.limit)
            // Bytes that make no part of a request yet.
            for _ in 0..<9 {
                channel.pipeline.fireChannelReadComplete()
                #expect(channel.isActive)
                channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            }
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test("leaves alone who was in time, for as long as he sends nothing, and counts anew for his next request")
    func inTime() throws {
        let channel = try connection()
        for _ in 0..<3 {
            try receive(Self.head, bytes(60), by: channel)
            channel.embeddedEventLoop.advanceTime(by: Self.almost)
            try receive(.end(nil), by: channel)
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            #expect(channel.isActive)
        }
        _ = try channel.finish()
    }

    @Test("is a request's own, though one timer watches over one request after the other")
    func ownDeadline() throws {
        let channel = try connection()
        try receive(Self.head, .end(nil), by: channel)
        channel.embeddedEventLoop.advanceTime(by: Self.almost)
        try receive(Self.head, by: channel)
        channel.embeddedEventLoop.advanceTime(by: Self.almost)
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("does not apply to who sends more than he may: he is cut off at once")
    func tooMuch() throws {
        let channel = try connection()
        try receive(Self.head, bytes(100), by: channel)
        #expect(channel.isActive)
        try receive(bytes(1), by: channel)
        #expect(!channel.isActive)
    }
}
