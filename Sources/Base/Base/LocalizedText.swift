/// A text in one or more languages, with a fallback language.
public struct LocalizedText: Sendable, Hashable {
    /// By language tag (BCP 47), as the file writes it: `en`, `zh-Hans`.
    public let texts: [String: String]
    /// The language of ``fallback``.
    public let language: String
    /// The text for a reader of none of its languages.
    public let fallback: String

    /// A text.
    /// - Parameters:
    ///   - fallback: the text in this language, for a reader of none of the others.
    ///   - others: the texts in other languages, by their tags.
    public init(_ fallback: String, language: String = "en", others: [String: String] = [:]) {
        self.fallback = fallback
        self.language = language
        texts = others.merging([language: fallback]) { _, own in own }
    }

    /// The text for a reader of these languages, in the order of preference of `Accept-Language`; `*` takes any.
    ///
    /// Each is looked up by RFC 4647 (section 3.4): as it is, then without its last part, and so on. Then any text
    /// in that language will do, for Chinese preferably in the right script: `zh-TW` reads `zh-Hant`, and `zh`
    /// reads `zh-Hans`.
    public subscript(preferred: [String]) -> String {
        for wanted in preferred.prefix(Self.mostLanguages) {
            if wanted == "*" { return fallback }
            if let text = text(in: LanguageTag(wanted)) { return text }
        }
        return fallback
    }

    private func text(in wanted: LanguageTag) -> String? {
        guard !wanted.parts.isEmpty else { return nil }
        let own = texts.keys.map { (key: $0, tag: LanguageTag($0)) }
        for range in wanted.ranges {
            if let found = own.first(where: { $0.tag == range }) { return texts[found.key] }
        }
        // Sorted, so that equal requests get equal answers.
        let related = own.filter { $0.tag.parts.first == wanted.parts.first }.sorted { $0.key < $1.key }
        let found = related.first { $0.tag.script == wanted.script } ?? related.first
        return found.flatMap { texts[$0.key] }
    }

    /// No reader has more languages; a client may send more.
    private static let mostLanguages = 32
}
