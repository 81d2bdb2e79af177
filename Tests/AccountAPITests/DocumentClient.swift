import AppStorePayloads
import Foundation
import TestSupport
import Testing

@testable import APIKit

/// An instant as backends write it: with a fraction of a second or without.
struct DocumentInstant: Decodable {
    let date: Date

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let formatter = ISO8601DateFormatter()
        if text.contains(".") { formatter.formatOptions.insert(.withFractionalSeconds) }
        guard let date = formatter.date(from: text) else { throw NeverHappened("\(text) is an instant") }
        self.date = date
    }
}

/// A client of one of the documents, whose user reads Chinese.
struct DocumentClient {
    let api: RunningAPI
    let user: String
    private let decoder = JSONDecoder()

    /// - Parameter isInSnakeCase: whether the document's members are.
    init(_ api: RunningAPI, _ user: String, isInSnakeCase: Bool = false) {
        self.api = api
        self.user = user
        if isInSnakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    }

    @discardableResult
    func send(_ method: String, _ path: String, _ body: String? = nil, _ status: Int) async throws -> Answer {
        let headers = [("Accept-Language", "zh-Hans-CN,zh;q=0.9"), ("Content-Type", "application/json")]
        let answer = try await api.send(
            method, path, token: try await api.signer.token(of: user), body: body, headers)
        #expect(answer.status == status, "\(method) \(path): \(answer.status) \(answer.body)")
        return answer
    }

    func get<T: Decodable>(_ path: String, _ status: Int = 200) async throws -> T {
        try decoder.decode(T.self, from: Data(try await send("GET", path, nil, status).body.utf8))
    }

    func post<T: Decodable>(_ path: String, _ body: String? = nil, _ status: Int = 200) async throws -> T {
        try decoder.decode(T.self, from: Data(try await send("POST", path, body, status).body.utf8))
    }

    /// A text of an answer.
    func member(_ name: StaticString, _ path: String) async throws -> String? {
        try await send("GET", path, nil, 200).object?.string(name)
    }

    /// The names of all members of an answer, in their order.
    func names(_ method: String, _ path: String, _ body: String? = nil) async throws -> [String] {
        try await send(method, path, body, 200).body.matches(of: /"([A-Za-z0-9_]+)":/).map { String($0.output.1) }
    }
}
