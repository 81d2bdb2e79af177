import APIKit
import Base
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ConsolePages

/// How values are written, and read again.
@Suite("Writing")
struct WritingTests {
    @Test("Money is written as people write it in each language, with all decimals that it has")
    func money() {
        for (milliunits, currency, english, chinese) in [
            (9_990, "EUR", "€9.99", "€9.99"), (1_234_500, "USD", "$1,234.50", "US$1,234.50"),
            (68_000, "CNY", "CN¥68.00", "¥68.00"), (230_000, "JPY", "¥230", "JP¥230"),
            (5_000, "CHF", "CHF\u{A0}5.00", "CHF\u{A0}5.00"), (-9_990, "EUR", "-€9.99", "-€9.99"),
            (1_234, "KWD", "KWD\u{A0}1.234", "KWD\u{A0}1.234"), (9_995, "EUR", "€9.995", "€9.995"),
            (230_500, "JPY", "¥230.500", "JP¥230.500"), (0, "EUR", "€0.00", "€0.00"), (9_990, "", "9.99", "9.99"),
        ] as [(Int64, String, String, String)] {
            #expect(MoneyText.text(milliunits, currency, in: .english) == english)
            #expect(MoneyText.text(milliunits, currency, in: .chinese) == chinese)
        }
        #expect(!MoneyText.text(.min, "EUR", in: .english).isEmpty && !MoneyText.text(.max, "", in: .chinese).isEmpty)
    }

    @Test("An amount that is typed is read exactly, and written so that it is read again")
    func typedMoney() {
        for (text, milliunits) in [
            ("9", 9_000), ("9.9", 9_900), ("9.99", 9_990), ("9.999", 9_999), ("0.05", 50), ("0", 0),
            ("999999999999", 999_999_999_999_000),
        ] as [(String, Int64)] {
            #expect(MoneyText.milliunits(text) == milliunits, "\(text)")
            #expect(MoneyText.milliunits(MoneyText.field(milliunits)) == milliunits, "\(text)")
        }
        for text in ["", ".", ".5", "5.", "-1", "+1", "1,5", "1.2.3", "9.9999", "1e3", "٣", "9999999999999", " 1"] {
            #expect(MoneyText.milliunits(text) == nil, "\(text)")
        }
        #expect(MoneyText.field(5_000) == "5" && MoneyText.field(9_990) == "9.99")
    }

