import APIKit

/// The languages of the pages; the raw values are their tags (BCP 47).
enum Language: String, Sendable, Hashable, CaseIterable {
    /// English.
    case english = "en"
    /// Chinese in simplified characters, for readers of both kinds.
    case chinese = "zh-Hans"

    /// The language for a reader of these, the most wanted first.
    init(_ preferred: [String]) { self = AnswerLanguage(preferred) == .english ? .english : .chinese }

    /// What it is called by those who speak it.
    var name: String {
        switch self {
        case .english: "English"
        case .chinese: "简体中文"
        }
    }

    /// The language of sentences about what could not be done.
    var ofProblems: AnswerLanguage {
        switch self {
        case .english: .english
        case .chinese: .simplified
        }
    }
}
