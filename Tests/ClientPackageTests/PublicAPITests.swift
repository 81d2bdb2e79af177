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

    /// The modules are made once: that takes longer than the rest.
    @Test("is documented whole, and loses and changes nothing that apps may use")
    func whole() async throws {
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            for (module, least) in Self.modules {
                try await compiler.makeModule(module)
                try await Self.expectComments(in: module, least, compiler)
                try await Self.expectUnchanged(module, compiler)
            }
        }
    }

    private static func expectComments(in module: String, _ least: Int, _ compiler: Compiler) async throws {
        let graph = try await SymbolGraph.made(module, by: compiler)
        let bare = graph.symbols.filter { $0.docComment == nil && !$0.isRequiredElsewhere(graph) }
        #expect(graph.symbols.count >= least, "this test reads the symbols of \(module) wrongly")
        let names = bare.map { $0.pathComponents.joined(separator: ".") }.sorted()
        #expect(names == [], "without a comment, in \(module)")
    }

    private static func expectUnchanged(_ module: String, _ compiler: Compiler) async throws {
        let now = compiler.directory.appending(path: "\(module).now.json")
        _ = try await compiler.tool(
            "swift-api-digester",
            [
                "-dump-sdk", "-module", module, "-I", compiler.directory.path, "-avoid-location",
                "-avoid-tool-args", "-o", now.path,
            ])
        if ProcessInfo.processInfo.environment["STOREHOOK_TEST_GOLDEN"] == "write" {
            try APIDump(now).write(to: kept(module))
        }
        let verdict = try await compiler.verdict(
            "swift-api-digester",
            ["-diagnose-sdk", "-input-paths", kept(module).path, "-input-paths", now.path])
        #expect(verdict.isAccepted && verdict.report.contains("/* Removed Decls */"), "\(module): \(verdict.report)")
        let faults = verdict.report.split(separator: "\n").filter { !$0.isEmpty && !$0.hasPrefix("/*") }
        #expect(faults.isEmpty, "\(module): \(faults.joined(separator: "\n"))")
        // What is new is kept as well, so that the next release cannot lose it.
        let new = try APIDump(now).names.subtracting(try APIDump(kept(module)).names)
        #expect(new.isEmpty, "not kept yet; STOREHOOK_TEST_GOLDEN=write keeps it: \(module) \(new.sorted())")
    }
}
