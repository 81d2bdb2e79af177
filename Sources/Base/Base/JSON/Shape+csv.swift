extension Shape {
    /// The members as CSV (RFC 4180, but for its line ends): a line with their names, and a line for each subject. Null is empty, and what
    /// has no form in CSV is JSON.
    /// - Parameter isBegun: whether the lines go on a text that has the names already.
    package func csv(of subjects: [Subject], for reader: Reader, isBegun: Bool = false) -> String {
        let lines = subjects.map { subject in
            let value = value(of: subject, for: reader)
            return memberNames.map { (value[$0] ?? .null).csv }
        }
        return ((isBegun ? [] : [memberNames]) + lines).map { $0.joined(separator: ",") }.joined(separator: "\n")
    }
}

extension Shape where Reader == Void {
    /// The members as CSV.
    package func csv(of subjects: [Subject], isBegun: Bool = false) -> String {
        csv(of: subjects, for: (), isBegun: isBegun)
    }
}

extension JSONValue {
    /// A cell. Customers may have written a text: a spreadsheet would run one that begins like a formula, so that an apostrophe comes
    /// before it; control characters, which move a terminal, become blanks. A tab or a line end at the beginning may be skipped on the way
    /// to a formula. An accent on a sign makes it another character and leaves it a formula.
    fileprivate var csv: String {
        switch self {
        case .null: return ""
        case .bool, .integer, .number: return text
        case .array, .object, .written: return Self.quoted(text)
        case .string(let text):
            let shown = String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
            let isRun = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
            return Self.quoted(isRun ? "'" + shown : shown)
        }
    }

    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { ",\"'".contains($0) || $0.isNewline || $0.isWhitespace }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
