/// A text in one or more languages, with a fallback language.
public struct LocalizedText: Sendable, Hashable {
    /// By language tag (BCP 47), as the file writes it: `en`, `zh-Hans`.
    public let texts: [String: String]
    /// The language of ``fallback``.
    public let language: String
    /// The text for whoever reads none of its languages.
    public let fallback: String

    /// A text.
    /// - Parameters:
    ///   - fallback: it in this language, for whoever reads none of the others.
    ///   - others: it in other languages, by their tags.
    public init(_ fallback: String, language: String = "en", others: [String: String] = [:]) {
        self.fallback = fallback
        self.language = language
        texts = others.merging([language: fallback]) { _, own in own }
    }

    /// The text for a reader of these languages, the most wanted first, as an `Accept-Language` lists them; `*` takes any.
    ///
    /// Each is looked up as RFC 4647 says (section 3.4): as it is, then without its last part, and so on. Then any text of the same
    /// language will do, of Chinese in the same script if there is one: `zh-TW` reads `zh-Hant`, and `zh` reads `zh-Hans`.
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
        // Sorted, so that the same question always has the same answer.
        let related = own.filter { $0.tag.parts.first == wanted.parts.first }.sorted { $0.key < $1.key }
        let found = related.first { $0.tag.script == wanted.script } ?? related.first
        return found.flatMap { texts[$0.key] }
    }

    /// No reader has more; what a client sends may.
    private static let mostLanguages = 32
}
