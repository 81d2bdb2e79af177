/// The permitted form of a single value in a catalog's file.
enum CatalogScalar: Sendable, Hashable {
    /// A word of these characters.
    case word(CatalogWord)
    /// One of these.
    case choice([String])
    /// `true` or `false`.
    case flag
    /// A whole number.
    case whole(ClosedRange<Int>)
    /// A text for people, of at most so many characters.
    case text(longest: Int)
    /// An amount of money, with at most three decimals.
    case money
    /// A tier's limit of a feature.
    case limit

    /// Whether a text has this form.
    func accepts(_ text: String) -> Bool {
        switch self {
        case .word(let word): word.accepts(text)
        case .choice(let choices): choices.contains(text)
        case .flag: text == "true" || text == "false"
        case .whole(let range):
            text.utf8.allSatisfy { $0 != UInt8(ascii: "+") } && Int(text).map(range.contains) ?? false
        case .text(let longest): !text.isEmpty && text.unicodeScalars.count <= longest
        case .money: Self.milliunits(text) != nil
        case .limit: Catalog.Limit(text) != nil
        }
    }

    /// What to write, to follow the member's name: `is …`.
    var expectation: String {
        switch self {
        case .word(let word): word.expectation
        case .choice(let choices): "is one of \(choices.joined(separator: ", "))"
        case .flag: "is true or false"
        case .whole(let range): "is a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .text(let longest): "is a text of 1 to \(longest) characters"
        case .money: "is an amount from 0 to 999999999.999 with at most three decimals, like 12.00"
        case .limit: "is no, yes, unlimited, or so many, like 5 per day, 30 per month, 500 in total"
        }
    }

    /// Its part of the schema for editors.
    var schema: SchemaValue {
        switch self {
        case .word(let word): ["type": "string", "pattern": .text(word.pattern)]
        case .choice(let choices): ["type": "string", "enum": .list(choices.map { .text($0) })]
        case .flag: ["type": "boolean"]
        case .whole(let range):
            ["type": "integer", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .text(let longest): ["type": "string", "minLength": 1, "maxLength": .number(longest)]
        case .money:
            [
                "type": ["number", "string"], "minimum": 0, "maximum": 999_999_999,
                "pattern": #"^[0-9]{1,9}(\.[0-9]{1,3})?$"#,
            ]
        case .limit:
            ["type": "string", "pattern": "^(no|yes|unlimited|[0-9]{1,15} (per day|per month|in total))$"]
        }
    }

    /// `12.5` is 12500; nil where it is not an amount.
    static func milliunits(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.joined().utf8.allSatisfy(CatalogWord.isDigit),
            (1...9).contains(parts[0].utf8.count), let whole = Int64(parts[0])
        else { return nil }
        guard parts.count == 2 else { return whole * 1000 }
        guard (1...3).contains(parts[1].utf8.count),
            let thousandths = Int64(parts[1] + String(repeating: "0", count: 3 - parts[1].utf8.count))
        else { return nil }
        return whole * 1000 + thousandths
    }
}
