import Accounts
import Base
import Testing

@Suite("A hostile file")
struct HostileFileTests {
    private func findings(_ text: String) -> [CatalogFinding] {
        let (catalog, findings) = Catalog.check(yaml: text)
        #expect(catalog == nil)
        return findings
    }

    @Test("of anchors that stand for more nodes than there is memory for is refused before it is read, as keys, too")
    func bombs() {
        let lists =
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + zip("abcdefghij", "bcdefghijk").map { last, next in
                "\(next): &\(next) [\((0..<9).map { _ in "*\(last)" }.joined(separator: ", "))]\n"
            }.joined()
        for text in [lists, lists + "? *k\n: 1\n", "{" + lists.replacing("\n", with: ", ") + "}"] {
            #expect(findings(text).map(\.line) == [1])
        }
        for text in [
            "a:\n- &x b\n- *x", "a: [&x b,*x]", "\u{FEFF}&x a: *x", "a: &x\r  b\rc: *x", "a: !!str &x b\nc: *x",
            "? &x a\n: *x", "a: \u{2028}&x b\nc:\u{85}*x", "{a: &x {}, b:*x}", "--- &x\na: *x",
        ] {
            #expect(findings(text).contains { $0.message.contains("no anchors and aliases") }, "\(text)")
        }
    }

    @Test("nested as deep as it may be is an answer")
    func depth() {
        for (opening, closing) in [("[", "]"), ("{a: ", "}"), ("[a: ", "]"), ("- ", ""), ("? ", "")] {
            let deep = 100_000
            let text = String(repeating: opening, count: deep) + "x" + String(repeating: closing, count: deep)
            #expect(!findings(text).isEmpty)
            let fair = String(repeating: opening, count: 900) + "x" + String(repeating: closing, count: 900)
            #expect(!findings("tiers: " + fair).isEmpty)
            #expect(!findings(fair).isEmpty)
        }
    }

    @Test("of more than 1 MiB is not read, and one of nothing but faults has a report of bounded length")
    func size() {
        #expect(findings(String(repeating: "#", count: YAMLText.longest + 1)).map(\.line) == [nil])
        let members = (0..<60_000).map { "x\($0): 1\n" }.joined()
        #expect(findings(members).count <= 2000)
        let tiers = "tiers:\n" + (0..<40_000).map { "  - id: t\($0)\n" }.joined()
        #expect(findings(tiers).contains { $0.message.contains("1 to 100") })
        let features =
            "tiers:\n" + (0..<100).map { "  - id: t\($0)\n" }.joined() + "features:\n"
            + (0..<20_000).map { "  - {id: f\($0), limits: {x: no}}\n" }.joined()
        #expect(findings(features).count <= 3000)
    }

    @Test("of long names, control characters and tags is told of in single lines")
    func names() {
        let long = String(repeating: "ab\\n", count: 10_000)
        for text in [
            "\"\(long)\": 1", "tiers: [{\"\(long)\": 1}]", "\"\\u0007\\u2028\\u0000\": 1", "!!binary tiers: 1",
            "tiers: !!map [1]", "<<: {tiers: 1}", "tiers: [{id: !!int free}]\naliases: {\"\(long)\": x}",
        ] {
            let found = findings(text + "\nx: 1")
            #expect(!found.isEmpty)
            for finding in found {
                #expect(finding.message.utf8.count < 1000 && !finding.message.contains { $0.isNewline }, "\(finding)")
            }
        }
    }
}
