import HTTPTypes
public import Hummingbird
public import NIOCore

/// Why a request's body is refused.
public enum BodyRefusal: Error, Sendable {
    /// It is longer than this many bytes, or announces more.
    case tooLarge(limit: Int)
    /// It broke off.
    case incomplete
    /// Unanswered requests hold as many bytes as they may; the sender should retry.
    case busy

    /// The `Retry-After` for a sender that should retry, in whole seconds.
    static let retryAfter = "5"

    /// The answer. The connection ends with it: the rest of such a body is useless.
    public var problem: HTTPProblem {
        switch self {
        case .tooLarge(let limit):
            HTTPProblem(.contentTooLarge, "more than \(limit) bytes", [.connection: "close"])
        case .incomplete:
            HTTPProblem(.badRequest, "the body did not arrive whole", [.connection: "close"])
        case .busy:
            HTTPProblem(
                .serviceUnavailable, "as much as may wait is waiting",
                [.connection: "close", .retryAfter: Self.retryAfter])
        }
    }
}

extension Request {
    /// The whole body, of at most `limit` bytes.
    public func wholeBody(upTo limit: Int) async throws(BodyRefusal) -> ByteBuffer {
        // Refused by its announced length, before a byte of it is read.
        if let length = headers[.contentLength].flatMap(Int.init), length > limit { throw .tooLarge(limit: limit) }
        do {
            return try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw .tooLarge(limit: limit)
        } catch RequestRefusal.busy {
            throw .busy
        } catch {
            throw .incomplete
        }
    }
}
