package import AppStorePayloads
import Base
package import HTTPTypes

/// A request as a handler sees it: the caller is identified, and the body fits the endpoint's schema.
package struct APIRequest<Access: APIAccess>: Sendable {
    /// What this request is called in the answer and in logs.
    var id: String
    /// What was asked, as the description names it: a method, and a path with its parts in braces.
    package var route: String
    /// The caller; nil where the endpoint is for anyone.
    package var caller: Access.Caller?
    /// The body; nil where none was sent, and none is needed.
    package var body: JSONObject?
    /// The values of the path's parts in braces, decoded.
    package var path: [String: String]
    /// The query's values, decoded; of one that is there twice, the first.
    package var query: [String: String]
    /// The headers.
    var headers: HTTPFields
    /// The sender's address; nil where only trusted proxies are known.
    var sender: NetworkAddress?
    /// Whether the caller's credentials are good still, out of memory: for an answer that goes on.
    package var isStillGood: @Sendable () -> Bool = { true }
    /// Closes the connection at once: for an answer that goes on and whose reader does not read it.
    package var cutOff: @Sendable () -> Void = {}

    /// The languages that are asked for, the most wanted first: `zh-Hans-CN`, `en`.
    package var languages: [String] { headers.acceptedLanguages }
}

extension HTTPFields {
    /// The languages that `Accept-Language` asks for, the most wanted first.
    package var acceptedLanguages: [String] {
        let parts = self[values: .acceptLanguage].joined(separator: ",").prefix(1000).split(separator: ",").prefix(
            20)
        let wanted = parts.compactMap { part -> (language: String, weight: Double)? in
            let pieces = part.split(separator: ";", maxSplits: 1)
            let language = (pieces.first ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            guard !language.isEmpty else { return nil }
            let parameters = pieces.dropFirst().first?.split(separator: ";").map { $0.filter { $0 != " " } } ?? []
            let weight = parameters.first { $0.lowercased().hasPrefix("q=") }
            return (language, weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1)
        }
        // Stable: of equal weight, in the order in which they stand.
        return wanted.enumerated().filter { $0.element.weight > 0 }
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element.language)
    }
}
