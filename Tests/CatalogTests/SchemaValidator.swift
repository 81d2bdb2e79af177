import Foundation
import Yams

/// A judge of YAML by a JSON Schema, of as much of draft 7 as the catalog's schema uses. What it does not know is an error, so that it
/// passes nothing over.
struct SchemaValidator {
    private let schema: [String: Any]

    struct Unknown: Error { var keyword: String }

    init(_ text: String) throws {
        guard let schema = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw Unknown(keyword: "a schema that is no object")
        }
        self.schema = schema
        try Self.check(schema)
    }

    private static let known: Set<String> = [
        "$schema", "title", "description", "type", "properties", "required", "additionalProperties", "items",
        "minItems",
        "maxItems", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "oneOf", "propertyNames",
        "minProperties", "maxProperties",
    ]

    private static func check(_ schema: [String: Any]) throws {
        if let stranger = schema.keys.first(where: { !known.contains($0) }) { throw Unknown(keyword: stranger) }
        for inner in (schema["properties"] as? [String: Any] ?? [:]).values {
            try check(inner as? [String: Any] ?? [:])
        }
        for name in ["items", "additionalProperties", "propertyNames"] {
            if let inner = schema[name] as? [String: Any] { try check(inner) }
        }
        for inner in schema["oneOf"] as? [[String: Any]] ?? [] { try check(inner) }
    }

    /// The names of all members that the schema names.
    var memberNames: [String] { Self.memberNames(in: schema) }

    private static func memberNames(in schema: [String: Any]) -> [String] {
        let own = schema["properties"] as? [String: Any] ?? [:]
        let choices = (schema["oneOf"] as? [Any] ?? []).filter { (($0 as? [String: Any])?["properties"]) != nil }
        let inner = (Array(own.values) + [schema["items"] as Any] + choices).compactMap { $0 as? [String: Any] }
        return own.keys + inner.flatMap { memberNames(in: $0) }
    }

    /// What is wrong with a document.
    func faults(of node: Node) -> [String] { Self.faults(node, schema, "") }

    private static func faults(_ node: Node, _ schema: [String: Any], _ place: String) -> [String] {
        var faults: [String] = []
        func complain(_ text: String) { faults.append("\(place): \(text)") }
        let types = (schema["type"] as? [String]) ?? (schema["type"] as? String).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { isA(node, $0) }) {
            complain("is no \(types)")
            return faults
        }
        if let choices = schema["oneOf"] as? [[String: Any]] {
            let fitting = choices.filter { Self.faults(node, $0, place).isEmpty }
            if fitting.count != 1 { complain("fits \(fitting.count) of \(choices.count)") }
        }
        if let mapping = node.mapping { faults += mappingFaults(mapping, schema, place) }
        if let items = node.sequence {
            if items.count < schema["minItems"] as? Int ?? 0 || items.count > schema["maxItems"] as? Int ?? .max {
                complain("has \(items.count) items")
            }
            if let inner = schema["items"] as? [String: Any] {
                for (index, item) in items.enumerated() { faults += Self.faults(item, inner, "\(place)/\(index)") }
            }
        }
        if let text = node.scalar?.string { faults += scalarFaults(text, isA(node, "string"), schema, place) }
        return faults
    }

    private static func mappingFaults(_ mapping: Node.Mapping, _ schema: [String: Any], _ place: String) -> [String] {
        var faults: [String] = []
        let properties = schema["properties"] as? [String: Any] ?? [:]
        if mapping.count < schema["minProperties"] as? Int ?? 0
            || mapping.count > schema["maxProperties"] as? Int ?? .max
        {
            faults.append("\(place): has \(mapping.count) members")
        }
        for name in schema["required"] as? [String] ?? [] where mapping[Node(name)] == nil {
            faults.append("\(place): needs \(name)")
        }
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            if let names = schema["propertyNames"] as? [String: Any] {
                faults += scalarFaults(name, true, names, "\(place)/\(name)")
            }
            if let inner = properties[name] as? [String: Any] {
                faults += Self.faults(value, inner, "\(place)/\(name)")
            } else if let inner = schema["additionalProperties"] as? [String: Any] {
                faults += Self.faults(value, inner, "\(place)/\(name)")
            } else if schema["additionalProperties"] as? Bool == false {
                faults.append("\(place): has no \(name)")
            }
        }
        return faults
    }

    private static func scalarFaults(
        _ text: String, _ isText: Bool, _ schema: [String: Any], _ place: String
    ) -> [String] {
        var faults: [String] = []
        if let choices = schema["enum"] as? [String], !choices.contains(text) {
            faults.append("\(place): is none of them")
        }
        if let number = Double(text), !isText {
            if number < schema["minimum"] as? Double ?? -.infinity || number > schema["maximum"] as? Double ?? .infinity
            {
                faults.append("\(place): is beyond the bounds")
            }
        }
        guard isText else { return faults }
        if let pattern = schema["pattern"] as? String, text.range(of: pattern, options: .regularExpression) == nil {
            faults.append("\(place): does not match")
        }
        let length = text.unicodeScalars.count
        if length < schema["minLength"] as? Int ?? 0 || length > schema["maxLength"] as? Int ?? .max {
            faults.append("\(place): has \(length) characters")
        }
        return faults
    }

    /// As YAML 1.2 has it, which editors go by: of plain words only `true` and `false` are booleans.
    private static func isA(_ node: Node, _ type: String) -> Bool {
        guard let text = node.scalar?.string else {
            return type == (node.mapping == nil ? "array" : "object")
        }
        let isPlain = node.scalar?.style == .plain || node.scalar?.style == .any
        let isNumber = isPlain && text.range(of: #"^[-+]?[0-9]+(\.[0-9]+)?$"#, options: .regularExpression) != nil
        switch type {
        case "boolean": return isPlain && (text == "true" || text == "false")
        case "integer": return isNumber && Int(text) != nil
        case "number": return isNumber
        case "string": return !isNumber && !(isPlain && (text.isEmpty || text == "true" || text == "false"))
        default: return false
        }
    }
}
