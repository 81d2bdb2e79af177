import AppStorePayloads
import Base
import Testing

@Suite("JSONDocument")
struct JSONDocumentTests {
    private func reason(_ bytes: [UInt8]) -> JSONError.Reason? {
        do throws(JSONError) {
            _ = try JSONDocument(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    private func reason(_ text: String) -> JSONError.Reason? { reason(Array(text.utf8)) }

    @Test(
        "what RFC 8259 allows is read",
        arguments: [
            "null", "true", "false", "0", "-0", "12", "-1.5e-3", "1E+2", "0.0", "\"\"", "[]", "{}", " [ ] ",
            "\t{\r\n}\n",
            "[1,[2,[3]]]", "{\"a\":{\"b\":[]}}", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"", "\"é€😀\u{7F}\"",
            "{\"\":1}", "[\"a long string that is read eight bytes at a time, until é comes\"]", "{\"a\":1,\"A\":2}",
            "\"\\u0001\"", "\"\u{10FFFF}\u{FFFF}\"",
        ])
    func accepted(text: String) { #expect(reason(text) == nil) }

    @Test(
        "what it does not allow is refused for what it is",
        arguments: [
            ("", .unexpectedEnd), (" ", .unexpectedEnd), ("nul", .unexpectedEnd), ("nulL", .unexpectedByte),
            ("True", .unexpectedByte), ("[", .unexpectedEnd), ("{", .unexpectedEnd), ("[1", .unexpectedEnd),
            ("[1,]", .unexpectedByte), ("[,1]", .unexpectedByte), ("{\"a\"}", .unexpectedByte),
            ("{\"a\":}", .unexpectedByte), ("{\"a\":1,}", .unexpectedByte), ("{a:1}", .unexpectedByte),
            ("{1:1}", .unexpectedByte), ("[1 2]", .unexpectedByte), ("[1}", .unexpectedByte),
            ("{\"a\":1]", .unexpectedByte),
            ("\"", .unexpectedEnd), ("\"abcdefghijk", .unexpectedEnd), ("\"\\", .unexpectedEnd),
            ("\"\\u12", .unexpectedEnd),
            ("1 1", .trailingBytes), ("{}{}", .trailingBytes), ("[]\u{0}", .trailingBytes),
            ("\u{FEFF}{}", .unexpectedByte),
            ("01", .invalidNumber), ("-01", .invalidNumber), ("1.", .invalidNumber), ("1.e1", .invalidNumber),
            (".5", .unexpectedByte), ("+1", .unexpectedByte), ("1e", .invalidNumber), ("1e+", .invalidNumber),
            ("-", .unexpectedEnd), ("-a", .invalidNumber), ("--1", .invalidNumber), ("NaN", .unexpectedByte),
            ("Infinity", .unexpectedByte), ("0x1", .trailingBytes), ("1e1000", .invalidNumber),
            ("\"\n\"", .controlCharacter), ("\"abcdefgh\u{1F}\"", .controlCharacter), ("\"\u{0}\"", .controlCharacter),
            ("\"\\x\"", .invalidEscape), ("\"\\u12G4\"", .invalidEscape), ("\"\\U0041\"", .invalidEscape),
            ("\"\\ud800\"", .invalidEscape), ("\"\\udc00\"", .invalidEscape), ("\"\\ud800\\ud800\"", .invalidEscape),
            ("\"\\ud800\\n\"", .invalidEscape), ("\"\\ud800x\"", .invalidEscape), ("\"\\u0000\"", .nullCharacter),
            ("'a'", .unexpectedByte), ("/**/1", .unexpectedByte), ("[1]//", .trailingBytes),
        ] as [(String, JSONError.Reason)])
    func refused(text: String, expected: JSONError.Reason) { #expect(reason(text) == expected) }

    @Test("no place in a long string hides a byte that may not stand there")
    func everyPlace() {
        // Long strings are read eight bytes at a time; each byte has to be seen at each place of the eight.
        for position in 0..<24 {
            func text(_ byte: UInt8) -> [UInt8] {
                var text = Array("\"abcdefghijklmnopqrstuvwxyz0123456789\"".utf8)
                text[1 + position] = byte
                return text
            }
            for byte in UInt8(0)..<0x20 { #expect(reason(text(byte)) == .controlCharacter, "\(byte) at \(position)") }
            for byte in UInt8(0x80)...0xFF { #expect(reason(text(byte)) == .invalidUTF8, "\(byte) at \(position)") }
            for byte in UInt8(0x20)..<0x80 where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                #expect(reason(text(byte)) == nil, "\(byte) at \(position)")
            }
            #expect(reason(text(UInt8(ascii: "\""))) == .trailingBytes)
            #expect(reason(text(UInt8(ascii: "\\"))) != .trailingBytes)
        }
    }

    @Test(
        "bytes that are not UTF-8 are refused",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x20], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        let quote = [UInt8(ascii: "\"")]
        #expect(reason(quote + bytes + quote) == .invalidUTF8)
        #expect(reason(quote + Array("1234567".utf8) + bytes + quote) == .invalidUTF8)
        #expect(reason(quote + bytes) == .invalidUTF8)
    }

    @Test(
        "two members of the same name are refused in any object, however the name is written",
        arguments: [
            "{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":2,\"a\":1}", "{\"a\":1,\"\\u0061\":2}",
            "{\"\\u0061\":1,\"\\u0061\":2}",
            "[{\"x\":{\"a\":1,\"a\":2}}]", "{\"\":1,\"\":2}", "{\"é\":1,\"\\u00e9\":2}",
            "{\"😀\":1,\"\\ud83d\\ude00\":2}",
            "{\"o\":{},\"a\":{\"o\":1},\"o\":{}}", "{\"\\/\":1,\"/\":2}",
        ])
    func duplicates(text: String) { #expect(reason(text) == .duplicateKey) }

    @Test("names that only look alike, or stand in different objects, are different")
    func noDuplicates() {
        #expect(reason("{\"e\u{301}\":1,\"\u{e9}\":2}") == nil)
        #expect(reason("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}") == nil)
        #expect(reason("{\"a\":1,\"aa\":2,\"\\\\u0061\":3}") == nil)
    }

    @Test("a duplicate is found among many members, and its place is told")
    func manyMembers() throws {
        for count in [31, 32, 33, 200] {
            let members = (0..<count).map { "\"k\($0)\":\($0)" }
            #expect(reason("{" + members.joined(separator: ",") + "}") == nil)
            let text = "{" + members.joined(separator: ",") + ",\"k7\":0}"
            let error = #expect(throws: JSONError.self) { try JSONDocument(Array(text.utf8)) }
            #expect(error?.reason == .duplicateKey)
            #expect(error?.offset == text.utf8.count - 6)
        }
    }

    @Test("twenty thousand members cost twenty thousand looks, not their square")
    func manyMembersLinear() throws {
        // Quadratic comparison of these names would be 200 million steps over equal beginnings; the suite would stand still.
        let names = (0..<20_000).map { "\"a common beginning of some length \($0)\":0" }
        #expect(reason("{" + names.joined(separator: ",") + "}") == nil)
        #expect(
            reason("{" + names.joined(separator: ",") + ",\"a common beginning of some length 5\":0}") == .duplicateKey)
    }

    @Test("nesting is bounded, and the bound is told before the text is read to its end")
    func depth() {
        let limit = JSONDocument.maximumDepth
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            func nested(_ count: Int) -> String {
                String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
            }
            #expect(reason(nested(limit)) == nil)
            #expect(reason(nested(limit + 1)) == .tooDeep)
            let error = #expect(throws: JSONError.self) {
                try JSONDocument(Array(String(repeating: open, count: 262_144).utf8))
            }
            #expect(error == JSONError(reason: .tooDeep, offset: limit * open.utf8.count))
        }
        #expect(reason(Array(repeating: UInt8(ascii: "{"), count: 262_144)) == .unexpectedByte)
    }

    @Test("a reader's bound on values counts those within others and names, and ends the reading there")
    func values() throws {
        // The object, a name, the list, and its elements.
        let text = Array(#"{"a":[1,2,{}]}"#.utf8)
        _ = try JSONDocument(text, maximumValues: 6)
        let error = #expect(throws: JSONError.self) { try JSONDocument(text, maximumValues: 5) }
        #expect(error == JSONError(reason: .tooManyValues, offset: 10))
        let many = Array(("[" + String(repeating: "0,", count: 2_000_000) + "x").utf8)
        let early = #expect(throws: JSONError.self) { try JSONDocument(many, maximumValues: 1000) }
        #expect(early == JSONError(reason: .tooManyValues, offset: 1999))
    }

    @Test("numbers of absurd length are refused")
    func numberLength() {
        #expect(reason(String(repeating: "1", count: JSONDocument.maximumNumberLength)) == nil)
        #expect(reason(String(repeating: "1", count: JSONDocument.maximumNumberLength + 1)) == .invalidNumber)
        #expect(reason("0." + String(repeating: "0", count: 262_144)) == .invalidNumber)
    }

    @Test("strings come out as they were meant")
    func strings() throws {
        let text =
            #"{"plain":"x","esc":"\"\\\/\b\f\n\r\t","uni":"\u00e9\u20AC\ud83d\ude00","\u006bey":"v","list":["a","\u0062"]}"#
        let object = try #require(try JSONDocument(Array(text.utf8)).object)
        #expect(object.string("plain") == "x")
        #expect(object.string("esc") == "\"\\/\u{8}\u{C}\n\r\t")
        #expect(object.string("uni") == "é€😀")
        #expect(object.string("key") == "v")
        #expect(object.strings("list") == ["a", "b"])
        #expect(object.elementCount("list") == 2)
        #expect(object.string("absent") == nil)
    }

    @Test("a member of another type is nil, and never a guess")
    func types() throws {
        let text = #"{"n":null,"s":"1","i":1,"t":true,"o":{"x":2},"a":[1,"x"],"e":[]}"#
        let object = try #require(try JSONDocument(Array(text.utf8)).object)
        #expect(object.integer("s") == nil)
        #expect(object.string("i") == nil)
        #expect(object.bool("s") == nil)
        #expect(object.bool("i") == nil)
        #expect(object.bool("t") == true)
        #expect(object.object("a") == nil)
        #expect(object.object("o")?.integer("x") == 2)
        #expect(object.strings("a") == nil)
        #expect(object.strings("e") == [])
        #expect(object.strings("s") == nil)
        #expect(object.has("n"))
        #expect(object.string("n") == nil)
        #expect(try JSONDocument(Array("[1]".utf8)).object == nil)
    }

    @Test(
        "integers are exact or absent",
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min), ("1.0", 1),
            ("1e3", 1000),
            ("1.5e1", 15), ("1200e-2", 12), ("0e999", 0), ("0.000e-999", 0), ("9223372036854775808", nil),
            ("-9223372036854775809", nil), ("1.5", nil), ("1e19", nil), ("1e999", nil), ("-1e-1", nil), ("1e-999", nil),
            ("123456789012345678901234567890", nil), ("922337203685477580.70e1", .max),
        ] as [(String, Int64?)])
    func integers(text: String, expected: Int64?) throws {
        #expect(try JSONDocument(Array("{\"n\":\(text)}".utf8)).object?.integer("n") == expected)
    }

    @Test("errors tell a place and never what stands there")
    func messages() {
        let error = #expect(throws: JSONError.self) {
            try JSONDocument(Array("{\"secret\":\"hidden\",\"secret\":1}".utf8))
        }
        #expect(error?.description == "two members of the same name (byte 20)")
    }

    @Test("no garbage is the end of the process")
    func garbage() {
        let seed: UInt64 = 0x5EED_0003
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("{}[]:,\"\\u0019aefnrstl.-+ \n\t".utf8) + [0xC3, 0xA9, 0xF0, 0x9F, 0x98, 0x80, 0x00, 0xFF]
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
            _ = reason(bytes)
            if let object = try? JSONDocument(bytes).object {
                _ = (object.string("a"), object.integer("a"), object.strings("a"), object.elementCount("a"))
            }
        }
    }

