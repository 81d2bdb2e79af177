import Base
import Figures
import Testing

@Suite("A file of the bank's in XML")
struct BankXMLTests {
    private let usd = #"<Cube currency="USD" rate="1.08"/>"#

    private func bank(_ content: String) -> String { "<Envelope>\n<Cube>\n\(content)\n</Cube>\n</Envelope>" }

    private func expect(_ text: String, _ line: Int, _ words: String, _ at: SourceLocation = #_sourceLocation) throws {
        let found = try rateFaults(text)
        #expect(found.count == 1, "\(found)", sourceLocation: at)
        #expect(found.first?.hasPrefix("line \(line): ") == true, "\(found)", sourceLocation: at)
        #expect(found.first?.contains(words) == true, "\(found)", sourceLocation: at)
    }

    @Test("has each fault named with its line")
    func faults() throws {
        #expect(try rateFaults(bank(#"<Cube time="2026-03-02">"# + usd + "</Cube>")) == [])
        try expect(bank(usd), 3, "the day is missing: a rate stands outside of all days")
        try expect(bank("<Cube>\(usd)</Cube>"), 3, "the day is missing")
        try expect(bank(#"<Cube time="2026-03-02"></Cube>"#), 3, "the day has no rates")
        try expect(bank(#"<Cube time="2026-03-02"/>"#), 3, "the day has no rates")
        try expect(
            bank("<Cube time=\"2026-03-02\">\(usd)</Cube>\n<Cube time=\"2026-03-03\"></Cube>"), 4,
            "the day has no rates")
        try expect(bank("<Cube time=\"2026-03-02\">\n<Cube rate=\"1.08\"/></Cube>"), 4, "the currency is missing")
        try expect(
            bank("<Cube time=\"2026-03-02\">\n<Cube currency=\"USD\"/></Cube>"), 4, "the rate of \"USD\" is missing")
        try expect(bank("<Cube time=\"2026-03-02\">\n\n<Cube currency=\"USD\" rate=\"-1\"/></Cube>"), 5, "below 0")
    }

    @Test("has nothing that is not understood: what it means could change the rates")
    func strangers() throws {
        try expect(
            bank(#"<Cube time="2026-03-02"><Cube currency="USD" rate="1" multiplier="100"/></Cube>"#), 3,
            "\"multiplier\"")
        try expect(bank("<Cube time=\"2026-03-02\" base=\"USD\">\(usd)</Cube>"), 3, "\"base\"")
        try expect("<Envelope>\n<Cube base=\"USD\"/></Envelope>", 2, "\"base\"")
        try expect(bank("<Cube time=\"2026-03-02\">\(usd) x </Cube>"), 3, "text")
        try expect(bank("<Day time=\"2026-03-02\">\(usd)</Day>"), 3, "\"Day\" has no meaning here")
        try expect(
            bank("<Cube time=\"2026-03-02\"><Cube currency=\"USD\" rate=\"1\"><Cube/></Cube></Cube>"), 3, "no meaning")
        try expect("<html>\n</html>", 1, "this is no file of rates: it begins with \"html\"")
        #expect(try rateFaults("<Envelope><Sender><Cube/></Sender></Envelope>") == ["it has no rates"])
        #expect(try rateFaults("<Envelope><Sender><a/>text<Cube/></Sender></Envelope>") == ["it has no rates"])
    }

    @Test("that is cut off anywhere is not taken for a whole one")
    func cut() throws {
        let whole = bank("<?xml?><!-- c --><Cube time='2026-03-02'>\(usd)</Cube>")
        for length in 1..<whole.utf8.count {
            #expect(try rateFaults(String(whole.prefix(length))) != [], "\(length)")
        }
        #expect(try rateFaults(whole + "<!-- c -->") == [])
        try expect(whole + "<!-- c", 5, "the file ends, and is not whole")
        try expect(
            "<Envelope>\n<Cube>\n<Cube time='2026-03-02'>\n\(usd)\n", 5,
            "the file ends within \"Cube\" of line 3, and is not whole")
    }

    @Test("that is no XML is refused")
    func malformed() throws {
        for (text, words) in [
            ("<Envelope></Cube>", "the tags do not match"), ("<Envelope></Envelope", "the tags do not match"),
            ("<Envelope a='1' a='2'/>", "attributes"), ("<Envelope a=1/>", "attributes"),
            ("<Envelope a/>", "attributes"),
            ("<Envelope a='1'b='2'/>", "attributes"), ("<Envelope a='<'/>", "attributes"), ("< Envelope/>", "no name"),
            ("<Envelope/ >", "no > follows"), ("<Envelope/><Envelope/>", "after the end"), ("<Envelope/>x", "text"),
            ("<Envelope></Envelope></Envelope>", "the tags do not match"),
            ("<Envelope \(String(repeating: "x", count: 300))='1'/>", "attributes"),
            ("<Envelope x='\(String(repeating: "x", count: 300))'/>", "attributes"),
            ("<Envelope \((0..<9).map { "a\($0)=''" }.joined(separator: " "))/>", "attributes"),
        ] {
            try expect(text, 1, words)
        }
    }

    @Test("with entities, a document type or deep elements is refused in bounded memory")
    func hostile() throws {
        let entities = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
        try expect(
            "<?xml version='1.0'?>\n<!DOCTYPE e [<!ENTITY l0 \"ha\">\(entities)]><Envelope>&l9;</Envelope>", 2,
            "a document type")
        try expect("<!DOCTYPE e SYSTEM \"file:///etc/passwd\"><Envelope/>", 1, "a document type")
        try expect("<Envelope><![CDATA[x]]></Envelope>", 1, "character data")
        try expect(bank("<Cube time='2026-03-02'>\n<Cube currency='&x;' rate='1'/></Cube>"), 4, "attributes")
        try expect("<Envelope><Sender>" + String(repeating: "<a>", count: 1_000_000), 1, "nested deeper than 8 levels")
        for (levels, isFair) in [(8, true), (9, false)] {
            let deep = String(repeating: "<a>", count: levels - 2) + String(repeating: "</a>", count: levels - 2)
            let found = try rateFaults("<Envelope><Sender>\(deep)</Sender></Envelope>")
            #expect((found == ["it has no rates"]) == isFair, "\(found)")
        }
        #expect(try !rateFaults(String(repeating: "<", count: 1_000_000)).isEmpty)
        #expect(try !rateFaults("<!--" + String(repeating: "-", count: 1_000_000)).isEmpty)
        let stranger = try rateFaults(
            "<Envelope><Cube><Cube \u{7}\(String(repeating: "é", count: 100))='1'/></Cube></Envelope>")
        #expect(
            stranger.allSatisfy { $0.utf8.count < 1000 && !$0.contains { $0.isNewline || $0 == "\u{7}" } },
            "\(stranger)")
    }
}
