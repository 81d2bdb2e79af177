import APIKit
import Accounts
import Base

extension FeatureView {
    /// What an app shows where the account may not use the feature and a higher tier gives more of it, in the reader's language; nil
    /// elsewhere. Tier and feature are called as the catalog calls them.
    func upgradePrompt(for reader: Reader) -> String? {
        guard let restriction, let required = requiredTier(in: reader.catalog) else { return nil }
        let tier = reader.name(ofTier: required)
        let name = reader.text(feature.names) ?? feature.id
        // A reader of neither gets the names in the catalog's language, and the sentence likewise.
        let language = AnswerLanguage(reader.languages, orAs: feature.names?.language ?? "en")
        switch (restriction, language) {
        case (.tierRequired, .english): return "Upgrade to \(tier) to use \(name)."
        case (.tierRequired, .simplified): return "升级到\(tier)即可使用「\(name)」。"
        case (.tierRequired, .traditional): return "升級到\(tier)即可使用「\(name)」。"
        case (.limitReached, _): break
        }
        let amount = [most.map { "\($0)" } ?? "", reader.text(feature.units) ?? ""]
        switch language {
        case .english:
            let unit = amount.filter { !$0.isEmpty }.joined(separator: " ")
            let (all, are) = most == 1 ? ("the", "is") : ("all", "are")
            return "\(name): \(all) \(unit)\(Self.inEnglish(window?.period)) \(are) used. Upgrade to \(tier) for more."
        case .simplified:
            return "「\(name)」\(Self.inChinese(window?.period))的\(amount.joined())已用完，升级到\(tier)可获得更多。"
        case .traditional:
            return "「\(name)」\(Self.inChinese(window?.period))的\(amount.joined())已用完，升級到\(tier)可獲得更多。"
        }
    }

    private static func inEnglish(_ period: Catalog.UsagePeriod?) -> String {
        switch period {
        case .day: " of today"
        case .month: " of this month"
        case .total, nil: ""
        }
    }

    private static func inChinese(_ period: Catalog.UsagePeriod?) -> String {
        switch period {
        case .day: "今天"
        case .month: "本月"
        case .total, nil: ""
        }
    }
}
