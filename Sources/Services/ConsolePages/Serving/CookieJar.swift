import Foundation
import HTTPTypes

/// The cookies of the pages: what they are called, how they are written and read.
///
/// Over TLS their names begin with `__Host-`: browsers take such a cookie from this very host alone, and send it by TLS alone. On plain HTTP,
/// which this machine alone may use, they have other names, so that one can never be taken for the other.
struct CookieJar: Sendable, Hashable {
    /// Whether browsers speak TLS with the console, or with the proxy in front of it.
    let isSecure: Bool

    /// What is kept.
    enum Name: String, Sendable, CaseIterable {
        /// The session of a visitor who is logged in.
        case session = ""
        /// What the forms of a browser without a session are bound to.
        case form = "-form"
        /// Language and zone.
        case view = "-view"
    }

    /// What a cookie is called.
    func text(of name: Name) -> String { (isSecure ? "__Host-storehook" : "storehook-plain") + name.rawValue }

    /// The value of a cookie; nil where there is none, or several: then another one has been put beside ours.
    func value(of name: Name, in headers: HTTPFields) -> String? {
        let wanted = text(of: name)
        let values = headers[values: .cookie].flatMap { $0.prefix(8192).split(separator: ";").prefix(64) }.compactMap {
            cookie -> String? in
            let parts = cookie.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == wanted else { return nil }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
        return values.count == 1 ? values.first : nil
    }

    /// Has the browser keep a value until it is closed; a view for a year.
    /// - Parameter value: of letters, digits, `-`, `_`, `.`, `~` and `/` alone.
    func setting(_ name: Name, to value: String) -> String {
        let days = name == .view ? "; Max-Age=31536000" : ""
        return "\(text(of: name))=\(value)\(days)\(attributes)"
    }

    /// Has the browser forget a value.
    func removing(_ name: Name) -> String { "\(text(of: name))=; Max-Age=0\(attributes)" }

    private var attributes: String { "; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "") }
}
