import APIKit

/// A line that narrows a list down: `type:SUBSCRIBED reason:wrong_bundle "two words"`. A qualifier is a name, a colon and a value; a value with a
/// blank stands in quotes. What has no name is a text that is looked for, where the list takes one.
struct QualifierLine: Sendable, Hashable {
    /// The longest line that is read.
    static let longest = 500

    /// The values by their names.
    let values: [String: String]

    /// Reads a line.
    /// - Parameters:
    ///   - names: the qualifiers of the list.
    ///   - free: which of them a text without a name is; nil where the list looks for none.
    /// - Throws: ``APIKit/APIProblem``, 400, for a name that the list does not have.
    init(_ text: String, names: [String], free: String?) throws(APIProblem) {
        var values: [String: String] = [:]
        var words: [String] = []
        for part in Self.parts(of: text.prefix(Self.longest)) {
            guard !part.isQuoted, let colon = part.text.firstIndex(of: ":"), colon != part.text.startIndex else {
                words.append(part.text)
                continue
            }
            let name = String(part.text[..<colon])
            guard let known = names.first(where: { $0.lowercased() == name.lowercased() }) else {
                throw APIProblem(
                    .invalidRequest,
                    ProblemText(english: "qualifiers of this list are \(names.map { "\($0):" }.joined(separator: " "))")
                )
            }
            values[known] = String(part.text[part.text.index(after: colon)...])
        }
        if !words.isEmpty {
            guard let free else {
                throw APIProblem(
                    .invalidRequest,
                    "a filter is written like name:value; people and ids are found by the box at the top of the page")
            }
            values[free] = words.joined(separator: " ")
        }
        self.values = values.filter { !$0.value.isEmpty }
    }

    /// The line that is read as these values, in the order of the names.
    static func text(_ values: [String: String], names: [String], free: String?) -> String {
        names.compactMap { name in
            guard let value = values[name], !value.isEmpty else { return nil }
            let written = value.contains { $0.isWhitespace } ? "\"\(value.filter { $0 != "\"" })\"" : value
            if name == free { return value.contains(":") ? "\"\(value.filter { $0 != "\"" })\"" : written }
            return "\(name):\(written)"
        }.joined(separator: " ")
    }

    /// The parts between blanks; a quote keeps blanks, also behind a colon.
    private static func parts(of text: Substring) -> [(text: String, isQuoted: Bool)] {
        var parts: [(text: String, isQuoted: Bool)] = []
        var part = ""
        var (isInQuotes, beganQuoted) = (false, false)
        func end() {
            if !part.isEmpty { parts.append((part, beganQuoted)) }
            (part, beganQuoted) = ("", false)
        }
        for character in text {
            if character == "\"" {
                if part.isEmpty, !isInQuotes { beganQuoted = true }
                isInQuotes.toggle()
            } else if character.isWhitespace, !isInQuotes {
                end()
            } else {
                part.append(character)
            }
        }
        end()
        return parts
    }
}
