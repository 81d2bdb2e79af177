import AppStorePayloads
import Base
import Foundation

/// One request to the stand-in, taken apart.
struct Call: Sendable {
    let method: String
    let path: String
    /// The path's parts, decoded.
    let parts: [String]
    let query: [(name: String, value: String)]
    let authorization: String?
    let place: SimulatedApp.Environment
    /// When the handler that answers looked at the shop.
    var instant: Milliseconds = 0
    let body: [UInt8]

    init(method: String, target: String, authority: String?, authorization: String?, body: [UInt8]) {
        self.method = method
        self.authorization = authorization
        self.body = body
        let components = URLComponents(string: target)
        var parts = (components?.percentEncodedPath ?? "/").split(separator: "/").map {
            String($0).removingPercentEncoding ?? String($0)
        }
        query = (components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        var path = components?.path ?? "/"
        if let first = parts.first, let place = Self.prefixes[first] {
            parts.removeFirst()
            path = String(path.dropFirst(first.count + 1))
            self.place = place
        } else {
            place = Self.place(query.first { $0.name == "environment" }?.value, authority ?? "")
        }
        (self.path, self.parts) = (path, parts)
    }

    /// The beginnings of paths that name an environment, for clients that can be given an address and nothing else.
    static let prefixes: [String: SimulatedApp.Environment] = ["production": .production, "sandbox": .sandbox]

    /// By the query, else by the host's name, else Sandbox, which is what a stand-in is.
    private static func place(_ named: String?, _ host: String) -> SimulatedApp.Environment {
        if let named, let place = SimulatedApp.Environment(rawValue: named) { return place }
        let isProduction = ["api.storekit.apple.com", "api.storekit.itunes.apple.com", "buy.itunes.apple.com"]
            .contains { host == $0 || host.hasPrefix($0 + ":") }
        return isProduction ? .production : .sandbox
    }

    func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
    func value(_ name: String) -> String? { values(name).first }

    /// The body's members.
    func object() throws(Refusal) -> JSONObject {
        guard let object = try? JSONDocument(body.isEmpty ? Array("{}".utf8) : body).object else {
            throw Refusal(4_000_000, "Bad request.")
        }
        return object
    }
}
