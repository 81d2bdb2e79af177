/// For how long one payment lasts, as Apple signs it beside the dates. A week is a quarter of a month.
public struct BilledTime: Sendable, Hashable {
    /// In quarters of a month: 1 of a week, 4 of a month, 48 of a year.
    public let quarters: Int64

    /// One month.
    public static let month = BilledTime(quarters: 4)

    private init(quarters: Int64) { self.quarters = quarters }

    /// That of a transaction: the length of an offer that is paid up front, a month where a longer plan is billed by the month. Nil for all
    /// others: their product's period counts.
    init?(upFrontPeriod: String?, billingPlan: String?) {
        if let time = upFrontPeriod.flatMap({ BilledTime(iso8601: $0) }) {
            self = time
        } else if billingPlan == "MONTHLY" {
            self = .month
        } else {
            return nil
        }
    }

    /// Reads an ISO 8601 duration in years, months and weeks (`P3M`, `P1Y`, `P2W`); days are read where they are whole weeks (`P7D`).
    /// Nil for anything else, and for more than a hundred years.
    public init?(iso8601 text: String) {
        var (digits, total, last) = ("", Int64(0), -1)
        guard text.first == "P", text.utf8.count <= 16 else { return nil }
        for character in text.dropFirst() {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let number = Int64(digits), number <= Self.mostDays,
                let place = Self.units.firstIndex(where: { $0.letter == character }), place > last
            else { return nil }
            let (weeks, rest) = character == "D" ? number.quotientAndRemainder(dividingBy: 7) : (number, 0)
            guard rest == 0 else { return nil }
            total += weeks * Self.units[place].quarters
            (digits, last) = ("", place)
        }
        guard digits.isEmpty, total > 0, total <= Self.mostQuarters else { return nil }
        quarters = total
    }

    private static let mostQuarters: Int64 = 4800
    private static let mostDays: Int64 = 36_525
    private static let units: [(letter: Character, quarters: Int64)] = [("Y", 48), ("M", 4), ("W", 1), ("D", 1)]
}
