import Foundation
import TestSupport
import Testing

/// Apps stay installed for years, and are built again with later releases of the client.
///
/// `STOREHOOK_TEST_GOLDEN=write` writes what is public now in place of what is kept; the difference is then seen in the commit.
@Suite("The client's public API")
struct PublicAPITests {
    /// The modules that apps and their tests import, each after those that it imports, and how much each has at least.
    private static let modules = [("StorehookClient", 200), ("StorehookClientTesting", 15)]

    private static func kept(_ module: String) -> URL {
        packageRoot.appending(path: "Tests/ClientPackageTests/\(module).api.json")
    }

    /// Makes a module, and those that it imports.
    private static func make(_ module: String, by compiler: Compiler) async throws {
        try await compiler.makeStubs()
        for (name, _) in modules.prefix(through: modules.firstIndex { $0.0 == module } ?? 0) {
            try await compiler.makeModule(name)
        }
    }

    @Test("is documented whole", arguments: modules)
    func documented(_ module: String, _ least: Int) async throws {
        try await Compiler.with { compiler in
            try await Self.make(module, by: compiler)
            let graph = try await SymbolGraph.made(module, by: compiler)
            let bare = graph.symbols.filter { $0.docComment == nil && !$0.isRequiredElsewhere(graph) }
            #expect(graph.symbols.count >= least, "this test reads the symbols wrongly")
            let names = bare.map { $0.pathComponents.joined(separator: ".") }.sorted()
            #expect(names == [], "without a comment")
        }
    }

    @Test("loses and changes nothing that apps may use", arguments: modules.map(\.0))
    func unchanged(_ module: String) async throws {
        try await Compiler.with { compiler in
            try await Self.make(module, by: compiler)
            let now = compiler.directory.appending(path: "now.json")
            _ = try await compiler.tool(
                "swift-api-digester",
                [
                    "-dump-sdk", "-module", module, "-I", compiler.directory.path, "-avoid-location",
                    "-avoid-tool-args", "-o", now.path,
                ])
            if ProcessInfo.processInfo.environment["STOREHOOK_TEST_GOLDEN"] == "write" {
                try APIDump(now).write(to: Self.kept(module))
            }
            let verdict = try await compiler.verdict(
                "swift-api-digester",
                ["-diagnose-sdk", "-input-paths", Self.kept(module).path, "-input-paths", now.path])
            #expect(verdict.isAccepted && verdict.report.contains("/* Removed Decls */"), "\(verdict.report)")
            let faults = verdict.report.split(separator: "\n").filter { !$0.isEmpty && !$0.hasPrefix("/*") }
            #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
            // What is new is kept as well, so that the next release cannot lose it.
            let new = try APIDump(now).names.subtracting(try APIDump(Self.kept(module)).names)
            #expect(new.isEmpty, "not kept yet; STOREHOOK_TEST_GOLDEN=write keeps it: \(new.sorted())")
        }
    }
}
