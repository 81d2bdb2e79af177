/// A word of certain characters: the check and the schema's pattern come from the same lines.
struct CatalogWord: Sendable, Hashable {
    /// The characters that may come first, as between the brackets of a regular expression.
    let first: String
    /// The characters that may follow, likewise; a literal `-` comes last.
    let rest: String
    /// Its permitted lengths.
    let lengths: ClosedRange<Int>
    /// What to write, to follow the member's name: `is …`.
    let expectation: String

    /// A word.
    /// - Parameter first: the characters that may come first; by default those that may follow.
    init(first: String? = nil, of rest: String, _ lengths: ClosedRange<Int>, _ expectation: String) {
        self.first = first ?? rest
        self.rest = rest
        self.lengths = lengths
        self.expectation = expectation
    }

    /// The ids of tiers, products and features, and aliases: they are used in paths and scripts.
    static let id = CatalogWord(
        first: "a-z0-9", of: "a-z0-9_-", 1...64,
        "is an id: 1 to 64 of a to z, 0 to 9, _ and -, a letter or digit first, like pro-yearly")

    /// A regular expression that matches it as a whole.
    var pattern: String { "^[\(first)][\(rest)]{\(lengths.lowerBound - 1),\(lengths.upperBound - 1)}$" }

    /// Whether a text is such a word.
    func accepts(_ text: String) -> Bool {
        guard lengths.contains(text.utf8.count), let head = text.utf8.first else { return false }
        return Self.has(first, head) && text.utf8.dropFirst().allSatisfy { Self.has(rest, $0) }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether a byte is among `a-z0-9_-`.
    private static func has(_ letters: String, _ byte: UInt8) -> Bool {
        let bytes = Array(letters.utf8)
        var index = 0
        while index < bytes.count {
            if index + 2 < bytes.count, bytes[index + 1] == UInt8(ascii: "-") {
                if bytes[index] <= byte, byte <= bytes[index + 2] { return true }
                index += 3
            } else {
                if bytes[index] == byte { return true }
                index += 1
            }
        }
        return false
    }
}
