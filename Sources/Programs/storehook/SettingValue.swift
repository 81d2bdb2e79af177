/// The one grammar of values, wherever they come from: a file given with `--config`, systemd, docker, Kubernetes, a shell.
///
/// - White space around a value, line ends and a byte order mark included, is not part of it: files end with a line end, and so
///   does what is read out of them.
/// - A value wholly in one pair of quotes, `'` or `"`, is taken without them. `docker run --env-file` hands quotes on, systemd and
///   compose take them off. In double quotes a backslash before `"`, `\`, `$` or a backtick is taken off as well; everywhere else
///   a backslash stands for itself.
/// - A quote at one end without its partner, a `#` behind a space (other readers would take it for a comment), and a character that
///   cannot be seen are refused: each of them is a mistake, and a setting that is misread is found much later.
enum SettingValue {
    /// Why a value is refused. It never repeats the value, which may be a secret.
    enum Fault: Error, Hashable, CustomStringConvertible {
        case unseen(Unicode.Scalar)
        case notUTF8
        case openQuote
        case behindQuote
        case comment

        var description: String {
            switch self {
            case .unseen(let scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                return "a character that cannot be seen is in it: U+"
                    + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "; take it out"
            case .notUTF8: return "it is not UTF-8; write it in UTF-8"
            case .openQuote:
                return "a quote at its beginning or its end has no partner; write one at both ends, or none"
            case .behindQuote: return "something follows its closing quote; end the value there"
            case .comment:
                return "a # follows a space: write a comment on a line of its own, or the value in quotes"
            }
        }
    }

    /// Reads a value.
    /// - Parameter lines: whether it may have tabs and line ends inside, which then stand for spaces.
    /// - Returns: what it says; an empty text counts as not set.
    static func read(_ raw: String, lines: Bool = false) throws(Fault) -> String {
        let trimmed = trimmed(raw)
        guard let first = trimmed.unicodeScalars.first else { return "" }
        let value: String
        if first == "'" || first == "\"" {
            value = Self.trimmed(try unquoted(trimmed, by: first))
        } else {
            value = trimmed
            try refuseMistakes(in: trimmed)
        }
        try refuseUnseen(in: value, lines: lines)
        return value
    }

    /// Whether a value says nothing, whatever else is wrong with it.
    static func isEmpty(_ raw: String) -> Bool { (try? read(raw, lines: true))?.isEmpty ?? false }

    /// A text without the white space around it.
    static func trimmed(_ text: some StringProtocol) -> String {
        var scalars = Substring(text).unicodeScalars
        while let first = scalars.first, isAround(first) { scalars.removeFirst() }
        while let last = scalars.last, isAround(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// Refuses characters that cannot be seen: no name, address or path of a setting has one.
    static func refuseUnseen(in value: String, lines: Bool = false) throws(Fault) {
        for scalar in value.unicodeScalars {
            if scalar == "\u{FFFD}" { throw .notUTF8 }
            if lines, scalar == "\n" || scalar == "\r" || scalar == "\t" { continue }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: throw .unseen(scalar)
            default: continue
            }
        }
    }

    /// White space, or the byte order mark.
    private static func isAround(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar == "\u{FEFF}"
    }

    private static func unquoted(_ text: String, by quote: Unicode.Scalar) throws(Fault) -> String {
        var rest = text.unicodeScalars.dropFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                guard rest.isEmpty else { throw .behindQuote }
                return String(value)
            }
            if quote == "\"", scalar == "\\", let next = rest.first, "\"\\$`".unicodeScalars.contains(next) {
                value.append(next)
                rest.removeFirst()
            } else {
                value.append(scalar)
            }
        }
        throw .openQuote
    }

    /// What editors and web pages make of quotes.
    private static let printed: Set<Unicode.Scalar> = ["\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\u{201E}"]

    private static func refuseMistakes(in text: String) throws(Fault) {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last else { return }
        if printed.contains(first) || printed.contains(last) { throw .openQuote }
        if last == "'" || last == "\"", !scalars.count(where: { $0 == last }).isMultiple(of: 2) { throw .openQuote }
        var isBehindSpace = true
        for scalar in scalars {
            if scalar == "#", isBehindSpace { throw .comment }
            isBehindSpace = scalar.properties.isWhitespace
        }
    }
}
