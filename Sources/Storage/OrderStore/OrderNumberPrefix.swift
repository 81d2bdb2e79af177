import Base

/// The beginning of an order's number, or all of it, as people write it: `ORD-20261128-00`, in any case.
package struct OrderNumberPrefix: Sendable, Hashable {
    /// The days that fit; nil without one.
    let days: ClosedRange<CalendarDay>?
    /// The places within the day that fit, if the text has the whole day; nil for all places.
    let places: [ClosedRange<Int32>]?
    /// Whether it is a whole number.
    package let isWhole: Bool

    /// Reads at least `ORD-`; nil for a text that begins no number.
    package init?(_ text: some StringProtocol) {
        guard
            let match = String(text).wholeMatch(
                of: /(?i:ORD)-(?:(?<part>[0-9]{0,7})|(?<day>[0-9]{8})(?:-(?<place>[0-9]{0,9}))?)/)
        else { return nil }
        days = CalendarDay.days(beginningWith: match.output.day ?? match.output.part ?? "")
        let place = match.output.place ?? ""
        places = match.output.day == nil || place.isEmpty ? nil : Self.places(beginningWith: place)
        isWhole = place.count == 4 || place.count > 4 && place.first != "0"
    }

    /// The order of a whole number; nil without one.
    var whole: (day: CalendarDay, place: Int32)? {
        guard isWhole, let day = days?.lowerBound, let place = places?.first(where: { $0.count == 1 }) else {
            return nil
        }
        return (day, place.lowerBound)
    }

    /// A place has four digits, and as many as it needs from 10000 on.
    private static func places(beginningWith digits: Substring) -> [ClosedRange<Int32>] {
        (4...9).compactMap { length in
            guard digits.count <= length, length == 4 || digits.first != "0", let value = Int64(digits) else {
                return nil
            }
            let rest = (0..<(length - digits.count)).reduce(Int64(1)) { power, _ in power * 10 }
            let (first, last) = (max(1, value * rest), (value + 1) * rest - 1)
            guard first <= last, let low = Int32(exactly: first), let high = Int32(exactly: last) else { return nil }
            return low...high
        }
    }
}
