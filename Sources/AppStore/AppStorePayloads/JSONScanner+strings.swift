extension JSONScanner {
    /// Reads a string from its opening quote to its closing one.
    mutating func scanString(_ input: Span<UInt8>) throws(JSONError) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            skipPlain(input)
            guard position < input.count else { throw error(.unexpectedEnd) }
            switch input[position] {
            case UInt8(ascii: "\""):
                append(.string, start..<position, isEscaped: isEscaped)
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try scanEscape(input)
            case 0..<0x20:
                throw error(.controlCharacter)
            case 0x80...:
                try scanMultibyte(input)
            default:
                position += 1
            }
        }
    }

    /// Passes characters that need no thought, eight at a time: most of a notification is one long base64 string.
    private mutating func skipPlain(_ input: Span<UInt8>) {
        let bytes = input.bytes
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while position <= input.count - 8 {
            let word = bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
            let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            // A byte's high bit is set by the subtraction where the byte is zero, or below 0x20, and was not above 0x7F before.
            let stops =
                (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word | word
            guard stops & highs == 0 else { return }
            position += 8
        }
    }

    private mutating func scanEscape(_ input: Span<UInt8>) throws(JSONError) {
        guard position + 1 < input.count else { throw error(.unexpectedEnd) }
        switch input[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(input)
            switch unit {
            case 0: throw error(.nullCharacter)
            case 0xDC00...0xDFFF: throw error(.invalidEscape)
            case 0xD800...0xDBFF:
                position += 6
                guard position < input.count else { throw error(.unexpectedEnd) }
                guard input[position] == UInt8(ascii: "\\") else { throw error(.invalidEscape) }
                guard position + 1 < input.count else { throw error(.unexpectedEnd) }
                guard input[position + 1] == UInt8(ascii: "u"),
                    (0xDC00...0xDFFF).contains(try codeUnit(input))
                else { throw error(.invalidEscape) }
                position += 6
            default: position += 6
            }
        default:
            throw error(.invalidEscape)
        }
    }

    /// The number in the `\uXXXX` that begins here.
    private func codeUnit(_ input: Span<UInt8>) throws(JSONError) -> UInt16 {
        guard position + 6 <= input.count else { throw error(.unexpectedEnd) }
        var unit: UInt16 = 0
        for offset in position + 2..<position + 6 {
            guard let digit = Self.hexadecimalDigit(input[offset]) else { throw error(.invalidEscape) }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// Passes one character of two to four bytes, as table 3-7 of the Unicode standard allows them.
    private mutating func scanMultibyte(_ input: Span<UInt8>) throws(JSONError) {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch input[position] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw error(.invalidUTF8)
        }
        guard position + length <= input.count, second.contains(input[position + 1]) else { throw error(.invalidUTF8) }
        for offset in 2..<max(2, length) where !(0x80...0xBF).contains(input[position + offset]) {
            throw error(.invalidUTF8)
        }
        position += length
    }

    /// The text of a string that a scanner has accepted, its escapes replaced by what they stand for.
    static func unescape(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        var highSurrogate: UInt32 = 0
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                var unit: UInt32 = 0
                for digit in rest.prefix(4) { unit = unit << 4 | UInt32(hexadecimalDigit(digit) ?? 0) }
                rest = rest.dropFirst(4)
                if (0xD800...0xDBFF).contains(unit) {
                    highSurrogate = unit
                } else {
                    if (0xDC00...0xDFFF).contains(unit) {
                        unit = 0x10000 + (highSurrogate & 0x3FF) << 10 + unit & 0x3FF
                    }
                    if let scalar = Unicode.Scalar(unit) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
                }
            default: result.append(escape)
            }
        }
        return result
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
