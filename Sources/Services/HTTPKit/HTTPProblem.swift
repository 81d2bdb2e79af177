import Base
public import HTTPTypes
public import Hummingbird
import NIOCore

/// A refused request, and why: `{"error":"…"}` with a status.
///
/// A route returns its ``response``, or throws it.
public struct HTTPProblem: HTTPResponseError {
    /// The answer's status.
    public let status: HTTPResponse.Status
    /// Why, in a sentence of our own: it contains nothing from the request.
    public let why: String
    /// Headers of the answer beside its type.
    public let headers: HTTPFields

    /// A problem.
    public init(_ status: HTTPResponse.Status, _ why: String, _ headers: HTTPFields = [:]) {
        self.status = status
        self.why = why
        self.headers = headers
    }

    /// The answer.
    public var response: Response {
        var headers = headers
        headers[.contentType] = "application/json"
        let body = ByteBuffer(string: JSONValue.object([.init("error", .string(why))]).text)
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// The answer, for Hummingbird.
    public func response(from request: Request, context: some RequestContext) -> Response { response }
}
