import Foundation

/// Where the keys are that app tokens are checked with.
package enum TokenKeySource: Sendable, Hashable {
    /// A JWK set, PEM or a secret, in a file that is read again when it has changed.
    case file(String)
    /// A JWK set that is fetched.
    case url(String)

    /// What `STOREHOOK_JWT_KEYS` says.
    /// - Throws: why it cannot be used, in one line.
    package init(_ text: String) throws(TokenKeySet.Fault) {
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

    private static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        return host == "localhost" || host == "::1" || host == "[::1]"
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}
