import Base
import Testing

@Suite("Dates in headers, and Retry-After")
struct RetryAfterTests {
    private static func instant(_ text: String) -> Timestamp { Timestamp(iso8601: text) ?? .distantPast }

    private static let now = instant("1994-11-06T08:49:00Z")

    @Test(
        "a date is read in each of the three forms of RFC 9110",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
            ("Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"),
            ("Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z"),
            ("Saturday, 31-Dec-16 23:59:60 GMT", "2017-01-01T00:00:00Z"),
            ("Tue, 29 Feb 2000 00:00:00 GMT", "2000-02-29T00:00:00Z"),
        ])
    func forms(text: String, date: String) {
        #expect(Timestamp(httpDate: text, now: Self.now) == Self.instant(date))
    }

    @Test(
        "a year of two digits that is more than 50 years ahead is the latest one gone by",
        arguments: [
            ("2026-11-26T00:00:00Z", "Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("2026-11-26T00:00:00Z", "Thursday, 26-Nov-76 00:00:00 GMT", "2076-11-26T00:00:00Z"),
            ("2026-11-26T00:00:00Z", "Friday, 26-Nov-76 00:00:01 GMT", "1976-11-26T00:00:01Z"),
            ("2026-11-26T00:00:00Z", "Saturday, 29-Feb-76 00:00:00 GMT", "2076-02-29T00:00:00Z"),
            ("2099-12-31T23:59:59Z", "Friday, 01-Jan-00 00:00:00 GMT", "2100-01-01T00:00:00Z"),
            ("2000-01-01T00:00:00Z", "Friday, 31-Dec-99 23:59:59 GMT", "1999-12-31T23:59:59Z"),
            ("2024-02-29T00:00:00Z", "Thursday, 28-Feb-74 00:00:00 GMT", "2074-02-28T00:00:00Z"),
        ])
    func centuries(now: String, text: String, date: String) {
        #expect(Timestamp(httpDate: text, now: Self.instant(now)) == Self.instant(date))
    }

    @Test(
        "anything else is no date",
        arguments: [
            "", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 94 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 UTC",
            "Sunday, 06-11-94 08:49:37 GMT", "Sunday, 31-Feb-94 08:49:37 GMT", "Sunday, 06-Nov-+4 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun Nov  66 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
            "Sunday Nov  6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov 06 24:00:00 1994",
            "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:61 GMT",
        ])
    func noDate(text: String) {
        #expect(Timestamp(httpDate: text, now: Self.now) == nil)
        #expect(RetryAfter(text, now: Self.now) == nil)
    }

    @Test(
        "Retry-After is seconds or a date, and one gone by is no wait",
        arguments: [
            ("120", .seconds(120)), (" 0 \t", .zero), ("007", .seconds(7)),
            ("999999999", .seconds(999_999_999)), ("99999999999999999999999", .seconds(999_999_999)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(37)), ("Sunday, 06-Nov-94 08:49:37 GMT", .seconds(37)),
            ("Sun Nov  6 08:49:37 1994", .seconds(37)), ("Sun, 06 Nov 1994 08:48:00 GMT", .zero),
            ("Sunday, 06-Nov-94 08:48:00 GMT", .zero), ("Sun Nov  6 08:48:00 1994", .zero),
        ] as [(String, Duration)])
    func waits(text: String, wait: Duration) {
        #expect(RetryAfter(text, now: Self.now)?.wait(from: Self.now) == wait)
    }

    @Test(
        "what is no value of it says nothing", arguments: [nil, "", " ", "-5", "+5", "1.5", "5 s", "1, 2", "soon", "٣"])
    func noValue(text: String?) {
        #expect(RetryAfter(text, now: Self.now) == nil)
    }
}
