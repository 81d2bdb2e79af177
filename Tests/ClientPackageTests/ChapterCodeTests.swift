import Foundation
import Testing

/// Readers copy what the chapter about the client shows.
@Suite("The chapter about the client")
struct ChapterCodeTests {
    @Test("has Swift that type-checks against the client: an app's beside StoreKit, a server's without it")
    func accepted() async throws {
        let sections = try Chapter().sections.filter { !$0.code.isEmpty }
        let forApps = sections.filter { $0.code.contains("StoreKitSource") }
        let forServers = sections.filter { !$0.code.contains("StoreKitSource") }
        try #require(!forApps.isEmpty && !forServers.isEmpty)
        try await check(forApps, besideStoreKit: true)
        try await check(forServers, besideStoreKit: false)
    }

    private func check(_ sections: [Chapter.Section], besideStoreKit: Bool) async throws {
        try await Compiler.with { compiler in
            if besideStoreKit { try await compiler.makeStubs() }
            try await compiler.makeModule("StorehookClient")
            for section in sections {
                let verdict = try await Self.verdict(on: section.code, by: compiler)
                #expect(verdict.isAccepted, "\(section.title): \(verdict.report.prefix(3000))")
            }
        }
    }

    @Test("has Swift that is refused with a wrong call")
    func refused() async throws {
        let sections = try Chapter().sections.filter { !$0.code.isEmpty }
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            try await compiler.makeModule("StorehookClient")
            for (right, wrong) in [
                ("manager.purchase(", "manager.buy("), ("signIn(accountID:", "signIn(account:"),
                ("gate.check(", "gate.checks("), ("await api.account()", "api.account()"),
            ] {
                let section = try #require(sections.first { $0.code.contains(right) }, "\(right)")
                let verdict = try await Self.verdict(on: section.code.replacing(right, with: wrong), by: compiler)
                #expect(!verdict.isAccepted && verdict.report.contains("Reader.swift"), "\(wrong)")
            }
        }
    }

    @Test("writes no member that the client does not have")
    func names() async throws {
        let chapter = try Chapter()
        try await Compiler.with { compiler in
            try await compiler.makeStubs()
            try await compiler.makeModule("StorehookClient")
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
    }

    private static func verdict(on code: String, by compiler: Compiler) async throws -> Compiler.Verdict {
        let file = compiler.directory.appending(path: "Reader.swift")
        try code.write(to: file, atomically: true, encoding: .utf8)
        return try await compiler.check([file], as: "Reader")
    }
}
