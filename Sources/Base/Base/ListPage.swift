/// A part of a list that is read in pages, each from a bounded number of rows.
package struct ListPage<Element: Sendable>: Sendable {
    /// In the list's order.
    package var elements: [Element]
    /// Where the next page begins; nil at the end of the list. A page may have a next one and no elements: none of the rows that it was
    /// read from is what was asked for.
    package var next: ListCursor?
    /// How many rows were looked through, where that ended the page: what stands behind them was not looked at. Nil where the page is full, and
    /// where the list ends.
    package var lookedThrough: Int?

    /// A page.
    package init(_ elements: [Element] = [], next: ListCursor? = nil, lookedThrough: Int? = nil) {
        self.elements = elements
        self.next = next
        self.lookedThrough = lookedThrough
    }

    /// Its elements as something else.
    package func map<Other: Sendable>(_ transform: (Element) throws -> Other) rethrows -> ListPage<Other> {
        ListPage<Other>(try elements.map(transform), next: next, lookedThrough: lookedThrough)
    }
}

extension ListPage: Equatable where Element: Equatable {}

/// A place in a list: the key of the row before it. A caller sends its text to get the next page.
package struct ListCursor: Sendable, Hashable, CustomStringConvertible {
    /// The columns of the key.
    package let parts: [String]

    /// The place behind a row.
    package init(behind parts: [String]) { self.parts = parts }

    /// Reads ``description``; nil where it has another number of parts.
    package init?(_ text: String, parts count: Int) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Self.read($0) }
        guard parts.count == count else { return nil }
        let known = parts.compactMap(\.self)
        guard known.count == count, !known.contains(where: { $0.utf8.contains(0) }) else { return nil }
        self.parts = known
    }

    /// Of letters, digits and `.`, `_`, `-`, `/`, `%` alone, so that it needs no quotes in a shell or a URL's query.
    package var description: String { parts.map { Self.written($0) }.joined(separator: "/") }

    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-".utf8)

    private static func written(_ part: String) -> String {
        var text: [UInt8] = []
        for byte in part.utf8 {
            if plain.contains(byte) {
                text.append(byte)
            } else {
                text += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func read(_ part: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
