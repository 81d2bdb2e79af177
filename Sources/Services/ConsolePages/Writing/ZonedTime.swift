import Base
import Foundation

/// Instants as a reader in a zone writes them.
enum ZonedTime {
    /// The years that are written by a calendar.
    private static let years: ClosedRange<Int64> = -62_135_596_800_000...253_402_214_400_000

    /// `2026-10-31 14:05:09`, on the clock of the zone.
    static func text(_ instant: Timestamp, in zone: TimeZone) -> String {
        guard years.contains(instant.millisecondsSince1970) else { return instant.description }
        let local = instant.adding(seconds: offset(at: instant, in: zone)).description
        return "\(local.prefix(10)) \(local.dropFirst(11).prefix(8))"
    }

    /// Reads `2026-10-31`, `2026-10-31T14:05` and `2026-10-31T14:05:09` on the clock of the zone, and an instant with `Z` as it is; nil for
    /// anything else. What the clock skips is read as if it did not, and of what it shows twice the first counts.
    static func instant(_ text: String, in zone: TimeZone) -> Timestamp? {
        if text.hasSuffix("Z") { return Timestamp(iso8601: text) }
        let ends = [10: "T00:00:00Z", 16: ":00Z", 19: "Z"]
        guard let end = ends[text.utf8.count], let local = Timestamp(iso8601: text + end) else { return nil }
        guard years.contains(local.millisecondsSince1970) else { return nil }
        // The clock stands at one of two offsets on a day on which it is changed, and at the same one on all others.
        let (before, after) = (
            offset(at: local.adding(days: -1), in: zone), offset(at: local.adding(days: 1), in: zone)
        )
        for offset in [before, after] {
            let instant = local.adding(seconds: 0 - offset)
            if self.offset(at: instant, in: zone) == offset { return instant }
        }
        return local.adding(seconds: 0 - before)
    }

    /// `2026-10-31T14:05`, as the field of a form has it.
    static func field(_ instant: Timestamp, in zone: TimeZone) -> String {
        let text = text(instant, in: zone)
        return "\(text.prefix(10))T\(text.dropFirst(11).prefix(5))"
    }

    /// A zone by its name in the IANA database, or UTC; nil for anything else.
    static func zone(_ name: String) -> TimeZone? {
        guard (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({ byte in
                byte.isASCIILetterOrDigit
                    || [UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+")].contains(byte)
            })
        else { return nil }
        return TimeZone(identifier: name)
    }

    /// What a zone is called. That of UTC has another name in Foundation.
    static func name(of zone: TimeZone) -> String { name(zone.identifier) }
    /// The same by its identifier.
    static func name(_ identifier: String) -> String { identifier == "GMT" ? "UTC" : identifier }

    /// Some of them, for people to choose from; every other one may be typed.
    static let common = [
        "UTC", "America/Los_Angeles", "America/New_York", "America/Sao_Paulo", "Europe/London", "Europe/Berlin",
        "Asia/Kolkata", "Asia/Shanghai", "Asia/Hong_Kong", "Asia/Taipei", "Asia/Tokyo", "Australia/Sydney",
    ]

    /// Seconds that the zone's clock is ahead of UTC.
    private static func offset(at instant: Timestamp, in zone: TimeZone) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant.millisecondsSince1970) / 1000)))
    }
}

extension UInt8 {
    /// Whether it is a letter or a digit of ASCII.
    var isASCIILetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
