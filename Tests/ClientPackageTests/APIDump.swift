import Foundation

/// What `swift-api-digester -dump-sdk` writes about a module.
struct APIDump {
    private let root: [String: Any]
    private let declarations: [[String: Any]]
    /// Everything in it, by the names that the compiler gives.
    let names: Set<String>

    /// Reads one.
    init(_ file: URL) throws {
        guard let object = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any],
            let root = object["ABIRoot"] as? [String: Any], let children = root["children"] as? [[String: Any]]
        else { throw CocoaError(.propertyListReadCorrupt) }
        self.root = root
        // Imports are none of the API: they differ by system.
        declarations = children.filter { $0["kind"] as? String != "Import" }
        names = Set(declarations.flatMap(Self.names))
    }

    private static func names(_ node: [String: Any]) -> [String] {
        let own = node["usr"] as? String
        let isDeclaration = node["declKind"] != nil
        return (isDeclaration ? [own].compactMap(\.self) : [])
            + (node["children"] as? [[String: Any]] ?? []).flatMap(names)
    }

    /// Writes it with a line for each declaration of the module, in the order of their names: a difference is then read.
    func write(to file: URL) throws {
        func text(_ value: Any) throws -> String {
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try JSONSerialization.data(withJSONObject: value, options: options), as: UTF8.self)
        }
        var head = root
        head["children"] = nil
        let lines = try declarations.map(text).sorted()
        let frame = try text(["ABIRoot": head])
        // The frame ends with the two braces that close it.
        let whole = frame.dropLast(2) + ",\"children\":[\n" + lines.joined(separator: ",\n") + "\n]}}\n"
        try String(whole).write(to: file, atomically: true, encoding: .utf8)
    }
}
