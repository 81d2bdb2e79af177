import Base
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// Texts from outside that are written to become more than text.
@Suite("Hostile texts")
struct HostileTextTests {
    /// Ends an attribute, also where the quote and the accent behind it are one character; a tag; a script; what templates know.
    private static let hostile =
        "\"\u{301} onfocus=alert(1) '><script>alert(1)</script><img src=x> {{w.skip}} {{{csrf}}} &lt;"

    @Test("are escaped scalar by scalar, and what may not stand in a page at all is replaced")
    func escaping() {
        for (text, escaped) in [
            ("<a href='x'>\"&", "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"), ("\"\u{301}", "&quot;\u{301}"),
            ("<\u{338}", "&lt;\u{338}"), ("a\u{0}b\u{1B}c\u{85}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"),
            ("e\r\nf\tg\u{FFFE}", "e\nf\tg\u{FFFD}"), ("&lt;", "&amp;lt;"), ("中文 é 👩‍👧", "中文 é 👩‍👧"),
        ] {
            // By scalars: equal strings may be written by different ones.
            #expect(Array(StrictHTML().escapeText(text).unicodeScalars) == Array(escaped.unicodeScalars), "\(text)")
        }
    }

    private static func expectHarmless(_ page: String, _ what: String) {
        let judge = HTMLJudge(page)
        #expect(judge.faults.isEmpty, "\(what): \(judge.faults)")
        #expect(judge.tags.filter { $0.name == "script" }.map { $0.attributes["src"] != nil } == [true], "\(what)")
        #expect(!judge.tags.contains { $0.name == "img" || $0.attributes["onfocus"] != nil }, "\(what)")
        #expect(!page.contains("<script>"), "\(what)")
    }

    @Test("stay texts in every part of a page, wherever they stand in it")
    func blocks() throws {
        let text = Self.hostile
        let place = Place(text, query: [text: text])
        let link = PageLink(text, place)
        let shown: [Shown] = [
            .text(text), .code(text), .state(text, text), .money(1, text), .link(.text(text), place),
            .several([.text(text), .link(.code(text), place)]),
        ]
        let kinds: [PageForm.Field.Kind] = [
            .line(most: 9), .area, .password(fills: text), .mail, .number(1...9), .money, .day, .time, .check,
            .choice([.init(text, text)]),
        ]
        let fields = kinds.enumerated().map { PageForm.Field("f\($0)", text, $1, text, isRequired: true, hint: text) }
        let columns = [PageTable.Column.text(text), .number(text)]
        let bars = [
            Plot.Bar(name: text, value: -3), Plot.Bar(name: text, value: 70, isUnfinished: true),
            Plot.Bar(name: text, value: .max), Plot.Bar(name: text, value: .min),
        ]
        let blocks: [Block] = [
            .note(text, .bad, link), .text(text), .facts(PageFacts(text, shown.map { (text, $0) })),
            .table(
                PageTable(text, columns, shown.map { [$0, $0] }, empty: text, about: text, next: place, file: place)),
            .table(PageTable(text, columns, [], empty: text)),
            .form(.act(text, place, fields, text, about: text, hidden: ["h": text], cancel: place)),
            .form(.filter(place, fields, text)), .links([link]),
            .plot(Plot(title: text, write: { value, _ in "\(value) \(text)" }, bars: bars, note: text)),
            .code(text, text),
            .tree(JSONTree(title: text, value: .object([.init(text, .array([.string(text), .object([])]))]))),
        ]
        let templates = try Templates()
        let layout = PageLayout(templates: templates, files: StaticFiles(templates.files), isByLogin: true)
        var speaker = try WritingTests.speaker()
        speaker.environment = text
        let page = String(
            decoding: layout.bytes(
                PageContent(text, blocks, commands: [text]), for: nil, token: nil, in: nil, at: place, speaker, nil,
                now: Timestamp(millisecondsSince1970: 0)), as: UTF8.self)
        Self.expectHarmless(page, "all parts")
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("{{w.skip}}"))
        // What is not complete is hatched, and said in words.
        #expect(page.contains("(not complete)") && page.contains(#"fill="url(#b9-hatched)""#), "\(page)")
    }

    @Test(
        "stay texts that staff, customers and Apple's records brought in, opened or not, on every page that shows them")
    func brought() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            let (order, request) = try await pages.fill(by: admin, reason: Self.hostile)
            try await pages.order(2, Self.hostile)
            try await pages.observer.query(
                "update storehook.accounts set account = \(Self.hostile) where account = \(Shop.name(1))")
            let customer = "/customers/\(Shop.token(1))"
            _ = try await admin.get(request)
            let refused = try await admin.post("\(request)/decide", ["what": "reject", "note": Self.hostile])
            #expect(refused.status == 303, "\(refused.body)")
            for path in ["/orders", "/orders/\(order)", "/refund-requests", request, "/customers", customer, "/audit"] {
                let page = try await admin.get(path)
                #expect(page.status == 200, "\(path)")
                Self.expectHarmless(page.body, path)
                let opened = try await admin.post(path)
                #expect(opened.status == 200, "\(path)")
                Self.expectHarmless(opened.body, "\(path), opened")
            }
            let review = try await admin.post(
                "\(customer)/act", ["what": "grant", "tier": "premium", "days": "1", "reason": Self.hostile])
            #expect(review.status == 200)
            Self.expectHarmless(review.body, "review")
            // A form with a mistake has again what was typed.
            for (path, fields) in [
                (
                    "\(customer)/act",
                    ["what": "grant", "tier": Self.hostile, "days": Self.hostile, "reason": Self.hostile]
                ),
                ("\(customer)/act", ["what": Self.hostile, "reason": Self.hostile]),
                ("/orders/\(order)/refund-requests", ["type": Self.hostile, "amount": "x", "reason": Self.hostile]),
                ("/staff", ["mail": Self.hostile, "role": Self.hostile, "apps": Self.hostile, "reason": "x"]),
            ] {
                let answer = try await admin.post(path, fields)
                #expect((400..<500).contains(answer.status), "\(path): \(answer.status)")
                Self.expectHarmless(answer.body, path)
            }
            let found = try await admin.find(Self.hostile)
            #expect(found.status == 200, "\(found.body)")
            Self.expectHarmless(found.body, "search")
        }
    }
}
