import Foundation
import TestSupport
import Testing

/// curl, as an operator types it.
struct Curl: Sendable {
    /// What came back.
    struct Answer: Sendable {
        var status: Int
        var body: String

        /// The body's members; none where it is no object.
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
        /// The problem's code.
        var code: String? { object["code"] as? String }
        /// A member by the names of the way to it, as text.
        func text(_ names: String...) -> String {
            var value: Any? = object
            for name in names { value = (value as? [String: Any])?[name] }
            return value.map { "\($0)" } ?? "-"
        }
    }

    /// What every request has, of a program that listens here.
    var base: String
    /// The account's token.
    var token: String

    /// Sends a request; a POST where there is a body.
    func callAsFunction(_ path: String, _ body: String? = nil) async throws -> Answer {
        var arguments = ["-sS", "--max-time", "120", "-w", "\\n%{http_code}", "-H", "Authorization: Bearer \(token)"]
        // From standard input: a receipt is longer than an argument may be.
        if body != nil { arguments += ["-H", "Content-Type: application/json", "--data-binary", "@-"] }
        return try await Self.run(arguments + [base + path], input: body ?? "")
    }

    /// Runs it with these arguments, whose output ends with the status.
    static func run(_ arguments: [String], input: String = "") async throws -> Answer {
        let output = try await ChildProgram.run(
            "/usr/bin/curl", arguments, environment: ["PATH": "/usr/bin:/bin"], input: Array(input.utf8))
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(
            status: Int(try #require(lines.last)) ?? 0, body: lines.dropLast().joined(separator: "\n"))
    }
}
