import AppStorePayloads
import Foundation
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test("is what others make of the same bytes, at every length")
    func agreement() {
        let seed: UInt64 = 0x5EED_0005
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let standard = Data(bytes).base64EncodedString()
            #expect(Base64.standard.encode(bytes) == Array(standard.utf8))
            #expect(Base64.standard.decode(Array(standard.utf8)) == bytes)
            let url = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.url.encode(bytes) == Array(url.utf8))
            #expect(Base64.url.decode(Array(url.utf8)) == bytes)
        }
    }

    @Test(
        "url refuses padding, white space, the other alphabet, unused bits and impossible lengths",
        arguments: [
            "A", "AAAAA", "AA=", "AA==", "AAA=", "A A", "AA\n", "+A", "/A", "AB", "AAB", "AAAAA!", "AA\u{0}A", "éé",
        ])
    func refusedUrl(text: String) { #expect(Base64.url.decode(Array(text.utf8)) == nil) }

    @Test(
        "standard refuses missing or misplaced padding, white space, the other alphabet and unused bits",
        arguments: [
            "A", "AA", "AAA", "AA=", "A===", "====", "=", "AA==A", "AA==AAAA", "AB==", "AAB=", "-A==", "_A==", "AAAA\n",
            "AA= =", "=AAA", "A=AA", "AA=A",
        ])
    func refusedStandard(text: String) { #expect(Base64.standard.decode(Array(text.utf8)) == nil) }
}