    @Test("Instants are written and read on the reader's clock, also where that is changed")
    func times() throws {
        let berlin = try #require(ZonedTime.zone("Europe/Berlin"))
        let newYork = try #require(ZonedTime.zone("America/New_York"))
        let kolkata = try #require(ZonedTime.zone("Asia/Kolkata"))
        let noon = try #require(Timestamp(iso8601: "2026-07-01T12:00:00Z"))
        #expect(ZonedTime.text(noon, in: berlin) == "2026-07-01 14:00:00")
        #expect(ZonedTime.text(noon, in: kolkata) == "2026-07-01 17:30:00")
        #expect(ZonedTime.field(noon, in: berlin) == "2026-07-01T14:00")
        for (text, zone, instant) in [
            ("2026-07-01T14:00", berlin, "2026-07-01T12:00:00Z"), ("2026-07-01", berlin, "2026-06-30T22:00:00Z"),
            ("2026-07-01T14:00:07", kolkata, "2026-07-01T08:30:07Z"),
            ("2026-07-01T14:00:00Z", berlin, "2026-07-01T14:00:00Z"),
            // Shown twice: the first time counts.
            ("2026-10-25T02:30", berlin, "2026-10-25T00:30:00Z"),
            ("2026-11-01T01:30", newYork, "2026-11-01T05:30:00Z"),
            // Skipped: as if it were not.
            ("2026-03-29T02:30", berlin, "2026-03-29T01:30:00Z"),
            ("2026-03-08T02:30", newYork, "2026-03-08T07:30:00Z"),
            ("2026-03-29T03:30", berlin, "2026-03-29T01:30:00Z"),
        ] {
            #expect(ZonedTime.instant(text, in: zone) == Timestamp(iso8601: instant), "\(text)")
        }
        for text in ["", "now", "2026-13-01", "2026-07-01T14", "2026-07-01 14:00", "14:00", "2026-07-01T14:00+02:00"] {
            #expect(ZonedTime.instant(text, in: berlin) == nil, "\(text)")
        }
        for name in ["", "No/Where", "../etc/passwd", "Europe/Berlin\r\nX: y", String(repeating: "a", count: 65)] {
            #expect(ZonedTime.zone(name) == nil, "\(name)")
        }
        for name in ZonedTime.common {
            #expect(ZonedTime.zone(name) != nil, "\(name)")
        }
        #expect(ZonedTime.name(of: PageView.utc) == "UTC")
        #expect(
            !ZonedTime.text(.distantPast, in: berlin).isEmpty && !ZonedTime.text(.distantFuture, in: berlin).isEmpty)
    }

    @Test("How a reader wants pages written is kept in a cookie, and nothing else is taken from it")
    func view() {
        let view = PageView(language: .chinese, zone: ZonedTime.zone("Asia/Shanghai"))
        #expect(PageView(view.text) == view)
        for text in [nil, "", "~", "xx~No/Where", "en", "en~UTC~x", String(repeating: "~", count: 9000)] {
            let read = PageView(text)
            #expect(read.language == nil && read.zone == nil, "\(text ?? "-")")
        }
    }

    @Test("A place is written so that each part stays one part")
    func places() {
        #expect(Place().text == "/")
        #expect(
            Place("orders", "a/b?c#d", query: ["x y": "ü&=", "n": nil]).text
                == "/orders/a%2Fb%3Fc%23d?x%20y=%C3%BC%26%3D")
        #expect(Place("orders", query: ["b": "1", "a": "2"]).text == "/orders?a=2&b=1")
        #expect(Place("orders").with("after", "x").with("after", nil) == Place("orders"))
    }

    @Test("A command is written so that a shell takes it as it is")
    func commands() {
        #expect(CommandLine.text(["orders", "show", "ORD-20260131-0001"]) == "storehook orders show ORD-20260131-0001")
        #expect(
            CommandLine.text(["orders", "list"], [("search", "it's $(rm -r)"), ("app", nil), ("tier", "")])
                == #"storehook orders list --search 'it'\''s $(rm -r)'"#)
    }

    @Test("Numbers and shares are written with what makes them readable")
    func numbers() throws {
        let speaker = try Self.speaker()
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567")]
            as [(Int64, String)]
        {
            #expect(speaker.number(number) == text)
        }
        #expect(speaker.number(.min) == "-9,223,372,036,854,775,808")
        for (share, text) in [(0, "0.0"), (12_345, "12.3"), (12_350, "12.4"), (-50, "-0.1"), (-49, "0.0")]
            as [(Int64, String)]
        {
            #expect(speaker.share(share) == "\(text)\u{A0}%", "\(share)")
        }
        #expect(speaker.word("as_of", ["time": "{time}"]) == "as of {time}")
        #expect(speaker.word(of: "order_status", "new_one") == "new_one")
    }

    @Test("A link stays in the environment and at the instant that are looked at")
    func links() throws {
        var speaker = try Self.speaker(prefix: "/desk")
        #expect(speaker.link(Place("orders")) == "/desk/orders")
        speaker.environment = "Sandbox"
        speaker.instant = Timestamp(iso8601: "2026-01-31T12:00:00Z")
        #expect(speaker.link(Place("orders")).hasPrefix("/desk/orders?at=2026-01-31T12%3A00%3A00"))
        #expect(speaker.link(Place("orders")).hasSuffix("&environment=Sandbox"))
        #expect(speaker.link(Place("orders", query: ["environment": "Production"])).hasSuffix("environment=Production"))
    }

    @Test("The marks of a picture are round numbers around all values, zero among them")
    func scales() {
        var generator = SeededGenerator(seed: 7)
        var lists: [[Int64]] = [[], [0], [1], [-1], [.max, .min], [.max], [.min], [9_990, 123_450]]
        for _ in 0..<2000 {
            let most = Int64(1) << Int64.random(in: 0...59, using: &generator)
            lists.append((0..<5).map { _ in Int64.random(in: -most...most, using: &generator) })
        }
        for values in lists {
            let scale = Plot.Scale(values)
            #expect((2...8).contains(scale.marks.count) && scale.marks.contains(0), "\(values): \(scale)")
            for value in values where value.magnitude < UInt64(Int64.max / 8) {
                #expect((scale.least...scale.most).contains(value), "\(values): \(scale)")
            }
            var step = scale.step
            while step.isMultiple(of: 10) { step /= 10 }
            #expect([1, 2, 5].contains(step), "\(values): \(scale)")
        }
    }

    @Test("The marks of a picture are no finer than they are written, also where all values are the same")
    func finest() throws {
        let speaker = try Self.speaker()
        for values in [[], [0], [3], [250], [-1, 1], [40_000, 100_000]] as [[Int64]] {
            let marks = Plot.Scale(values, finest: 100).marks.map { speaker.share($0) }
            #expect(marks.count >= 2 && Set(marks).count == marks.count, "\(values): \(marks)")
        }
    }

    /// For a reader of English, at UTC.
    static func speaker(prefix: String = "") throws -> Speaker {
        Speaker(
            words: try Words(try Templates().files), language: .english, zone: PageView.utc,
            prefix: prefix, environment: "Production", instant: nil)
    }
}

