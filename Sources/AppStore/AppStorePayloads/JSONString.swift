extension [UInt8] {
    /// Appends a text as JSON has it: between quotes, and without what JSON does not let stand as it is.
    public mutating func appendJSON(_ text: String) {
        var text = text
        append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            // Almost every text is as it may be.
            if text.allSatisfy(isPlain) { return append(contentsOf: text) }
            for byte in text {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): self += [UInt8(ascii: "\\"), byte]
                case UInt8(ascii: "\n"): self += "\\n".utf8
                case _ where !isPlain(byte):
                    let digits = String(byte, radix: 16)
                    self += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
                default: append(byte)
                }
            }
        }
        append(UInt8(ascii: "\""))
    }
}

/// Neither a quote nor a backslash nor a control character.
private func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F
}
