import Base
import Foundation

/// How values are written for one reader: language, zone, and where links lead.
struct Speaker: Sendable {
    /// All words.
    let words: Words
    /// The reader's language.
    let language: Language
    /// The reader's zone, for instants. Days and months are those of the figures.
    let zone: TimeZone
    /// What stands before each path behind a proxy; empty for nothing.
    let prefix: String
    /// The environment that the pages show.
    var environment: String
    /// The past instant that the pages show; nil for now.
    var instant: Timestamp?

    /// A text of the pages; its key where there is none, which a test finds.
    func word(_ key: String) -> String { words.text(key, in: language) ?? key }

    /// A text with values in its places.
    func word(_ key: String, _ values: [String: String]) -> String {
        values.reduce(word(key)) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// What a value of some kind is called; the value itself where this release does not know it.
    func word(of kind: String, _ value: String) -> String { words.text("\(kind).\(value)", in: language) ?? value }

    /// An instant on the reader's clock.
    func time(_ instant: Timestamp) -> String { ZonedTime.text(instant, in: zone) }

    /// How long something takes, in the largest unit that fits into it twice.
    /// - Parameter seconds: 0 or more.
    func span(_ seconds: Int64) -> String {
        let (key, unit): (String, Int64) =
            switch seconds {
            case ..<7_200: ("span_minutes", 60)
            case ..<172_800: ("span_hours", 3_600)
            default: ("span_days", 86_400)
            }
        return word(key, ["number": number(seconds / unit)])
    }

    /// An amount.
    func money(_ milliunits: Int64, _ currency: String) -> String {
        MoneyText.text(milliunits, currency, in: language)
    }

    /// A number with its thousands apart.
    func number(_ number: Int64) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// A share in thousandths of a percent: `12.3 %`, rounded half up.
    func share(_ thousandths: Int64) -> String {
        let tenths = (thousandths.magnitude + 50) / 100
        return
            "\(thousandths < 0 && tenths > 0 ? "-" : "")\(number(Int64(clamping: tenths / 10))).\(tenths % 10)\u{A0}%"
    }

    /// The text of a link. It stays in the environment and at the instant that the reader looks at.
    func link(_ place: Place) -> String {
        var place = place
        if environment != Environment.production.rawValue, place.query["environment"] == nil {
            place.query["environment"] = environment
        }
        if let instant, place.query["at"] == nil { place.query["at"] = instant.description }
        return prefix + place.text
    }
}
