import Foundation
import Testing

/// What `swift-symbolgraph-extract` writes about a module, as far as it is read here.
struct SymbolGraph: Decodable {
    /// One public declaration.
    struct Symbol: Decodable {
        /// How it is known.
        struct Identifier: Decodable { var precise: String }
        /// What is written above it.
        struct Comment: Decodable {}

        var identifier: Identifier
        var pathComponents: [String]
        var docComment: Comment?

        /// Whether it only is what a protocol of another module asks for, such as `==` or `encode(to:)`.
        func isRequiredElsewhere(_ graph: SymbolGraph) -> Bool {
            graph.relationships.contains { relationship in
                relationship.source == identifier.precise
                    && ["requirementOf", "defaultImplementationOf", "overrides"].contains(relationship.kind)
                    && !graph.symbols.contains { $0.identifier.precise == relationship.target }
            } || Self.required.contains(pathComponents.last ?? "")
        }

        /// What the standard library's protocols ask for. What they mean is said there.
        private static let required: Set = [
            "==(_:_:)", "hash(into:)", "hashValue", "encode(to:)", "init(from:)", "init(rawValue:)", "rawValue",
            "RawValue", "description", "errorDescription", "id", "ID", "allCases", "AllCases", "<(_:_:)",
        ]
    }

    /// How two of them belong together.
    struct Relationship: Decodable {
        var source: String
        var target: String
        var kind: String
    }

    var symbols: [Symbol]
    var relationships: [Relationship]

    /// The graph of a module that the compiler has made.
    static func made(_ module: String, by compiler: Compiler) async throws -> SymbolGraph {
        let directory = compiler.directory
        let target = try await compiler.tool("swiftc", ["-print-target-info"])
        let triple = try #require(target.firstMatch(of: /"triple": "([^"]+)"/)).output.1
        _ = try await compiler.tool(
            "swift-symbolgraph-extract",
            [
                "-module-name", module, "-I", directory.path, "-target", String(triple), "-minimum-access-level",
                "public", "-skip-synthesized-members", "-output-dir", directory.path,
            ])
        let file = directory.appending(path: "\(module).symbols.json")
        return try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: file))
    }
}
