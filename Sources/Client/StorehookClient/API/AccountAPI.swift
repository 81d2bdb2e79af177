public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The account API of a storehook server, typed: one method a call. May be used from any thread.
///
/// Each call throws a ``Problem`` where the server refuses, ``ClientError/network`` where no answer came,
/// ``ClientError/unreadableAnswer`` where it cannot be read, and whatever the token's closure throws.
public struct AccountAPI: Sendable {
    private let baseURL: URL
    private let languages: String
    private let transport: any HTTPTransport
    private let token: @Sendable () async throws -> String

    /// For how many seconds the token, and the answer, are waited for.
    var patience: TimeInterval = 30

    /// Answers above so many bytes are not read.
    static let mostBytes = 5 << 20

    /// - Parameters:
    ///   - baseURL: where `storehook serve` is reached, without `/v1`.
    ///   - languages: those that the customer reads, the preferred one first, as BCP 47 has them.
    ///   - transport: what carries the requests; URLSession by default.
    ///   - token: gives the app's token (a JWT), within 30 seconds. It is asked for each call, and once more after the server found a token
    ///     expired.
    public init(
        baseURL: URL, languages: [String] = Locale.preferredLanguages,
        transport: any HTTPTransport = URLSessionTransport(), token: @escaping @Sendable () async throws -> String
    ) {
        self.baseURL = baseURL
        self.languages = languages.prefix(8).joined(separator: ", ")
        self.transport = transport
        self.token = token
    }

    func get<Value: Decodable & Sendable>(_ path: String) async throws -> Answered<Value> {
        try await ask("GET", path, nil)
    }

    func post<Value: Decodable & Sendable>(_ path: String, _ body: some Encodable) async throws -> Answered<Value> {
        try await ask("POST", path, try JSONEncoder().encode(body))
    }

    func put<Value: Decodable & Sendable>(_ path: String, _ body: some Encodable) async throws -> Answered<Value> {
        try await ask("PUT", path, try JSONEncoder().encode(body))
    }

    private func ask<Value: Decodable & Sendable>(_ method: String, _ path: String, _ body: Data?) async throws
        -> Answered<Value>
    {
        do {
            return try await askOnce(method, path, body)
        } catch let problem as Problem where problem.code == "token_expired" {
            return try await askOnce(method, path, body)
        }
    }

    private func askOnce<Value: Decodable & Sendable>(_ method: String, _ path: String, _ body: Data?) async throws
        -> Answered<Value>
    {
        var request = URLRequest(url: baseURL.appendingPathComponent(path), timeoutInterval: patience)
        request.httpMethod = method
        request.cachePolicy = .reloadIgnoringLocalCacheData
        // An app whose login does not answer gets an error in time, as from a server that does not.
        let bearer = try await Deadline.within(patience, token)
        request.setValue("Bearer " + bearer, forHTTPHeaderField: "Authorization")
        if !languages.isEmpty { request.setValue(languages, forHTTPHeaderField: "Accept-Language") }
        if let body {
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, head): (Data, HTTPURLResponse)
        do { (data, head) = try await transport.send(request) } catch let error as CancellationError {
            throw error
        } catch {
            // The transport's error may name the address and, on some systems, the request.
            throw Task.isCancelled ? CancellationError() : ClientError.network
        }
        guard data.count <= Self.mostBytes else { throw ClientError.unreadableAnswer }
        guard (200..<300).contains(head.statusCode) else {
            throw Problem(status: head.statusCode, data, retryAfter: ServerDates.wait(head))
        }
        guard let value = try? ServerDates.decoder.decode(Value.self, from: data) else {
            throw ClientError.unreadableAnswer
        }
        return Answered(value: value, date: head.value(forHTTPHeaderField: "Date").flatMap(ServerDates.header))
    }
}
