import Foundation
import Testing

@testable import StorehookClient

/// The answers of the real server that its own tests keep.
enum GoldenAnswers {
    /// An answer.
    struct Answer: CustomStringConvertible {
        /// Method and path, without a query: `GET /v1/account`.
        var call: String
        /// Whose it is, and of what.
        var description: String
        var status: Int
        var body: String
    }

    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// All that are kept, in the file's order.
    static func all() throws -> [Answer] {
        let file = ClientSources.url("Tests/ProgramTests/Golden/outputs/account-api.txt")
        let text = try String(contentsOf: file, encoding: .utf8)
        let head = /(?<method>[A-Z]+) (?<path>[^ ?]+)\S* as (?<of>[^→]*?) → (?<status>\d+)/
        return try text.split(separator: "=== ").compactMap { part in
            guard let match = try head.prefixMatch(in: part), let status = Int(match.status) else { return nil }
            let body = part.drop { $0 != "\n" }
            return Answer(
                call: "\(match.method) \(match.path)", description: "\(match.method) \(match.path) as \(match.of)",
                status: status, body: instants(String(body)))
        }
    }

    /// The file has instants as it has them each day anew: `<start+128d 10m 20s>`, `<now>`.
    private static func instants(_ text: String) -> String {
        text.replacing(/<(?:start|now)(?:[+-](?<span>[^>]*))?>/) { match in
            let units: [Character: TimeInterval] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
            var seconds: TimeInterval = 0
            for part in (match.output.span ?? "").split(separator: " ") {
                seconds += (part.last.flatMap { units[$0] } ?? 0) * (TimeInterval(String(part.dropLast())) ?? 0)
            }
            return ServerDates.text(start + seconds)
        }
    }

    /// Whether a value has exactly what an answer says, member by member: what differs, by its path.
    static func differences(_ value: Any, _ json: Any?, _ path: String = "") -> [String] {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let child = mirror.children.first else { return json is NSNull ? [] : [path] }
            return differences(child.value, json, path)
        }
        func equal(_ isEqual: Bool) -> [String] { isEqual ? [] : ["\(path): \(value), \(json ?? "missing")"] }
        switch value {
        case let word as any ServerWords:
            let isKnown = !String(describing: word).hasPrefix("unknown(")
            return equal(isKnown && word.rawValue == json as? String)
        case let text as String: return equal(text == json as? String)
        case let flag as Bool: return equal(flag == json as? Bool)
        case let number as Int64: return equal(number == (json as? NSNumber)?.int64Value)
        case let id as UUID: return equal(id.uuidString == (json as? String)?.uppercased())
        case let date as Date: return equal((json as? String).flatMap(ServerDates.instant) == date)
        case let list as [Any]:
            guard let others = json as? [Any], others.count == list.count else { return equal(false) }
            return zip(list, others).enumerated().flatMap { differences($1.0, $1.1, "\(path)[\($0)]") }
        default:
            guard let members = json as? [String: Any], !mirror.children.isEmpty else { return equal(false) }
            return mirror.children.flatMap { label, child in
                let name = (label ?? "").replacing(/ID$/, with: "Id")
                // Two answers have another one's members beside their own.
                let other = members[name] ?? (["feature", "status"].contains(name) ? json : nil)
                let isBeside = (child is FeatureAnswer || child is SubscriptionStatus) && path.isEmpty
                return differences(child, isBeside ? json : other, "\(path).\(name)")
            }
        }
    }
}
