package import Base

extension SchemaWord {
    /// The ids of tiers, products and features, and aliases: they are used in paths and scripts.
    package static let id = SchemaWord(
        first: "a-z0-9", of: "a-z0-9_-", 1...64,
        "is an id: 1 to 64 of a to z, 0 to 9, _ and -, a letter or digit first, like pro-yearly")

    /// A bundle id.
    static let bundleID = SchemaWord(
        of: "A-Za-z0-9.-", 1...155, "is a bundle id: 1 to 155 of A to Z, a to z, 0 to 9, . and -, like com.example.app")

    /// An amount of money, with at most three decimals.
    static let money = SchemaWord(
        "is an amount from 0 to 999999999.999 with at most three decimals, like 12.00",
        schema: [
            "type": ["number", "string"], "minimum": 0, "maximum": 999_999_999,
            "pattern": #"^[0-9]{1,9}(\.[0-9]{1,3})?$"#,
        ]
    ) { Catalog.milliunits($0) != nil }

    /// A tier's limit of a feature.
    static let limit = SchemaWord(
        "is no, yes, unlimited, or so many, like 5 per day, 30 per month, 500 in total",
        schema: ["type": "string", "pattern": "^(no|yes|unlimited|[0-9]{1,15} (per day|per month|in total))$"]
    ) { Catalog.Limit($0) != nil }

    /// What stands before the colon of a text in several languages.
    static let languageTag = SchemaWord(
        "is by language tags, like {en: Monthly, zh-Hans: 包月}", schema: ["type": "string"]
    ) { !LanguageTag($0).parts.isEmpty }
}

extension Catalog {
    /// `12.5` is 12500; nil where it is not an amount.
    static func milliunits(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.joined().utf8.allSatisfy(\.isDigit),
            (1...9).contains(parts[0].utf8.count), let whole = Int64(parts[0])
        else { return nil }
        guard parts.count == 2 else { return whole * 1000 }
        guard (1...3).contains(parts[1].utf8.count),
            let thousandths = Int64(parts[1] + String(repeating: "0", count: 3 - parts[1].utf8.count))
        else { return nil }
        return whole * 1000 + thousandths
    }
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
