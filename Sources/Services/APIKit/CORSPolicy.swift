import HTTPTypes
import Hummingbird

/// The web pages that may call the API from a browser. None by default: an app needs none of it.
package struct CORSPolicy: Sendable, Hashable {
    private let origins: Set<String>

    /// These origins, as browsers write them: `https://app.example.com`.
    package init(origins: Set<String> = []) { self.origins = origins }

    /// Whether a text is one literal origin; `*` is none.
    package static func isOrigin(_ text: String) -> Bool {
        guard let range = text.firstRange(of: "://") else { return false }
        let (scheme, host) = (text[..<range.lowerBound], text[range.upperBound...])
        return ["https", "http"].contains(scheme) && !host.isEmpty
            && host.utf8.allSatisfy {
                $0.isLowerAlphanumeric || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":")].contains($0)
                    || [UInt8(ascii: "["), UInt8(ascii: "]")].contains($0)
            }
    }

    /// What a browser's question before the request is answered; nil where it is none, or the page may not ask.
    func preflight(_ request: Request) -> APIAnswer? {
        guard request.method == .options, request.headers[.accessControlRequestMethod] != nil,
            let origin = allowed(request.headers)
        else { return nil }
        var headers: HTTPFields = [
            .accessControlAllowOrigin: origin, .accessControlAllowMethods: "GET, POST, PUT",
            .accessControlAllowHeaders: "Authorization, Content-Type, X-Request-ID", .accessControlMaxAge: "600",
        ]
        headers[.vary] = "Origin"
        return APIAnswer(.noContent, nil, headers: headers)
    }

    /// Adds what lets the page read the answer.
    func add(to headers: inout HTTPFields, for request: HTTPFields) {
        guard !origins.isEmpty else { return }
        headers[.vary] = headers[.vary].map { "\($0), Origin" } ?? "Origin"
        guard let origin = allowed(request) else { return }
        headers[.accessControlAllowOrigin] = origin
        headers[.accessControlExposeHeaders] = "Retry-After, X-Request-ID"
    }

    private func allowed(_ headers: HTTPFields) -> String? {
        headers[.origin].flatMap { origins.contains($0) ? $0 : nil }
    }
}

extension UInt8 {
    fileprivate var isLowerAlphanumeric: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
