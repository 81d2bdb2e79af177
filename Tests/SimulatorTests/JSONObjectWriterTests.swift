import AppStorePayloads
import Testing

@testable import Simulation

@Suite("The JSON writer")
struct JSONObjectWriterTests {
    private func text(_ write: (inout JSONObjectWriter) -> Void) -> String {
        String(decoding: JSONObjectWriter.object(write), as: UTF8.self)
    }

    @Test("keeps the order of members and leaves out what has no value")
    func order() {
        let written = text { json in
            json.member("b", "x")
            json.member("none", nil as String?)
            json.member("a", Int64.min)
            json.null("n")
            json.member("t", true)
            json.object("o") { $0.member("inner", 1) }
            json.member("l", ["p", "q"])
            json.objects("e", [1, 2]) { $1.member("v", $0) }
            json.objects("empty", [Int]()) { $1.member("v", $0) }
        }
        #expect(
            written == #"{"b":"x","a":-9223372036854775808,"n":null,"t":true,"o":{"inner":1},"l":["p","q"],"#
                + #""e":[{"v":1},{"v":2}],"empty":[]}"#)
        #expect(text { _ in } == "{}")
    }

    @Test(
        "escapes so that any text comes back",
        arguments: ["", "\"\\/", "\u{1}\u{1F}\n\r\t\u{7F}", "½ 日本 👩‍👧", "\u{2028}"])
    func escaping(value: String) throws {
        let bytes = JSONObjectWriter.object { $0.member("v", value) }
        let document = try JSONDocument(bytes)
        #expect(document.object?.string("v") == value)
    }
}
