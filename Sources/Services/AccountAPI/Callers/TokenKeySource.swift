import Foundation

/// Where the keys are that app tokens are checked with.
package enum TokenKeySource: Sendable, Hashable {
    /// A JWK set or PEM, in a file that is read again when it has changed.
    case file(String)
    /// A secret of HS256, in a file likewise.
    case secret(String)
    /// A JWK set that is fetched.
    case url(String)

    /// What `STOREHOOK_JWT_KEYS` says.
    /// - Throws: why it cannot be used, in one line.
    package init(_ text: String) throws(TokenKeySet.Fault) {
        if text.hasPrefix("secret:") {
            self = .secret(String(text.dropFirst("secret:".count)))
            return
        }
        guard text.contains("://") else {
            self = .file(text)
            return
        }
        let components = URLComponents(string: text)
        let scheme = components?.scheme?.lowercased()
        guard let host = components?.host, !host.isEmpty, components?.user == nil, components?.password == nil,
            components?.fragment == nil, scheme == "https" || scheme == "http"
        else { throw TokenKeySet.Fault(description: "is no URL of a JWK set: https://login.example.com/jwks.json") }
        // Over plain HTTP, anyone on the network path could substitute keys.
        guard scheme == "https" || Self.isLoopback(host) else {
            throw TokenKeySet.Fault(description: "has to be https, unless it is on this machine")
        }
        self = .url(text)
    }

    /// The file; nil of a URL.
    package var path: String? {
        switch self {
        case .file(let path), .secret(let path): path
        case .url: nil
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        return host == "localhost" || host == "::1" || host == "[::1]"
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}
