/// What an endpoint said in its answer, as text for people: a stranger's.
enum AnswerText {
    /// The body read as UTF-8, without characters that are invisible or move others: control characters but line ends and tabs, and format
    /// characters. Blanks at its ends are left out, and a character that was cut off.
    /// - Returns: nil where nothing is left.
    static func cleaned(_ body: some Collection<UInt8>) -> String? {
        let unseen: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: body, as: UTF8.self).unicodeScalars where scalar != "\r" {
            let isPlain = scalar == "\n" || scalar == "\t" || !unseen.contains(scalar.properties.generalCategory)
            text.append(isPlain ? scalar : " ")
        }
        while let last = text.last, last.properties.isWhitespace || last == "\u{FFFD}" { text.removeLast() }
        let kept = text.drop { $0.properties.isWhitespace }
        return kept.isEmpty ? nil : String(kept)
    }
}
