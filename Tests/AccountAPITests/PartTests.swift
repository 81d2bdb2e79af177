import AppStorePayloads
import Base
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("Parts of the account API")
struct PartTests {
    @Test("Values are written as JSON that everybody reads, members in the order given")
    func values() throws {
        let value: JSONValue = [
            "b": "a\"\\\n\u{1}\u{7F}é😀", "a": [1, -9_223_372_036_854_775_808, true, .null], "c": [:], "d": [],
            "t": .time(Timestamp(millisecondsSince1970: 1_767_225_600_250)),
        ]
        let text = String(decoding: value.bytes, as: UTF8.self)
        #expect(
            text == #"{"b":"a\"\\\n\u0001\u007fé😀","a":[1,-9223372036854775808,true,null],"c":{},"d":[],"#
                + #""t":"2026-01-01T00:00:00.250Z"}"#)
        let object = try #require(try JSONDocument(value.bytes).object)
        #expect(object.string("b") == "a\"\\\n\u{1}\u{7F}é😀")
        #expect(value["a"] == [1, .integer(.min), true, .null] && value["x"] == nil)
        let lines: JSONValue = ["b": [1, ["c": "x/y"]], "a": []]
        #expect(
            lines.sorted.indented
                == "{\n  \"a\" : [],\n  \"b\" : [\n    1,\n    {\n      \"c\" : \"x/y\"\n    }\n  ]\n}")
    }

    @Test("A table never holds more than it may, and keeps what is asked for")
    func table() {
        var table = BoundedTable<Int, Int>(most: 100)
        for number in 0..<10_000 {
            table.put(number, for: number)
            #expect(table.value(of: 0) == 0)
            #expect(table.count <= 100)
        }
        #expect(table.value(of: 9999) == 9999 && table.value(of: 1) == nil)
        table.put(7, for: 0)
        #expect(table.value(of: 0) == 7)
        for number in 20_000..<20_049 { table.put(number, for: number) }
        #expect(table.value(of: 0) == 7)
        table.remove(0)
        #expect(table.value(of: 0) == nil)
    }

    @Test("A rate lets through so many at once, and so many a minute, whoever asks how often")
    func rate() {
        let start = ContinuousClock.now
        let instant = Mutex(start)
        let limit = RateLimit<String>(perMinute: 60, burst: 5, most: 1000, clock: { instant.withLock { $0 } })
        for _ in 0..<5 { #expect(limit.refusal(of: "a") == nil) }
        #expect(limit.refusal(of: "a") == .seconds(1))
        // To be refused does not make it longer.
        for _ in 0..<100 { #expect(limit.refusal(of: "a") == .seconds(1)) }
        #expect(limit.refusal(of: "b") == nil)
        var passed = 0
        for step in 1...6000 {
            instant.withLock { $0 = start + .milliseconds(step * 10) }
            if limit.refusal(of: "a") == nil { passed += 1 }
        }
        #expect(passed == 60)
        instant.withLock { $0 = start + .seconds(600) }
        for _ in 0..<5 { #expect(limit.refusal(of: "a") == nil) }
        #expect(limit.refusal(of: "a") != nil)
    }

    @Test("A schema finds what does not fit, by its place, in lists and objects within")
    func schema() throws {
        let schema = ValueSchema.named(
            "S",
            .object([
                .required("s", .string(.init(2, 3))), .optional("n", .integer(1...5)),
                .optional("c", .choice(["a", "b"])),
                .optional("l", .array(.string(.init(0, 2)), most: 2)),
                .optional("o", .object([.required("x", .boolean)])),
                .optional("os", .array(.named("T", .object([.required("y", .integer())])))),
                .required("z", .nullable(.text)),
            ]))
        func fault(_ text: String) throws -> String? {
            schema.fault(in: try #require(try JSONDocument(Array(text.utf8)).object))?.english
        }
        #expect(
            try fault(#"{"s":"ab","z":null,"n":5,"c":"a","l":["a",""],"o":{"x":true},"os":[{"y":1}],"u":1}"#) == nil)
        #expect(try fault(#"{"s":"éé","z":"t","n":null}"#) == nil)
        for (text, message) in [
            (#"{"z":null}"#, "s is missing"), (#"{"s":"ab"}"#, "z is missing"),
            (#"{"s":null,"z":null}"#, "s must be a string"),
            (#"{"s":"a","z":null}"#, "s is shorter than 2 characters"),
            (#"{"s":"abcd","z":null}"#, "s is longer than 3 characters"),
            (#"{"s":"ab","z":1}"#, "z must be a string"), (#"{"s":"ab","z":null,"n":6}"#, "n must be from 1 to 5"),
            (#"{"s":"ab","z":null,"n":1.5}"#, "n must be a whole number"),
            (#"{"s":"ab","z":null,"c":"d"}"#, "c must be one of a, b"),
            (#"{"s":"ab","z":null,"l":["a","b","c"]}"#, "l has more than 2 elements"),
            (#"{"s":"ab","z":null,"l":["a",1]}"#, "l must be a list of strings"),
            (#"{"s":"ab","z":null,"l":["a","bcd"]}"#, "l[1] is longer than 2 characters"),
            (#"{"s":"ab","z":null,"l":{}}"#, "l must be a list"), (#"{"s":"ab","z":null,"o":{}}"#, "o.x is missing"),
            (#"{"s":"ab","z":null,"o":[]}"#, "o must be an object"),
            (#"{"s":"ab","z":null,"os":[{"y":1},{"y":"1"}]}"#, "os[1].y must be a whole number"),
        ] { #expect(try fault(text) == message, "\(text)") }
        #expect(ValueSchema.integer(1...5).fault(inQuery: "7", "q")?.english == "q must be from 1 to 5")
        #expect(ValueSchema.integer().fault(inQuery: "7a", "q")?.english == "q must be a whole number")
        for text in ["+7", "07", "-0", " 7", "7.0"] {
            #expect(ValueSchema.integer().fault(inQuery: text, "q") != nil, "\(text)")
        }
        #expect(ValueSchema.integer().fault(inQuery: "-7", "q") == nil)
        #expect(ValueSchema.string(.init(1, 2)).fault(inQuery: "", "q")?.english == "q is empty")
    }

    @Test("Languages are read in the order in which they are wanted")
    func languages() {
        func languages(_ text: String) -> [String] {
            AccountRequest(id: "x", route: "", path: [:], query: [:], headers: [.acceptLanguage: text]).languages
        }
        #expect(languages("zh-Hans-CN,en;q=0.5, fr;q=0.8 , de;q=0") == ["zh-Hans-CN", "fr", "en"])
        #expect(languages("a;q=x,b") == ["b"])
        #expect(languages(String(repeating: "a,", count: 1000)).count == 20)
        #expect(languages("") == [])
    }
}
