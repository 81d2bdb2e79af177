import Foundation
import Testing

/// Readers copy what the chapter about the client shows.
@Suite("The chapter about the client")
struct ChapterCodeTests {
    @Test("has an app's Swift that type-checks beside StoreKit, is refused with a wrong call, and names what there is")
    func apps() async throws {
        let chapter = try Chapter()
        let sections = chapter.sections.filter { $0.code.contains("StoreKitSource") }
        try #require(!sections.isEmpty)
        // The client is compiled once for all of it: that takes longer than the rest.
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            try await compiler.makeModule("StorehookClient")
            try await accept(sections, compiler)
            try await refuse(chapter.sections.filter { !$0.code.isEmpty }, compiler)
            try await checkNames(of: chapter, compiler)
        }
    }

    @Test("has a server's Swift that type-checks without StoreKit")
    func servers() async throws {
        let sections = try Chapter().sections.filter { !$0.code.isEmpty && !$0.code.contains("StoreKitSource") }
        try #require(!sections.isEmpty)
        try await Compiler.with { compiler in
            try await compiler.makeModule("StorehookClient")
            try await accept(sections, compiler)
        }
    }

    private func accept(_ sections: [Chapter.Section], _ compiler: Compiler) async throws {
        for section in sections {
            let verdict = try await Self.verdict(on: section.code, by: compiler)
            #expect(verdict.isAccepted, "\(section.title): \(verdict.report.prefix(3000))")
        }
    }

    private func refuse(_ sections: [Chapter.Section], _ compiler: Compiler) async throws {
        for (right, wrong) in [
            ("manager.purchase(", "manager.buy("), ("signIn(accountID:", "signIn(account:"),
            ("gate.check(", "gate.checks("), ("await api.account()", "api.account()"),
        ] {
            let section = try #require(sections.first { $0.code.contains(right) }, "\(right)")
            let verdict = try await Self.verdict(on: section.code.replacing(right, with: wrong), by: compiler)
            #expect(!verdict.isAccepted && verdict.report.contains("Reader.swift"), "\(wrong)")
        }
    }

    private func checkNames(of chapter: Chapter, _ compiler: Compiler) async throws {
        let graph = try await SymbolGraph.made("StorehookClient", by: compiler)
        let types = Set(graph.symbols.compactMap(\.pathComponents.first))
        let members = Set(graph.symbols.flatMap(\.pathComponents).map { String($0.prefix { $0 != "(" }) })
        let ours = chapter.names.filter { types.contains($0[0]) }
        #expect(ours.count >= 40, "this test reads the chapter wrongly")
        let listed = chapter.namesInTables(of: "Names")
        #expect(listed.count >= 60, "this test reads the chapter wrongly")
        for name in ours + listed {
            let unknown = name.filter { !members.contains($0) }
            #expect(unknown.isEmpty, "\(name.joined(separator: "."))")
        }
    }

    private static func verdict(on code: String, by compiler: Compiler) async throws -> Compiler.Verdict {
        let file = compiler.directory.appending(path: "Reader.swift")
        try code.write(to: file, atomically: true, encoding: .utf8)
        return try await compiler.check([file], as: "Reader")
    }
}
