package import Yams

/// Parses the YAML that operators write: one document of bounded size.
package enum YAMLText {
    /// The longest text that is read, in bytes.
    package static let longest = 1 << 20
    /// The most faults that are reported: a text of many lines must not have a report that is longer still.
    package static let mostFaults = 1000

    /// Reads a text.
    /// - Parameter what: what the text is, for faults: `a policy`.
    /// - Returns: its root; nil for an empty text.
    package static func root(of text: String, _ what: String) throws(YAMLFault) -> Node? {
        guard text.utf8.count <= longest else { throw YAMLFault(line: nil, message: "\(what) is at most 1 MiB long") }
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw YAMLFault(error, in: text)
        } catch {
            throw YAMLFault(line: nil, message: "this is not YAML")
        }
    }

    /// Refuses a text with anchors and aliases, before it is parsed: a few lines of them stand for more nodes than any
    /// machine has memory for, and the parser compares keys as a whole.
    ///
    /// It finds every one of them: each begins a token, so that a blank, a break or an indicator precedes it, and has
    /// a name of ASCII letters. It also refuses a text that has both of such a form within quotes.
    package static func refuseAliases(in text: String, _ what: String) throws(YAMLFault) {
        var line = 1
        var anchor: Int?
        var hasAlias = false
        // The last four bytes, and the sign that may begin a name with the next.
        var last: UInt32 = 0x0A0A_0A0A
        var sign: UInt8?
        for byte in text.utf8 {
            if let sign, isName(byte) {
                if sign == UInt8(ascii: "&") { anchor = anchor ?? line } else { hasAlias = true }
            }
            if let anchor, hasAlias {
                throw YAMLFault(
                    line: anchor,
                    message:
                        "\(what) has no anchors and aliases: write out what they stand for, and in texts a space after & "
                        + "and *")
            }
            sign = (byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*")) && opensToken(last) ? byte : nil
            if byte == UInt8(ascii: "\n") { line += 1 }
            last = last << 8 | UInt32(byte)
        }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Whether a token may begin after these bytes: after a blank, a break (the long ones of YAML 1.1, too), a byte order mark, or an
    /// indicator.
    private static func opensToken(_ last: UInt32) -> Bool {
        if last & 0xFF < 0x80 { return " \t\r\n[]{},:?-\"'".utf8.contains(UInt8(last & 0xFF)) }
        return [0xEFBBBF, 0xE280A8, 0xE280A9].contains(last & 0xFF_FFFF) || last & 0xFFFF == 0xC285
    }
}

extension YAMLFault {
    /// The parser's error about a text.
    fileprivate init(_ error: YamlError, in text: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            if let column = Self.tab(inIndentationOf: mark.line, of: text) {
                self.init(
                    line: mark.line, column: column,
                    message:
                        "this is not YAML: a tab stands in the indentation; write two spaces for each level, like   - id: pro"
                )
                return
            }
            self.init(
                line: mark.line, column: mark.column,
                message:
                    "this is not YAML: \(problem); look here and at the line before: indentation, quotes, brackets, a space after "
                    + "each colon")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.prefix(5).map(YAMLFault.quoting).joined(separator: ", ")
            self.init(line: context.mark.line, column: context.mark.column, message: "\(names) stands here twice")
        default: self.init(line: nil, message: "this is not YAML")
        }
    }

    /// The column of the first tab before all else in a line, both from 1 on; nil where none stands there.
    private static func tab(inIndentationOf line: Int, of text: String) -> Int? {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), maxSplits: line, omittingEmptySubsequences: false)
        guard line >= 1, lines.count >= line else { return nil }
        let blanks = lines[line - 1].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return blanks.firstIndex(of: UInt8(ascii: "\t")).map { blanks.distance(from: blanks.startIndex, to: $0) + 1 }
    }
}
