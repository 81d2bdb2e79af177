public import Foundation

/// An error of the server's (RFC 9457). ``code`` is what an app asks about; the texts are for people.
public struct Problem: Error, Sendable, Hashable {
    /// The stable word of the error, such as `token_expired`.
    public var code: String
    /// The HTTP status.
    public var status: Int
    /// What kind of error it is, in English.
    public var title: String
    /// What happened and what to do, in the language asked for.
    public var detail: String
    /// What to show where a higher tier gives more, in the language asked for; nil elsewhere.
    public var upgradePrompt: String?
    /// In how many seconds the server wants to be asked again; nil where it does not state that.
    public var retryAfter: TimeInterval?

    /// Whether the same request may succeed later.
    public var isTransient: Bool {
        status >= 500 || status == 408 || (status == 429 && code != "limit_reached")
    }

    /// Whether the server itself has said it, and not a proxy or a captive portal on the way.
    var isServers: Bool { code != Self.code(ofStatus: status) }

    private static func code(ofStatus status: Int) -> String { "http_\(status)" }
}

extension Problem {
    private struct Body: Decodable {
        var code: String?
        var title: String?
        var detail: String?
        var upgradePrompt: String?
    }

    /// The problem of an answer; what is no problem document, such as a proxy's page, has the status for a code.
    init(status: Int, _ data: Data, retryAfter: TimeInterval?) {
        let body = try? JSONDecoder().decode(Body.self, from: data)
        self.init(
            code: body?.code ?? Self.code(ofStatus: status), status: status, title: body?.title ?? "",
            detail: body?.detail ?? "",
            upgradePrompt: body?.upgradePrompt, retryAfter: retryAfter)
    }
}
