import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// Holds answers against `/admin/openapi.json`: the status is described, and the body is what its schema says.
struct AnswerJudge: @unchecked Sendable {
    /// Never changed: JSON as Foundation reads it.
    private let document: [String: Any]

    init(port: Int) async throws {
        let response = try await client.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)/admin/openapi.json"), timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 4 << 20)
        document = try #require(
            try JSONSerialization.jsonObject(with: Data(String(buffer: body).utf8)) as? [String: Any])
    }

    /// The paths that are described.
    var paths: [String: [String: [String: Any]]] { document["paths"] as? [String: [String: [String: Any]]] ?? [:] }

    func judge(_ method: String, _ target: String, _ answer: Answer) {
        let path = target.prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = paths.keys.filter { known in
            let names = known.split(separator: "/", omittingEmptySubsequences: false)
            return names.count == parts.count
                && zip(names, parts).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
        }.sorted { $0.count { $0 == "{" } < $1.count { $0 == "{" } }
        guard let operation = fitting.first.flatMap({ paths[$0]?[method.lowercased()] }) else {
            // What is not served is 404 or 405.
            #expect([404, 405].contains(answer.status), "\(method) \(target): \(answer.status)")
            return
        }
        guard let responses = operation["responses"] as? [String: [String: Any]],
            let response = responses["\(answer.status)"]
        else {
            Issue.record("\(method) \(target): \(answer.status) is not described: \(answer.body)")
            return
        }
        let type = (answer.headers.first(name: "Content-Type") ?? "").prefix { $0 != ";" }
        guard let content = response["content"] as? [String: [String: Any]] else {
            #expect(answer.body.isEmpty, "\(method) \(target) has a body that is not described")
            return
        }
        guard let schema = content[String(type)]?["schema"] as? [String: Any] else {
            Issue.record("\(method) \(target): content of type \(type) is not described")
            return
        }
        guard type.hasSuffix("json"), type != "application/x-ndjson" else { return }
        guard let value = try? JSONSerialization.jsonObject(with: Data(answer.body.utf8), options: .fragmentsAllowed)
        else {
            Issue.record("\(method) \(target): no JSON: \(answer.body)")
            return
        }
        if let fault = fault(of: value, schema, "answer") { Issue.record("\(method) \(target): \(fault)") }
    }

    private func fault(of value: Any, _ schema: [String: Any], _ place: String) -> String? {
        if let reference = schema["$ref"] as? String {
            let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: Any]
            guard let named = schemas?[String(reference.split(separator: "/").last ?? "")] as? [String: Any] else {
                return "\(place): \(reference) leads nowhere"
            }
            return fault(of: value, named, place)
        }
        for word in ["anyOf", "oneOf"] {
            if let choices = schema[word] as? [[String: Any]], !choices.isEmpty {
                let faults = choices.map { fault(of: value, $0, place) }
                return faults.contains { $0 == nil } ? nil : faults.compactMap { $0 }.first
            }
        }
        let types = (schema["type"] as? [String]) ?? (schema["type"] as? String).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { Self.isOf(value, $0) }) {
            return "\(place) is no \(types.joined(separator: " or ")): \(value)"
        }
        if let words = schema["enum"] as? [Any], let text = value as? String,
            !words.contains(where: { $0 as? String == text })
        {
            return "\(place) is none of \(words): \(text)"
        }
        if let object = value as? [String: Any] {
            for name in schema["required"] as? [String] ?? [] where object[name] == nil {
                return "\(place).\(name) is missing"
            }
            let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
            for (name, inner) in object {
                guard let known = properties[name] else {
                    if !properties.isEmpty, !place.contains("problem"), object["code"] == nil {
                        return "\(place).\(name) is not described"
                    }
                    continue
                }
                if let fault = fault(of: inner, known, "\(place).\(name)") { return fault }
            }
        }
        if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
            for (index, element) in list.enumerated() {
                if let fault = fault(of: element, items, "\(place)[\(index)]") { return fault }
            }
        }
        return nil
    }

    private static func isOf(_ value: Any, _ type: String) -> Bool {
        switch type {
        case "null": value is NSNull
        case "string": value is String
        case "boolean": CFBooleanCheck.isBoolean(value)
        case "integer", "number": value is NSNumber && !CFBooleanCheck.isBoolean(value)
        case "array": value is [Any]
        case "object": value is [String: Any]
        default: false
        }
    }
}

private enum CFBooleanCheck {
    /// Foundation reads `true` as a number, too.
    static func isBoolean(_ value: Any) -> Bool {
        guard let number = value as? NSNumber else { return false }
        return String(cString: number.objCType) == "c"
    }
}
