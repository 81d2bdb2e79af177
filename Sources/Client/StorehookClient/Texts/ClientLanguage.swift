public import Foundation

/// The languages that the client's own texts have; the raw values are their tags (BCP 47).
public enum ClientLanguage: String, Sendable, Hashable, CaseIterable {
    /// English, also for a reader of none of these.
    case english = "en"
    /// Chinese in simplified characters.
    case simplifiedChinese = "zh-Hans"
    /// Chinese in traditional characters, as Taiwan and Hong Kong write it.
    case traditionalChinese = "zh-Hant"

    /// The language for a reader, by the first tag that has a text: `zh-TW` and `zh-HK` read ``traditionalChinese``, and `zh` reads
    /// ``simplifiedChinese``.
    /// - Parameter preferred: language tags (BCP 47) in order of preference, as `Locale.preferredLanguages` has them.
    public init(preferred: [String] = Locale.preferredLanguages) {
        self = Self.choice(of: preferred)?.language ?? .english
    }

    /// The first tag that has a text, with its language; nil where none has.
    static func choice(of preferred: [String]) -> (tag: String, language: ClientLanguage)? {
        for tag in preferred {
            let wanted = Locale.Language(identifier: tag)
            switch wanted.languageCode?.identifier {
            case "en": return (tag, .english)
            // Cantonese is read in the characters of its script.
            case "zh", "yue":
                return (tag, wanted.script?.identifier == "Hant" ? .traditionalChinese : .simplifiedChinese)
            default: continue
            }
        }
        return nil
    }
}
