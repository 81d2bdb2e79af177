import HTTPTypes

/// Why a request is not read to its end.
enum RequestRefusal: Error {
    /// Its head, or the framing of its body, is longer than any client's.
    case tooLong
    /// Unanswered requests hold as many bytes as they may.
    case busy

    /// The answer where no route has the request yet.
    func response(_ limits: RequestLimits) -> HTTPResponse {
        var response =
            switch self {
            case .tooLong: limits.longHead
            case .busy:
                HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: BodyRefusal.retryAfter])
            }
        response.headerFields[.connection] = "close"
        response.headerFields[.contentLength] = "0"
        return response
    }
}
