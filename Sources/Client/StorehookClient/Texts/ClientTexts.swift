public import Foundation

/// The client's own texts in one language, with dates and prices as that language writes them.
///
/// The server's texts (`displayStatus`, `upgradePrompt`, `detail`) come in the language that ``AccountAPI`` asks for. These are for what
/// an app shows without a server.
public struct ClientTexts: Sendable {
    /// The language.
    public let language: ClientLanguage
    /// What dates, numbers and prices are written by.
    public let locale: Locale
    /// The time zone of dates.
    public let timeZone: TimeZone

    private let table: [TextKey: TextForm]

    /// Texts for a reader.
    /// - Parameters:
    ///   - preferred: language tags (BCP 47) in order of preference.
    ///   - locale: what dates, numbers and prices are written by; by default the tag that was chosen.
    ///   - timeZone: the time zone of dates.
    ///   - replacing: texts of the app that take the place of these, in the same language.
    public init(
        preferred: [String] = Locale.preferredLanguages, locale: Locale? = nil, timeZone: TimeZone = .current,
        replacing: [TextKey: TextForm] = [:]
    ) {
        let choice = ClientLanguage.choice(of: preferred)
        language = choice?.language ?? .english
        self.locale = locale ?? Locale(identifier: choice?.tag ?? ClientLanguage.english.rawValue)
        self.timeZone = timeZone
        table = Self.table(of: language).merging(replacing) { _, own in own }
    }

    /// Texts in one language.
    public init(_ language: ClientLanguage, timeZone: TimeZone = .current) {
        self.init(preferred: [language.rawValue], timeZone: timeZone)
    }

    /// All texts of a language.
    static func table(of language: ClientLanguage) -> [TextKey: TextForm] {
        switch language {
        case .english: EnglishTexts.table
        case .simplifiedChinese: SimplifiedChineseTexts.table
        case .traditionalChinese: TraditionalChineseTexts.table
        }
    }

    /// A text.
    /// - Parameters:
    ///   - count: the number that chooses its form, and stands at `{count}`.
    ///   - values: what stands at the other names in braces.
    public func callAsFunction(_ key: TextKey, count: Int64? = nil, _ values: [String: String] = [:]) -> String {
        var values = values
        if let count { values["count"] = values["count"] ?? number(count) }
        return TextForm.fill(table[key]?.form(for: count) ?? key.rawValue, with: values)
    }

    /// A number with this language's separators: `1,000`.
    public func number(_ number: Int64) -> String { number.formatted(.number.locale(locale)) }

    /// A day without its time: `January 15, 2027`, `2027年1月15日`.
    public func date(_ date: Date) -> String { format(date, .long, .omitted) }

    /// A day with its time in hours and minutes.
    public func dateAndTime(_ date: Date) -> String { format(date, .abbreviated, .shortened) }

    private func format(
        _ date: Date, _ day: Date.FormatStyle.DateStyle, _ time: Date.FormatStyle.TimeStyle
    ) -> String {
        date.formatted(Date.FormatStyle(date: day, time: time, locale: locale, timeZone: timeZone))
    }

    /// A price with its currency's sign.
    /// - Parameter currency: ISO 4217.
    public func price(_ amount: Decimal, currency: String) -> String {
        amount.formatted(.currency(code: currency).locale(locale))
    }

    /// A share in whole percent: `41%`.
    /// - Parameter share: 0 to 1.
    public func percent(_ share: Double) -> String {
        share.formatted(.percent.precision(.fractionLength(0)).locale(locale))
    }

    /// How much of a feature, with the unit that the catalog names: `5 times`, `5次`.
    ///
    /// The catalog has one form of the unit in English, that of many, so that it is left out beside 1.
    func amount(_ count: Int64, unit: String?) -> String {
        guard let unit, !unit.isEmpty else { return number(count) }
        guard language == .english else { return number(count) + unit }
        return count == 1 ? number(count) : "\(number(count)) \(unit)"
    }
}
