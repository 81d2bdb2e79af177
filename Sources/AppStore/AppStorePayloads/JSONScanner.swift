/// The single pass over a JSON text that finds and notes its values; see ``JSONDocument`` for what it refuses.
///
/// Every read of the input is bounds-checked and every sum stays below the input's length, so no input can trap it. Recursion is as
/// deep as the values, which ``JSONDocument/maximumDepth`` bounds.
struct JSONScanner {
    private(set) var nodes: [JSONNode] = []
    var position = 0
    /// The indices of the names of all objects now open, the innermost's last.
    private var names: [Int] = []

    /// Up to so many members, comparing each name with each other is cheaper than hashing them.
    private static let pairwiseLimit = 32

    private let maximumValues: Int

    init(count: Int, maximumValues: Int = .max) {
        self.maximumValues = maximumValues
        nodes.reserveCapacity(min(64, count / 8 + 1))
    }

    mutating func scanDocument(_ input: Span<UInt8>) throws(JSONError) {
        guard input.count < Int(Int32.max) else { throw JSONError(reason: .tooLong, offset: 0) }
        skipSpace(input)
        try scanValue(input, depth: 0)
        skipSpace(input)
        guard position == input.count else { throw error(.trailingBytes) }
    }

    private mutating func scanValue(_ input: Span<UInt8>, depth: Int) throws(JSONError) {
        guard position < input.count else { throw error(.unexpectedEnd) }
        guard nodes.count < maximumValues else { throw error(.tooManyValues) }
        switch input[position] {
        case UInt8(ascii: "\""): try scanString(input)
        case UInt8(ascii: "{"): try scanObject(input, depth: depth)
        case UInt8(ascii: "["): try scanArray(input, depth: depth)
        case UInt8(ascii: "t"): try scanWord("true", .yes, input)
        case UInt8(ascii: "f"): try scanWord("false", .no, input)
        case UInt8(ascii: "n"): try scanWord("null", .null, input)
        default: try scanNumber(input)
        }
    }

    private mutating func scanObject(_ input: Span<UInt8>, depth: Int) throws(JSONError) {
        let container = try open(.object, depth: depth)
        let firstName = names.count
        if !skipEmpty(input, closing: UInt8(ascii: "}")) {
            while true {
                skipSpace(input)
                guard position < input.count else { throw error(.unexpectedEnd) }
                guard input[position] == UInt8(ascii: "\"") else { throw error(.unexpectedByte) }
                names.append(nodes.count)
                try scanString(input)
                skipSpace(input)
                try expect(UInt8(ascii: ":"), input)
                skipSpace(input)
                try scanValue(input, depth: depth + 1)
                if try scanSeparator(input, closing: UInt8(ascii: "}")) { break }
            }
            try refuseDuplicates(input, from: firstName)
            names.removeSubrange(firstName...)
        }
        close(container)
    }

    private mutating func scanArray(_ input: Span<UInt8>, depth: Int) throws(JSONError) {
        let container = try open(.array, depth: depth)
        if !skipEmpty(input, closing: UInt8(ascii: "]")) {
            while true {
                skipSpace(input)
                try scanValue(input, depth: depth + 1)
                if try scanSeparator(input, closing: UInt8(ascii: "]")) { break }
            }
        }
        close(container)
    }

    private mutating func open(_ kind: JSONNode.Kind, depth: Int) throws(JSONError) -> Int {
        guard depth < JSONDocument.maximumDepth else { throw error(.tooDeep) }
        nodes.append(JSONNode(kind: kind, start: UInt32(position), end: 0))
        position += 1
        return nodes.count - 1
    }

    private mutating func close(_ container: Int) {
        nodes[container].end = UInt32(position)
        nodes[container].next = UInt32(nodes.count)
    }

    /// Whether the container closes before it holds anything.
    private mutating func skipEmpty(_ input: Span<UInt8>, closing: UInt8) -> Bool {
        skipSpace(input)
        guard position < input.count, input[position] == closing else { return false }
        position += 1
        return true
    }

    /// Passes a comma (false) or the container's end (true).
    private mutating func scanSeparator(_ input: Span<UInt8>, closing: UInt8) throws(JSONError) -> Bool {
        skipSpace(input)
        guard position < input.count else { throw error(.unexpectedEnd) }
        let byte = input[position]
        guard byte == closing || byte == UInt8(ascii: ",") else { throw error(.unexpectedByte) }
        position += 1
        return byte == closing
    }

    private mutating func expect(_ byte: UInt8, _ input: Span<UInt8>) throws(JSONError) {
        guard position < input.count else { throw error(.unexpectedEnd) }
        guard input[position] == byte else { throw error(.unexpectedByte) }
        position += 1
    }

    private mutating func scanWord(
        _ word: StaticString, _ kind: JSONNode.Kind, _ input: Span<UInt8>
    ) throws(JSONError) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount { try expect(word.utf8Start[index], input) }
        append(kind, start..<position)
    }

    private mutating func skipSpace(_ input: Span<UInt8>) {
        while position < input.count {
            switch input[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    mutating func append(_ kind: JSONNode.Kind, _ range: Range<Int>, isEscaped: Bool = false) {
        nodes.append(
            JSONNode(
                kind: kind, isEscaped: isEscaped, start: UInt32(range.lowerBound), end: UInt32(range.upperBound),
                next: UInt32(nodes.count + 1)))
    }

    /// Refuses duplicate names in the object that ends here, the innermost open one.
    ///
    /// A few plain names are compared pair by pair. Many, or escaped ones, go into a set. Its hashing is seeded per
    /// process, so that an object cannot be crafted to be slow.
    private func refuseDuplicates(_ input: Span<UInt8>, from first: Int) throws(JSONError) {
        guard names.count - first > 1 else { return }
        if names.count - first <= Self.pairwiseLimit, !names[first...].contains(where: { nodes[$0].isEscaped }) {
            for later in first + 1..<names.count {
                let name = nodes[names[later]]
                for earlier in first..<later where Self.isSame(name, nodes[names[earlier]], input) {
                    throw JSONError(reason: .duplicateKey, offset: Int(name.start))
                }
            }
            return
        }
        var seen = Set<[UInt8]>(minimumCapacity: names.count - first)
        for index in names[first...] {
            let name = nodes[index]
            var text: [UInt8] = []
            text.reserveCapacity(name.range.count)
            for offset in name.range { text.append(input[offset]) }
            if name.isEscaped { text = Self.unescape(text[...]) }
            guard seen.insert(text).inserted else {
                throw JSONError(reason: .duplicateKey, offset: Int(name.start))
            }
        }
    }

    private static func isSame(_ left: JSONNode, _ right: JSONNode, _ input: Span<UInt8>) -> Bool {
        guard left.end - left.start == right.end - right.start else { return false }
        var other = Int(right.start)
        for offset in left.range {
            if input[offset] != input[other] { return false }
            other += 1
        }
        return true
    }

    func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: position) }
}
