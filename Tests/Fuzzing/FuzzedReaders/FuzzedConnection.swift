import HTTPKit
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes

/// A connection that is no socket's, with the handlers that every server of ours has, whose sender says what he likes.
struct FuzzedConnection {
    /// A request that came whole.
    private struct Request: Equatable {
        var head: HTTPRequest
        var body = [UInt8]()
        var trailers: HTTPFields?
    }

    private let channel = EmbeddedChannel()
    private let heldBytes: () -> Int
    private var requests: [Request] = []
    private var current: Request?
    private var failed = false

    private init() {
        let configuration = HTTPServerConfiguration(host: "", port: 0)
        guard let heldBytes = try? RequestPipeline.add(to: channel, configuration),
            let peer = try? SocketAddress(ipAddress: "127.0.0.1", port: 1),
            (try? channel.connect(to: peer).wait()) != nil
        else { fatalError("a pipeline that does not stand") }
        self.heldBytes = heldBytes
    }

    /// Reads it as one piece and in pieces, and expects that it is the same.
    static func read(_ input: [UInt8], after head: String = "") {
        guard let first = input.first else { return }
        let said = Array(head.utf8) + input.dropFirst()
        let whole = requests(in: [said[...]])
        let size = 1 + Int(first)
        let pieces = requests(
            in: stride(from: 0, to: said.count, by: size).map { said[$0..<min($0 + size, said.count)] })
        let both = min(whole.count, pieces.count)
        precondition(whole.prefix(both) == pieces.prefix(both), "the pieces make another request than the whole")
    }

    private static func requests(in pieces: [ArraySlice<UInt8>]) -> ArraySlice<Request> {
        var connection = FuzzedConnection()
        for piece in pieces { connection.receive(piece) }
        let said = pieces.reduce(0) { $0 + $1.count }
        precondition(connection.requests.reduce(0) { $0 + $1.body.count } <= said, "more body than was sent")
        connection.end()
        return connection.requests[...]
    }

    private mutating func receive(_ piece: ArraySlice<UInt8>) {
        guard !failed, channel.isActive else { return }
        do { try channel.writeInbound(ByteBuffer(bytes: piece)) } catch { failed = true }
        while let part = try? channel.readInbound(as: HTTPRequestPart.self) {
            switch part {
            case .head(let head):
                precondition(current == nil, "a request within a request")
                current = Request(head: head)
            case .body(let bytes):
                guard current != nil else { fatalError("a body without a head") }
                current?.body += bytes.readableBytesView
            case .end(let trailers):
                guard var request = current.take() else { fatalError("an end without a beginning") }
                request.trailers = trailers
                requests.append(request)
                answer()
            }
        }
        let head = HTTPServerConfiguration(host: "", port: 0).maximumHeadSize
        let body = HTTPServerConfiguration(host: "", port: 0).maximumBodySize
        precondition(heldBytes() <= head + body, "more is held than one request may have")
        while (try? channel.readOutbound(as: ByteBuffer.self)) != nil {}
    }

    private func answer() {
        guard channel.isActive else { return }
        _ = try? channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        _ = try? channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private func end() {
        _ = try? channel.finish(acceptAlreadyClosed: true)
        precondition(heldBytes() == 0, "something is held for a connection that is gone")
    }
}
