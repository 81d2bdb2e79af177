package import Base
package import HTTPTypes
import Hummingbird
package import Logging
import NIOCore

/// What a request is answered.
package struct APIAnswer: Sendable {
    /// The status.
    package var status: HTTPResponse.Status
    /// The body; nil for none.
    package var body: [UInt8]?
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

    var response: Response {
        var headers = headers
        guard let body else { return Response(status: status, headers: headers) }
        headers[.contentType] = contentType
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
