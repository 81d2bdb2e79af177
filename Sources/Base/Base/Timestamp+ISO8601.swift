extension Timestamp: CustomStringConvertible {
    /// ISO 8601 in UTC, with milliseconds only where they are not zero: `2026-01-02T03:04:05Z`, `2026-01-02T03:04:05.250Z`.
    ///
    /// Years outside 0000–9999 are written with a sign and six digits or more.
    public var description: String {
        let day = Self.floorDivide(millisecondsSince1970, 86_400_000)
        let rest = day.remainder
        let date = Self.civil(fromDay: day.quotient)
        guard (0...9999).contains(date.year) else {
            let inYear0 = String(unsafeUninitializedCapacity: Self.mostDigits) {
                Self.write(year: 0, month: date.month, day: date.day, rest, to: $0)
            }
            return (date.year < 0 ? "-" : "+") + Self.padded(abs(date.year), 6) + inYear0.dropFirst(4)
        }
        return String(unsafeUninitializedCapacity: Self.mostDigits) {
            Self.write(year: date.year, month: date.month, day: date.day, rest, to: $0)
        }
    }

    /// Appends ``description``, without making a string of it.
    public func write(to bytes: inout [UInt8]) {
        let day = Self.floorDivide(millisecondsSince1970, 86_400_000)
        let date = Self.civil(fromDay: day.quotient)
        guard (0...9999).contains(date.year) else { return bytes.append(contentsOf: description.utf8) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.mostDigits) { text in
            let length = Self.write(year: date.year, month: date.month, day: date.day, day.remainder, to: text)
            bytes.append(contentsOf: text[..<length])
        }
    }

    /// For a year of four digits.
    private static let mostDigits = 24

    /// Written digit by digit: an answer of the account API has up to twenty of them.
    /// - Returns: how many bytes it has.
    private static func write(
        year: Int64, month: Int64, day: Int64, _ rest: Int64, to text: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let milliseconds = rest % 1000
        var place = 0
        func put(_ number: Int64, _ digits: Int, then end: Unicode.Scalar) {
            var number = number
            for digit in (place..<place + digits).reversed() {
                text[digit] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
                number /= 10
            }
            text[place + digits] = UInt8(ascii: end)
            place += digits + 1
        }
        put(year, 4, then: "-")
        put(month, 2, then: "-")
        put(day, 2, then: "T")
        put(rest / 3_600_000, 2, then: ":")
        put(rest / 60_000 % 60, 2, then: ":")
        put(rest / 1000 % 60, 2, then: milliseconds == 0 ? "Z" : ".")
        if milliseconds != 0 { put(milliseconds, 3, then: "Z") }
        return place
    }

    /// Reads the form of command lines: `2026-01-02`, `2026-01-02T03:04:05Z`, with a fraction of a second if need be.
    ///
    /// UTC only, years 0000–9999; digits of the fraction beyond milliseconds are cut off. Nil for anything else, also for a day
    /// that the calendar does not have.
    public init?(iso8601 text: some StringProtocol) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        func isByte(_ index: Int, _ character: Unicode.Scalar) -> Bool {
            index < bytes.count && bytes[index] == UInt8(ascii: character)
        }
        guard let year = number(0..<4), isByte(4, "-"), let month = number(5..<7), isByte(7, "-"),
            let day = number(8..<10), (1...12).contains(month), day >= 1
        else { return nil }
        let dayNumber = Self.dayNumber(year: year, month: month, day: day)
        guard Self.civil(fromDay: dayNumber) == (year, month, day) else { return nil }
        var milliseconds = dayNumber * 86_400_000
        if bytes.count > 10 {
            guard isByte(10, "T"), let hour = number(11..<13), isByte(13, ":"), let minute = number(14..<16),
                isByte(16, ":"), let second = number(17..<19), hour < 24, minute < 60, second < 60
            else { return nil }
            milliseconds += (hour * 3600 + minute * 60 + second) * 1000
            var end = 19
            if isByte(19, ".") {
                end = 20
                var weight: Int64 = 100
                while let digit = number(end..<end + 1) {
                    milliseconds += digit * weight
                    weight /= 10
                    end += 1
                }
                guard end > 20 else { return nil }
            }
            guard isByte(end, "Z"), bytes.count == end + 1 else { return nil }
        }
        self.init(millisecondsSince1970: milliseconds)
    }

    /// The Gregorian date of a day counted from 1970-01-01, for any day that milliseconds in `Int64` can reach.
    ///
    /// The calendar repeats every 400 years of 146,097 days; years are counted from March so that the leap day comes last.
    package static func civil(fromDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let era = floorDivide(number + 719_468, 146_097)
        let dayOfEra = era.remainder
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era.quotient * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The inverse of ``civil(fromDay:)``, for years of four digits.
    package static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = era.remainder * 365 + era.remainder / 4 - era.remainder / 100 + dayOfYear
        return era.quotient * 146_097 + dayOfEra - 719_468
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let division = value.quotientAndRemainder(dividingBy: divisor)
        return division.remainder < 0 ? (division.quotient - 1, division.remainder + divisor) : division
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
