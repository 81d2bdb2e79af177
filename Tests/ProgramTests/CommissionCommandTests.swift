import FigureStore
import Figures
import Foundation
import TestSupport
import Testing

@Suite("storehook commission")
struct CommissionCommandTests {
    private static let table = "rates:\n  - {from: 2008-07-10, first_year: 20%}\n"

    /// Runs a body with the path of a file that has a text.
    private func with<T>(_ text: String, _ body: (String) async throws -> T) async throws -> T {
        let file = FileManager.default.temporaryDirectory.appending(path: "commission-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file.path)
    }

    @Test("apply takes a file once, with the actor on record; show prints it, and the release's own before")
    func applies() async throws {
        try await withSite { site in
            let own = try await site.run("commission", "show")
            #expect(own.output.hasPrefix("# the commission table of this release: none was applied\n"), "\(own)")
            #expect(own.output.hasSuffix(Commission.standardText), "\(own)")
            try await with(Self.table) { path in
                let first = try await site.run("commission", "apply", path, "--as", "anna")
                #expect(
                    first.ending == .exited(0) && first.output == #"{"is_new":true,"version":1}"# + "\n", "\(first)")
                let again = try await site.run("commission", "apply", path, "--format", "table")
                #expect(again.output.contains("this is commission table 1, which counts already"), "\(again)")
            }
            let shown = try await site.run("commission", "show")
            #expect(shown.output.contains("# commission table 1, applied at 20"), "\(shown)")
            #expect(shown.output.hasSuffix(" by cli:anna\n" + Self.table), "\(shown)")
            // What show prints is a table again.
            try await with(shown.output) { path in
                let next = try await site.run("commission", "apply", path)
                #expect(next.output.contains(#""is_new":true,"version":2"#), "\(next)")
            }
            let acts = try await site.run("audit", "list", "--format", "csv")
            #expect(acts.output.contains("apply_commission"), "\(acts)")
            while try await FigureStore(site.pool).sum(in: "UTC", commission: Commission(yaml: Self.table)) {}
            let figure = try await site.run("figures", "proceeds")
            #expect(figure.output.contains(#""tax_included":true"#), "\(figure)")
            let words = try await site.run("figures", "proceeds", "--format", "table")
            #expect(words.output.contains("Where the commission table has no tax, amounts include it."), "\(words)")
            let other = try await site.run("figures", "net")
            #expect(!other.output.contains("tax_included"), "\(other)")
        }
    }

    @Test("a wrong file is refused whole, with its line and the reason")
    func refusals() async throws {
        try await withSite { site in
            for (text, words) in [
                (
                    Self.table + "  - {from: 2016-06-13, first_year: 130%}\n",
                    ["line 3", "first_year is a share below 100%"]
                ),
                (
                    Self.table + "  - {from: 2001-01-01, first_year: 15%}\n",
                    ["line 3", "the entries stand by their days"]
                ),
                ("", ["it is empty"]),
            ] {
                let refused = try await with(text) { try await site.run("commission", "apply", $0) }
                #expect(refused.ending == .exited(1), "\(text): \(refused)")
                for word in words + ["nothing was applied"] {
                    #expect(refused.errors.contains(word), "\(text): \(refused)")
                }
            }
            let missing = try await site.run("commission", "apply", "/nowhere/commission.yaml")
            #expect(missing.ending == .exited(2) && missing.errors.contains("cannot read"), "\(missing)")
            #expect(try await site.run("commission", "show").output.contains("none was applied"))
        }
    }
}
