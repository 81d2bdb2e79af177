import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A browser at the console's pages: it keeps cookies, and sends forms with the mark of the last page.
actor DeskVisitor {
    /// An answer.
    struct Answer: Sendable {
        var status: Int
        var body: String
    }

    private let port: Int
    private var cookies: [String: String] = [:]
    private var mark = ""

    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    init(port: Int) { self.port = port }

    /// Logs in.
    /// - Throws: `NeverCameAbout` where that is refused.
    func logIn(_ mail: String, _ password: String) async throws {
        _ = try await get("/login")
        let answer = try await post("/login", ["mail": mail, "password": password])
        guard answer.status == 303 else { throw NeverCameAbout(what: "a login; instead: \(answer.status)") }
        // A session has another mark than the form that led to it.
        _ = try await get("/orders")
    }

    func get(_ path: String) async throws -> Answer { try await send(.GET, path, nil) }

    func post(_ path: String, _ fields: [String: String]) async throws -> Answer {
        try await send(.POST, path, fields.merging(["csrf": mark]) { own, _ in own })
    }

    private func send(_ method: HTTPMethod, _ path: String, _ fields: [String: String]?) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers.add(name: "Sec-Fetch-Site", value: "same-origin")
        if !cookies.isEmpty {
            request.headers.add(name: "Cookie", value: cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
        }
        if let fields {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            var plain = CharacterSet.alphanumerics
            plain.insert(charactersIn: "-._~")
            let body = fields.map { name, value in
                "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")"
            }.joined(separator: "&")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await Self.client.execute(request, timeout: .seconds(60))
        let body = String(buffer: try await response.body.collect(upTo: 8 << 20))
        for cookie in response.headers["Set-Cookie"] {
            let parts = cookie.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            cookies[String(parts[0])] = parts[1].isEmpty ? nil : String(parts[1])
        }
        if let found = body.firstMatch(of: /name="csrf" value="([^"]+)"/) { mark = String(found.output.1) }
        return Answer(status: Int(response.status.code), body: body)
    }
}
