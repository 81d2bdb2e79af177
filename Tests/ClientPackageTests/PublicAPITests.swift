import Foundation
import TestSupport
import Testing

/// Apps stay installed for years, and are built again with later releases of the client.
///
/// `STOREHOOK_TEST_GOLDEN=write` writes what is public now in place of what is kept; the difference is then seen in the commit.
@Suite("The client's public API")
struct PublicAPITests {
    private static let module = "StorehookClient"
    private static let kept = packageRoot.appending(path: "Tests/ClientPackageTests/StorehookClient.api.json")

    @Test("is documented whole")
    func documented() async throws {
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            try await compiler.makeModule(Self.module)
            let graph = try await SymbolGraph.made(Self.module, by: compiler)
            let bare = graph.symbols.filter { $0.docComment == nil && !$0.isRequiredElsewhere(graph) }
            #expect(graph.symbols.count >= 200, "this test reads the symbols wrongly")
            let names = bare.map { $0.pathComponents.joined(separator: ".") }.sorted()
            #expect(names == [], "without a comment")
        }
    }

    @Test("loses and changes nothing that apps may use")
    func unchanged() async throws {
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            try await compiler.makeModule(Self.module)
            let now = compiler.directory.appending(path: "now.json")
            _ = try await compiler.tool(
                "swift-api-digester",
                [
                    "-dump-sdk", "-module", Self.module, "-I", compiler.directory.path, "-avoid-location",
                    "-avoid-tool-args", "-o", now.path,
                ])
            if ProcessInfo.processInfo.environment["STOREHOOK_TEST_GOLDEN"] == "write" {
                try APIDump(now).write(to: Self.kept)
            }
            let verdict = try await compiler.verdict(
                "swift-api-digester", ["-diagnose-sdk", "-input-paths", Self.kept.path, "-input-paths", now.path])
            #expect(verdict.isAccepted && verdict.report.contains("/* Removed Decls */"), "\(verdict.report)")
            let faults = verdict.report.split(separator: "\n").filter { !$0.isEmpty && !$0.hasPrefix("/*") }
            #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
            // What is new is kept as well, so that the next release cannot lose it.
            let new = try APIDump(now).names.subtracting(try APIDump(Self.kept).names)
            #expect(new.isEmpty, "not kept yet; STOREHOOK_TEST_GOLDEN=write keeps it: \(new.sorted())")
        }
    }
}
