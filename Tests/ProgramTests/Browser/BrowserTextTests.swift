import AccountStore
import Accounts
import AppStorePayloads
import Base
import EvidenceStore
import Foundation
import Postgres
import TestSupport
import Testing

/// Texts from outside that are written to become more than text, in a browser that would run them.
@Suite("Hostile texts in a browser", .serialized)
struct BrowserTextTests {
    /// Ends an attribute, a tag, a script; runs where anything of it is taken for HTML, and says so. Short enough for a name.
    private static let hostile =
        #"'"><script>window.caught=1</script><img src=x onerror=window.caught=2><svg onload=window.caught=3>"#

    @Test(
        "stay texts on every page that shows them: products, names, mail addresses, accounts, reasons, notes, payloads, searches",
        .inBrowser)
    func everywhere() async throws {
        let yaml = Self.hostile.replacing("'", with: "''")
        let catalog = try BrowserDesk.shopOfStandIn().replacing(
            /(?m)^    name: (?:Premium|Basic) by .*$/, with: "    name: '\(yaml)'")
        try await BrowserDesk.with(catalog: catalog) { desk in
            try await fill(desk)
            try await desk.browse { browser in
                try await browser.open("/notes?account=token:\(desk.bob.token)")
                try await browser.type(Self.hostile, into: "form.act textarea[name=note]")
                try await browser.press("form.act button")
                try await expectHarmless(browser, "a note")
                let query = "%22%3E%3Cscript%3Ewindow.caught=4%3C/script%3E"
                let beside = [
                    "/\(query)", "/orders?search=\(query)", "/orders/\(query)", "/customers/\(query)",
                    "/dead-letters?type=\(query)&reason=\(query)", "/login?next=\(query)", "/?at=\(query)",
                    "/figures/\(query)", "/audit?act=\(query)&account=\(query)",
                ]
                var shown = ""
                _ = try await browser.consoleLines()
                let places = try await PageWalk.walk(browser, beside: beside) { place in
                    // Chromium writes a line for a page whose status is an error.
                    try await expectHarmless(browser, place, mayFail: beside.contains(place))
                    shown += try await browser.text(of: "main")
                    try await open(browser, place)
                }
                #expect(places.count >= 40)
                // They are really there.
                for text in ["window.caught=1", Self.hostile] { #expect(shown.contains(text)) }
                try await browser.open("/")
                try await browser.type(Self.hostile, into: "#search")
                try await browser.press("form.search button")
                try await expectHarmless(browser, "a search")
            }
        }
    }

    /// What customers, apps, Apple's payloads and staff have brought in.
    private func fill(_ desk: BrowserDesk) async throws {
        let pool = desk.site.pool
        let token = AccountToken.of(desk.ada.name)
        _ = try await AccountStore(pool).put(
            AccountProfile(name: Self.hostile, mail: "\(Self.hostile)@example.com"), for: token)
        try await pool.query(
            "update storehook.accounts set account = \(Self.hostile) where account = \(desk.ada.name)")
        try await desk.askForRefund(of: desk.ada, why: Self.hostile)
        let granted = try await desk.site.run(
            "grant", desk.bob.name, "--tier", "premium", "--days", "3", "--why", Self.hostile,
            with: desk.settings)
        #expect(granted.ending == .exited(0), "\(granted.errors)")
        let payload: JSONValue = [
            "notificationType": .string(Self.hostile), "subtype": .string(Self.hostile),
            "notificationUUID": .string(Self.hostile),
            "data": ["bundleId": .string(Self.hostile), "environment": .string(Self.hostile)],
        ]
        try await bury(payload, desk, dead: 2)
    }

    /// Evidence that is not signed: it ends as a dead letter, which shows what it says.
    private func bury(_ payload: JSONValue, _ desk: BrowserDesk, dead: Int) async throws {
        let header: JSONValue = ["alg": "ES256", "x5c": [.string(Self.hostile)]]
        let parts = [header.bytes, payload.bytes, Array("no signature".utf8)].map { part in
            Data(part).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        try await desk.site.outbox.store([Array(parts.joined(separator: ".").utf8)])
        try await eventually("it is a dead letter") {
            try await desk.site.value("select count(*) = \(Int64(dead)) from storehook.dead_letters")
        }
    }

    /// Shows the page's personal texts in full, where it has any.
    private func open(_ browser: WebBrowser, _ place: String) async throws {
        let path = place.prefix { $0 != "?" }
        let button = "form.act[action$='\(path)']:not(:has(.field)) button"
        guard path != "/", !path.contains("%"), try await browser.count(button) > 0 else { return }
        try await browser.press(button)
        try await expectHarmless(browser, "\(place), opened")
    }

    private func expectHarmless(_ browser: WebBrowser, _ place: String, mayFail: Bool = false) async throws {
        #expect(try await browser.run("return window.caught ?? 0").integer == 0, "\(place)")
        let strange = try await browser.count(
            """
            script:not([src]), img, iframe, object, embed, [onerror], [onload], [onfocus], [style], [href^='javascript:']
            """)
        #expect(strange == 0, "\(place)")
        #expect(try await browser.count("main > h1") == 1, "\(place)")
        let lines = try await browser.consoleLines().filter { !mayFail || !$0.contains("Failed to load resource") }
        #expect(lines.isEmpty, "\(place): \(lines)")
    }

    @Test("of 256 KiB in one line are shown whole, on a page that is no wider than its window", .inBrowser)
    func long() async throws {
        try await BrowserDesk.with { desk in
            let payload: JSONValue = ["notificationType": .string(String(repeating: "W", count: 180_000))]
            try await bury(payload, desk, dead: 2)
            try await desk.browse { browser in
                let letter: Int64 = try await desk.site.value("select max(id) from storehook.dead_letters")
                for place in ["/dead-letters/\(letter)", "/dead-letters"] {
                    try await browser.open(place)
                    try await browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
                    try await PageInspection(browser: browser, place: place).expectReadable()
                }
            }
        }
    }
}
