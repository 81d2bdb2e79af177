/// An instant in whole milliseconds, the unit in which Apple writes every date.
///
/// Arithmetic saturates at the ends of `Int64` instead of trapping: a date is input, and input never ends the process.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var millisecondsSince1970: Int64

    /// Creates the instant from milliseconds since 1970-01-01T00:00:00Z.
    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Creates the instant from whole seconds since 1970-01-01T00:00:00Z; saturates.
    public init(secondsSince1970: Int64) {
        let (product, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1000)
        self.init(millisecondsSince1970: overflow ? (secondsSince1970 < 0 ? .min : .max) : product)
    }

    /// The milliseconds that are accepted as a date in a payload: from before -62135769600000, which Xcode sends for "never", to the
    /// last year of four digits.
    ///
    /// Databases keep dates in narrower ranges than `Int64` milliseconds, and what cannot be stored must fail where it is read, by name.
    public static let payloadDates: ClosedRange<Int64> = -200_000_000_000_000...253_402_300_799_999

    /// The earliest instant that can be written.
    public static let distantPast = Timestamp(millisecondsSince1970: .min)
    /// The latest instant that can be written.
    public static let distantFuture = Timestamp(millisecondsSince1970: .max)

    /// Earlier before later.
    public static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// The instant that many milliseconds later, or earlier where negative; saturates.
    public func adding(milliseconds: Int64) -> Timestamp {
        let (sum, overflow) = millisecondsSince1970.addingReportingOverflow(milliseconds)
        return Timestamp(millisecondsSince1970: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// The instant that many seconds later, or earlier where negative; saturates.
    public func adding(seconds: Int64) -> Timestamp {
        adding(milliseconds: Timestamp(secondsSince1970: seconds).millisecondsSince1970)
    }

    /// The instant that many days of 24 hours later, or earlier where negative; saturates.
    public func adding(days: Int64) -> Timestamp {
        let (seconds, overflow) = days.multipliedReportingOverflow(by: 86_400)
        return adding(seconds: overflow ? (days < 0 ? .min : .max) : seconds)
    }

    /// How many milliseconds this instant lies after the other; saturates.
    public func milliseconds(since other: Timestamp) -> Int64 {
        let (difference, overflow) = millisecondsSince1970.subtractingReportingOverflow(other.millisecondsSince1970)
        return overflow ? (millisecondsSince1970 < 0 ? .min : .max) : difference
    }
}
