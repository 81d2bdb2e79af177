/// An instant in microseconds, as `timestamptz` holds it.
///
/// Apple counts milliseconds since 1970 and PostgreSQL microseconds since 2000-01-01 UTC; both conversions happen here
/// alone. PostgreSQL's `infinity` and `-infinity` are no instants: reading one is an error.
public struct PostgresTimestamp: Sendable, Hashable {
    /// Microseconds since 1970-01-01 00:00:00 UTC, negative before.
    public let microsecondsSince1970: Int64

    /// The earliest instant of `timestamptz`: 4714-11-24 BC (MIN_TIMESTAMP in PostgreSQL's timestamp.h).
    public static let earliest = PostgresTimestamp(microsecondsSince1970: -210_866_803_200_000_000)
    /// The latest instant held here: the greatest `Int64` of microseconds since 1970, in the year 294247.
    public static let latest = PostgresTimestamp(microsecondsSince1970: .max)

    /// An instant in microseconds since 1970; one before ``earliest`` becomes ``earliest``.
    public init(microsecondsSince1970 microseconds: Int64) {
        microsecondsSince1970 = max(microseconds, -210_866_803_200_000_000)
    }

    /// An instant in milliseconds since 1970. Beyond what `timestamptz` can hold it becomes ``earliest`` or ``latest``:
    /// a number from outside must neither trap nor make a whole batch fail.
    public init(millisecondsSince1970 milliseconds: Int64) {
        let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        self.init(microsecondsSince1970: overflow ? (milliseconds < 0 ? .min : .max) : microseconds)
    }

    /// Whole milliseconds since 1970, rounded towards the past, also before 1970.
    public var millisecondsSince1970: Int64 {
        let (quotient, remainder) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// So much later, or earlier; within ``earliest`` and ``latest``.
    public func adding(_ duration: Duration) -> PostgresTimestamp {
        let microseconds = Int64(clamping: duration.attoseconds / 1_000_000_000_000)
        let (sum, overflow) = microsecondsSince1970.addingReportingOverflow(microseconds)
        return PostgresTimestamp(microsecondsSince1970: overflow ? (microseconds < 0 ? .min : .max) : sum)
    }

    /// From 1970-01-01 to 2000-01-01, in microseconds.
    private static let epochShift: Int64 = 946_684_800_000_000
}

extension PostgresTimestamp: Comparable {
    /// Whether `lhs` is before `rhs`.
    public static func < (lhs: PostgresTimestamp, rhs: PostgresTimestamp) -> Bool {
        lhs.microsecondsSince1970 < rhs.microsecondsSince1970
    }
}

extension PostgresTimestamp: PostgresScalar {
    /// `timestamptz`.
    public static var postgresType: PostgresType { .timestamptz }
    /// `timestamptz[]`.
    public static var postgresArrayType: PostgresType { .timestamptzArray }

    /// Microseconds since 2000.
    public func encode(into buffer: inout [UInt8]) {
        // Cannot overflow: the earliest instant lies far enough above Int64.min.
        buffer.append(bigEndian: microsecondsSince1970 - Self.epochShift)
    }

    /// Reads a `timestamptz`; `infinity` is an error.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> PostgresTimestamp {
        guard type == .timestamptz, let microseconds = bytes.wholeInteger(Int64.self) else {
            throw PostgresValueError(wanted: "PostgresTimestamp", got: "\(type)")
        }
        guard microseconds != .max, microseconds != .min else {
            throw PostgresValueError(wanted: "PostgresTimestamp", got: "an infinite timestamptz")
        }
        let (shifted, overflow) = microseconds.addingReportingOverflow(epochShift)
        guard !overflow else {
            throw PostgresValueError(wanted: "PostgresTimestamp", got: "a timestamptz beyond the year 294246")
        }
        return PostgresTimestamp(microsecondsSince1970: shifted)
    }
}
