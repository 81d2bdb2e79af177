import Base
import Testing

@Suite("A text in several languages")
struct LocalizedTextTests {
    private static let text = LocalizedText(
        "Monthly", language: "en", others: ["zh-Hans": "包月", "zh-Hant": "包月制", "de": "Monatlich", "pt-BR": "Mensal"])

    @Test(
        "is what the reader wants most, by its tag, by a shorter one, or by a sibling",
        arguments: [
            (["zh-Hans"], "包月"), (["ZH-hans"], "包月"), (["zh-CN"], "包月"), (["zh"], "包月"), (["zh-SG"], "包月"),
            (["zh-Hans-CN"], "包月"), (["zh-TW"], "包月制"), (["zh-HK"], "包月制"), (["zh-Hant-TW"], "包月制"),
            (["de-AT"], "Monatlich"), (["de-x-a"], "Monatlich"), (["pt"], "Mensal"), (["pt-PT"], "Mensal"),
            (["fr", "de"], "Monatlich"), (["en", "zh"], "Monthly"), (["fr"], "Monthly"), ([], "Monthly"),
            (["*", "de"], "Monthly"), (["", "-", "zh_CN", "de"], "Monatlich"),
        ])
    func best(wanted: [String], text: String) {
        #expect(Self.text[wanted] == text)
    }

    @Test("answers whatever a client may send, and looks at no more than a few languages")
    func hostile() {
        #expect(Self.text[[String(repeating: "zh-", count: 1 << 16)]] == "Monthly")
        #expect(Self.text[["\u{0}", "de\u{301}", "🇩🇪", " de"]] == "Monthly")
        #expect(Self.text[Array(repeating: "xx", count: 1000) + ["de"]] == "Monthly")
    }
}
