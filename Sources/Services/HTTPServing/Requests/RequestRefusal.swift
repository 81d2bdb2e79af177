import HTTPTypes

/// Why a request is not read to its end.
enum RequestRefusal: Error {
    /// Its head, or what frames its body, is longer than anybody's.
    case tooLong
    /// As much as may wait is waiting already.
    case busy

    /// What is answered where no route has the request yet.
    var response: HTTPResponse {
        switch self {
        case .tooLong:
            HTTPResponse(
                status: .requestHeaderFieldsTooLarge, headerFields: [.connection: "close", .contentLength: "0"])
        case .busy:
            HTTPResponse(
                status: .serviceUnavailable,
                headerFields: [.connection: "close", .contentLength: "0", .retryAfter: BodyRefusal.retryAfter])
        }
    }
}
