/// A text with a grammar of its own: the check, its JSON schema, and what a fault says to write.
package struct SchemaWord: Sendable, Hashable {
    /// What to write, to follow the member's name: `is …`.
    package let expectation: String
    /// Its JSON schema.
    package let schema: JSONValue
    private let isAccepted: @Sendable (String) -> Bool

    /// A text of a kind; its schema and its expectation distinguish kinds.
    package init(_ expectation: String, schema: JSONValue, accepts isAccepted: @escaping @Sendable (String) -> Bool) {
        self.expectation = expectation
        self.schema = schema
        self.isAccepted = isAccepted
    }

    /// A word of certain characters: the check and the schema's pattern come from the same lines.
    /// - Parameters:
    ///   - first: the characters that may come first, as between the brackets of a regular expression; by default those
    ///     that may follow.
    ///   - rest: the characters that may follow, likewise; a literal `-` comes last.
    ///   - lengths: its permitted lengths.
    package init(first: String? = nil, of rest: String, _ lengths: ClosedRange<Int>, _ expectation: String) {
        let first = first ?? rest
        let pattern = "^[\(first)][\(rest)]{\(lengths.lowerBound - 1),\(lengths.upperBound - 1)}$"
        self.init(expectation, schema: ["type": "string", "pattern": .string(pattern)]) { text in
            guard lengths.contains(text.utf8.count), let head = text.utf8.first else { return false }
            return Self.has(first, head) && text.utf8.dropFirst().allSatisfy { Self.has(rest, $0) }
        }
    }

    /// Whether a text is such a word.
    package func accepts(_ text: String) -> Bool { isAccepted(text) }

    package static func == (one: SchemaWord, other: SchemaWord) -> Bool {
        one.expectation == other.expectation && one.schema == other.schema
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(expectation)
        hasher.combine(schema)
    }

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
