extension JSONScanner {
    /// Reads a number as RFC 8259 section 6 writes it: no leading zeros or plus sign, digits on both sides of the point.
    mutating func scanNumber(_ input: Span<UInt8>) throws(JSONError) {
        let start = position
        if position < input.count, input[position] == UInt8(ascii: "-") { position += 1 }
        guard position < input.count else { throw error(.unexpectedEnd) }
        let first = input[position]
        let whole = skipDigits(input)
        guard whole > 0 else { throw error(position == start ? .unexpectedByte : .invalidNumber) }
        guard whole == 1 || first != UInt8(ascii: "0") else { throw error(.invalidNumber) }
        if position < input.count, input[position] == UInt8(ascii: ".") {
            position += 1
            guard skipDigits(input) > 0 else { throw error(.invalidNumber) }
        }
        if position < input.count, input[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < input.count, input[position] == UInt8(ascii: "-") || input[position] == UInt8(ascii: "+") {
                position += 1
            }
            // Three digits reach beyond every number there is a use for.
            guard (1...3).contains(skipDigits(input)) else { throw error(.invalidNumber) }
        }
        guard position - start <= JSONDocument.maximumNumberLength else { throw error(.invalidNumber) }
        append(.number, start..<position)
    }

    private mutating func skipDigits(_ input: Span<UInt8>) -> Int {
        let start = position
        while position < input.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(input[position]) {
            position += 1
        }
        return position - start
    }
}