/// What requests say of themselves.
@Suite("Cookies and origins")
struct RequestOriginTests {
    @Test("A cookie counts where there is one of its name, and of no other way's name")
    func cookies() {
        func value(_ cookies: String..., isSecure: Bool = true) -> String? {
            var headers = HTTPFields()
            for cookie in cookies { headers.append(HTTPField(name: .cookie, value: cookie)) }
            return CookieJar(isSecure: isSecure).value(of: .session, in: headers)
        }
        #expect(value("__Host-storehook=a") == "a" && value("x=1; __Host-storehook=a; y") == "a")
        #expect(value("storehook-plain=a", isSecure: false) == "a")
        #expect(value("__Host-storehook=a", "__Host-storehook=b") == nil)
        #expect(value("__Host-storehook=a; __Host-storehook=a") == nil)
        #expect(value("__Host-storehook-form=a") == nil && value("storehook-plain=a") == nil)
        #expect(value("__Host-storehook=a", isSecure: false) == nil && value() == nil)
        let jar = CookieJar(isSecure: true)
        #expect(jar.setting(.session, to: "s") == "__Host-storehook=s; Path=/; HttpOnly; SameSite=Strict; Secure")
        #expect(jar.setting(.view, to: "en~UTC").contains("; Max-Age=31536000;"))
        #expect(jar.removing(.form).hasPrefix("__Host-storehook-form=; Max-Age=0;"))
    }

    private func evidence(
        _ headers: [String: String], authority: String? = "desk.example.com", peer: String? = "127.0.0.1"
    ) -> CallerEvidence {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return CallerEvidence(
            headers: fields, method: .post, authority: authority, peer: peer.flatMap { NetworkAddress($0) })
    }

    @Test("A page of the console made a request where the browser says so, and nothing else does")
    func ownPages() {
        #expect(RequestOrigin.isOwnPage(evidence(["Sec-Fetch-Site": "same-origin"])))
        for site in ["cross-site", "same-site", "none", "", "Same-Origin "] {
            let headers = ["Sec-Fetch-Site": site, "Origin": "https://desk.example.com"]
            #expect(!RequestOrigin.isOwnPage(evidence(headers)), "\(site)")
        }
        for origin in ["https://desk.example.com", "https://DESK.example.com:8443", "http://desk.example.com"] {
            #expect(RequestOrigin.isOwnPage(evidence(["Origin": origin])), "\(origin)")
        }
        for origin in [
            "null", "", "https://evil.example", "https://desk.example.com.evil.example", "desk.example.com",
            "https://xdesk.example.com",
        ] {
            #expect(!RequestOrigin.isOwnPage(evidence(["Origin": origin])), "\(origin)")
        }
        #expect(!RequestOrigin.isOwnPage(evidence([:])))
        #expect(!RequestOrigin.isOwnPage(evidence(["Origin": "https://desk.example.com"], authority: nil)))
        #expect(RequestOrigin.isOwnPage(evidence(["Origin": "http://[::1]:8082"], authority: "[::1]:8082")))
    }

    @Test("A request is of this machine where both ends are, under its own name, and nothing stands in between")
    func local() {
        for host in ["localhost", "localhost:8082", "127.0.0.1:8082", "[::1]:8082", "127.9.9.9"] {
            #expect(RequestOrigin.isLocal(evidence([:], authority: host)), "\(host)")
        }
        for host in [nil, "", "desk.example.com", "localhost.evil.example", "192.0.2.1", "[2001:db8::1]"] {
            #expect(!RequestOrigin.isLocal(evidence([:], authority: host)), "\(host ?? "-")")
        }
        for peer in [nil, "192.0.2.1", "10.0.0.1"] {
            #expect(!RequestOrigin.isLocal(evidence([:], authority: "localhost", peer: peer)), "\(peer ?? "-")")
        }
        for header in ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP"] {
            #expect(!RequestOrigin.isLocal(evidence([header: "x"], authority: "localhost")), "\(header)")
        }
    }
}
