package import Base
package import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore

/// What a request is answered.
package struct APIAnswer: Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// The body; nil for none, and where it is written piece by piece.
    package var body: [UInt8]?
    /// Writes the body piece by piece, each when the one before is on its way: a long one is never in memory as a whole. What it throws ends the
    /// connection, so that the reader sees that the body is not whole.
    private var pieces: Pieces?

    /// Writes a body with the function that it is given.
    package typealias Pieces = @Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void
    /// What the body is.
    package var contentType: String
    /// Headers beside its type.
    package var headers: HTTPFields
    /// What its log line has beside what every line has. Where there is something, the line is written: the request matters.
    package var log: Logger.Metadata

    /// An answer with a JSON body, or with none.
    package init(
        _ status: HTTPResponse.Status = .ok, _ value: JSONValue?, contentType: String = "application/json",
        headers: HTTPFields = [:], log: Logger.Metadata = [:]
    ) {
        self.init(status, bytes: value?.bytes, contentType: contentType, headers: headers, log: log)
    }

    /// An answer with a body that is written already.
    package init(
        _ status: HTTPResponse.Status = .ok, bytes: [UInt8]?, contentType: String, headers: HTTPFields = [:],
        log: Logger.Metadata = [:]
    ) {
        self.status = status
        body = bytes
        self.contentType = contentType
        self.headers = headers
        self.log = log
    }

    /// An answer with a body that is written piece by piece.
    package init(
        _ status: HTTPResponse.Status = .ok, contentType: String, headers: HTTPFields = [:], log: Logger.Metadata = [:],
        pieces: @escaping Pieces
    ) {
        self.init(status, bytes: nil, contentType: contentType, headers: headers, log: log)
        self.pieces = pieces
    }

    /// As the server sends it.
    package var response: Response {
        var headers = headers
        if let pieces {
            headers[.contentType] = contentType
            return Response(
                status: status, headers: headers,
                body: ResponseBody { writer in
                    try await pieces { try await writer.write(ByteBuffer(bytes: $0)) }
                    try await writer.finish(nil)
                })
        }
        guard let body else { return Response(status: status, headers: headers) }
        headers[.contentType] = contentType
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
