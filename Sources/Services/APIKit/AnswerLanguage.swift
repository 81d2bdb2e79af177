import Base

/// The languages that this program's own sentences have; the raw values are their tags (BCP 47).
package enum AnswerLanguage: String, Sendable, CaseIterable {
    /// The language of a reader who wants none of these.
    case english = "en"
    /// Chinese in simplified characters.
    case simplified = "zh-Hans"
    /// Chinese in traditional characters.
    case traditional = "zh-Hant"

    /// The language for a reader of these, as ``/Base/LocalizedText`` chooses a text: `zh-TW` reads `zh-Hant`, and `zh` `zh-Hans`.
    /// - Parameter fallback: the language of a text beside which the sentence stands, for a reader who wants none of these.
    package init(_ preferred: [String], orAs fallback: String = english.rawValue) {
        // A client may send many languages: only the first that can match is looked up.
        let wanted = preferred.first { ["en", "zh"].contains($0.prefix { $0 != "-" }.lowercased()) }
        self = Self(rawValue: Self.tags[[wanted ?? fallback]]) ?? .english
    }

    /// Each tag, in the language that it is of.
    private static let tags = LocalizedText(
        english.rawValue,
        others: [simplified.rawValue: simplified.rawValue, traditional.rawValue: traditional.rawValue])
}
