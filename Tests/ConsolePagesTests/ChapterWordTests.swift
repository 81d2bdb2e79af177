import Foundation
import TestSupport
import Testing

@testable import ConsolePages

/// What documents call pages, fields and buttons is what these are called.
@Suite("Words of the documents")
struct ChapterWordTests {
    private let words: Words

    init() throws { words = try Words(try Templates().files) }

    /// Whether a text of the pages is this, or begins so before a value of its own.
    private func isShown(_ text: String) -> Bool {
        words.keys.contains { key in
            guard let word = words.text(key, in: .english) else { return false }
            return word == text || word.hasPrefix("\(text): {")
        }
    }

    /// What stands between single asterisks.
    private static func named(in text: String) -> Set<String> {
        Set(text.matches(of: /\*([^*\n]+)\*/).map { String($0.output.1) })
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: packageRoot.appending(path: path), encoding: .utf8)
    }

    @Test("The chapter for support people names pages, fields and buttons as they are written")
    func chapter() throws {
        let named = Self.named(in: try text("Sources/Programs/storehook/storehook.docc/Support.md"))
        #expect(named.count > 60, "this test reads the chapter wrongly")
        for name in named where name != "like this" { #expect(isShown(name), "\(name)") }
    }

    @Test("The runbook names beside each command a page that there is")
    func runbook() throws {
        let rows = try text("deploy/runbook.md").split(separator: "\n").filter {
            $0.hasPrefix("| *") && $0.contains("| `storehook-ops ")
        }
        #expect(rows.count > 8, "this test reads the runbook wrongly")
        for row in rows {
            let named = Self.named(in: String(row))
            #expect(!named.isEmpty, "\(row)")
            for name in named { #expect(isShown(name), "\(row): \(name)") }
        }
    }
}
