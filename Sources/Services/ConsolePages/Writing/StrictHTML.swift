import Mustache

/// Escapes what is written between tags and in quotes.
///
/// By Unicode scalars: the templates' library goes by characters, and a quote with a combining accent behind it is another character than a
/// quote, and still ends an attribute.
struct StrictHTML: MustacheContentType {
    /// What templates name it.
    static let name = "STRICT-HTML"

    /// A text without what is special in HTML, and without what must not stand there at all.
    func escapeText(_ text: String) -> String {
        // Most cells of most tables.
        if text.utf8.allSatisfy({ Self.isPlain($0) }) { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            case "\n", "\t": escaped.append(scalar)
            // What browsers send for the end of a line, before the other part of it.
            case "\r": continue
            case _ where scalar.properties.generalCategory == .control || scalar.properties.isNoncharacterCodePoint:
                escaped.append("\u{FFFD}")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// Whether a byte stands for a character of ASCII that is written as it is.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
        default: (0x20...0x7E).contains(byte)
        }
    }
}
