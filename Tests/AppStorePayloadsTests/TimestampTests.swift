import AppStorePayloads
import Base
import Testing

@Suite("Timestamp")
struct TimestampTests {
    /// What is there stays, and the instant comes after it.
    private static func written(_ timestamp: Timestamp) -> String {
        var bytes = Array("at ".utf8)
        timestamp.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "text and instant belong together",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-01-02T03:04:05Z", 1_767_323_045_000), ("1969-12-31T23:59:59.999Z", -1),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("2100-03-01T00:00:00Z", 4_107_542_400_000),
        ] as [(String, Int64)])
    func roundTrip(text: String, milliseconds: Int64) {
        #expect(Timestamp(millisecondsSince1970: milliseconds).description == text)
        #expect(Self.written(Timestamp(millisecondsSince1970: milliseconds)) == "at " + text)
        #expect(Timestamp(iso8601: text)?.millisecondsSince1970 == milliseconds)
    }

    @Test("a date alone is its midnight, and a longer fraction is cut to milliseconds")
    func shortForms() {
        #expect(Timestamp(iso8601: "2026-01-02")?.description == "2026-01-02T00:00:00Z")
        #expect(Timestamp(iso8601: "2026-01-02T03:04:05.1Z")?.description == "2026-01-02T03:04:05.100Z")
        #expect(
            Timestamp(iso8601: "2026-01-02T03:04:05.123999999999999999999Z")?.description == "2026-01-02T03:04:05.123Z")
    }

    @Test(
        "what is not a UTC date is refused",
        arguments: [
            "", "2026", "2026-13-01", "2026-02-29", "2026-01-00", "2026-01-02T", "2026-01-02T24:00:00Z",
            "2026-01-02T03:04:05", "2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05Z ",
            "x026-01-02",
        ])
    func refused(text: String) { #expect(Timestamp(iso8601: text) == nil) }

    @Test(
        "what programs send is read with any offset from UTC",
        arguments: [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"), ("2026-01-02t03:04:05.25z", "2026-01-02T03:04:05.250Z"),
            ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05-00:00", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.123456+01:30", "2026-01-02T01:34:05.123Z"),
            ("2025-12-31T23:00:00-08:00", "2026-01-01T07:00:00Z"),
            ("2024-02-29T23:59:59+23:59", "2024-02-29T00:00:59Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("2017-01-01T00:59:60+01:00", "2017-01-01T00:00:00Z"),
            ("1969-12-31T23:59:60Z", "1970-01-01T00:00:00Z"),
        ])
    func sent(text: String, instant: String) { #expect(Timestamp(rfc3339: text)?.description == instant) }

    @Test(
        "what RFC 3339 does not have is refused",
        arguments: [
            "", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05+0100",
            "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+01:60", "2026-01-02T03:04:05+1:000",
            "2026-02-30T00:00:00Z",
            "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.+01:00", "2026-01-02T03:04:05ZZ", "+2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05Z+01:00", "2026-01-02T03:04:05+é1:00",
        ])
    func unsent(text: String) { #expect(Timestamp(rfc3339: text) == nil) }

    @Test("arithmetic saturates instead of trapping, and the ends of time can be printed")
    func saturation() {
        #expect(Timestamp.distantFuture.adding(milliseconds: 1) == .distantFuture)
        #expect(Timestamp.distantPast.adding(days: -1) == .distantPast)
        #expect(Timestamp(secondsSince1970: .max) == .distantFuture)
        #expect(Timestamp(secondsSince1970: .min) == .distantPast)
        #expect(Timestamp.distantPast.adding(days: .max) > .distantPast)
        #expect(Timestamp.distantFuture.milliseconds(since: .distantPast) == .max)
        #expect(Timestamp.distantPast.milliseconds(since: .distantFuture) == .min)
        #expect(Timestamp.distantPast.description == "-292275055-05-16T16:47:04.192Z")
        #expect(Timestamp.distantFuture.description == "+292278994-08-17T07:12:55.807Z")
        #expect(Self.written(.distantFuture) == "at +292278994-08-17T07:12:55.807Z")
    }
}