    @Test("no edit of a payload is the end of the process, and what is still read has no duplicate names")
    func mutations() {
        let seed: UInt64 = 0x5EED_0004
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let original = Array(
            #"{"a":"\u00e9\ud83d\ude00 x","b":[1,-2.5e3,true,null,{"c":{}}],"d":1767323045678,"é":"plain text of some length"}"#
                .utf8)
        for _ in 0..<20_000 {
            var edited = original
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let position = Int.random(in: edited.indices, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: edited[position] = UInt8.random(in: 0...255, using: &generator)
                case 1: edited.remove(at: position)
                case 2: edited.insert(UInt8.random(in: 0...255, using: &generator), at: position)
                default: edited.swapAt(position, Int.random(in: edited.indices, using: &generator))
                }
            }
            if let object = try? JSONDocument(edited).object {
                _ = (object.string("a"), object.integer("d"), object.object("b"), object.strings("b"))
            }
        }
    }

    @Test("gives members of any name and elements of any kind, each with its own text")
    func elements() throws {
        let text = #"{"a\u0062":[1,"x",null,true,{"c":1.5},[]],"n":null}"#
        let object = try #require(try JSONDocument(Array(text.utf8)).object)
        #expect(object.members.map(\.name) == ["ab", "n"])
        #expect(object["n"]?.isNull == true && object["c"] == nil)
        let elements = try #require(object["ab"]?.elements)
        #expect(
            elements.map { String(decoding: $0.text, as: UTF8.self) } == [
                "1", #""x""#, "null", "true", #"{"c":1.5}"#, "[]",
            ])
        #expect(elements[0].integer == 1 && elements[0].string == nil && elements[1].string == "x")
        #expect(elements[3].bool == true && elements[5].elements?.isEmpty == true && elements[5].object == nil)
        #expect(elements[4].object?["c"]?.integer == nil)
        #expect(try JSONValue(JSONDocument(Array(text.utf8)).root).text == text.replacing("\\u0062", with: "b"))
    }
}
