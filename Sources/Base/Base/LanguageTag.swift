/// A language tag (BCP 47), compared without regard to case.
package struct LanguageTag: Sendable, Hashable {
    /// Its parts in lower case; none where it is not a tag.
    package let parts: [String]

    /// A tag as it is written.
    package init(_ text: String) {
        // A tag has at most 35 characters, without extensions, which are not needed here.
        guard text.utf8.count <= 64 else {
            parts = []
            return
        }
        let parts = text.lowercased().split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let isTag = parts.allSatisfy { part in
            (1...8).contains(part.utf8.count)
                && part.utf8.allSatisfy { Self.letters.contains($0) || Self.digits.contains($0) }
        }
        self.parts = isTag && parts.first?.utf8.allSatisfy(Self.letters.contains) == true ? parts : []
    }

    private init(parts: [String]) { self.parts = parts }

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Itself, then without its last part and so on; a part of one character is removed with the one after it.
    var ranges: [LanguageTag] {
        var ranges: [LanguageTag] = []
        var rest = parts
        while !rest.isEmpty {
            ranges.append(LanguageTag(parts: rest))
            rest.removeLast()
            if rest.last?.utf8.count == 1 { rest.removeLast() }
        }
        return ranges
    }

    /// Its script: the stated one, or for Chinese that of the region; nil where neither is known.
    var script: String? {
        if let said = parts.dropFirst().first(where: { $0.utf8.count == 4 && $0.utf8.allSatisfy(Self.letters.contains) }
        ) {
            return said
        }
        guard parts.first == "zh" else { return nil }
        return parts.dropFirst().contains { ["tw", "hk", "mo"].contains($0) } ? "hant" : "hans"
    }
}
