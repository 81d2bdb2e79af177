import HTTPTypes

/// Why a request is not read to its end.
enum RequestRefusal: Error {
    /// Its head, or what frames its body, is longer than anybody's.
    case tooLong
    /// As much as may wait is waiting already.
    case busy

    /// What is answered where no route has the request yet.
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
