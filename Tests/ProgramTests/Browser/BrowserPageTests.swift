import AppStorePayloads
import Base
import Foundation
import TestSupport
import Testing

/// All pages, as a browser computes them.
@Suite("The desk's pages in a browser", .serialized)
struct BrowserPageTests {
    /// Pages to which no link leads: one that is not there, one of the past, and another language's words.
    static let beside = ["/no-such-page", "/customers?at=2026-01-31T12:00:00Z", "/orders?environment=Sandbox"]

    @Test(
        "are for everybody: named, in order by keys, readable in light and dark, as wide as a phone; they ask no other host and are valid HTML",
        .inBrowser)
    func pages() async throws {
        try await BrowserDesk.with { desk in
            try await desk.askForRefund(of: desk.ada)
            var sources: [String: String] = [:]
            try await WebBrowser.with(desk.origin) { browser in
                try await browser.open("/login")
                sources["/login"] = try await inspect(browser, "/login")
                try await desk.logIn(browser)
                let places = try await PageWalk.walk(browser, beside: Self.beside) { place in
                    let status = try await browser.status()
                    #expect(status == (place == "/no-such-page" ? 404 : 200), "\(place): \(status ?? 0)")
                    if place == "/no-such-page" {
                        // The browser writes the status into its console by itself.
                        _ = try await browser.consoleLines()
                    }
                    sources[place] = try await inspect(browser, place)
                }
                #expect(places.count >= 40, "\(places)")
                sources["a review"] = try await review(desk, browser)
                // It has a reason, which is shortened.
                try await browser.open("/refund-requests/RF-001")
                try await browser.press("form.act[action$='/refund-requests/RF-001'] button")
                try await expectLooks(browser, "a request, opened")
            }
            let faults = try await NuChecker.faults(sources)
            #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
        }
    }

    @Test("are read in Chinese from the first word to the last, as wide as a phone and as readable", .inBrowser)
    func chinese() async throws {
        try await BrowserDesk.with { desk in
            try await desk.browse { browser in
                try await browser.press("#view-language option[value='zh-Hans']")
                try await browser.press("form.view button")
                #expect(try await browser.attribute("lang", of: "html") == "zh-Hans")
                for place in ["/", "/orders", "/customers", desk.bob.page, "/dead-letters", "/figures", "/staff"] {
                    try await browser.open(place)
                    try await expectLooks(browser, "\(place), Chinese")
                }
            }
        }
    }

    @Test("take the focus to the text by the first link, and leave nothing that a key cannot do", .inBrowser)
    func skip() async throws {
        try await BrowserDesk.with { desk in
            try await desk.browse { browser in
                try await browser.open("/orders")
                try await browser.strike(WebBrowser.tab)
                #expect(try await browser.run("return document.activeElement.className").string == "skip")
                try await browser.strike(WebBrowser.enter)
                #expect(try await browser.run("return document.activeElement.id").string == "content")
                // A search by keys alone.
                try await browser.open("/")
                try await browser.type(desk.bob.token, into: "#search")
                try await browser.strike(WebBrowser.enter)
                try await eventually("the search is done") { try await browser.path == desk.bob.page }
            }
        }
    }

    /// - Returns: the page's text.
    private func inspect(_ browser: WebBrowser, _ place: String) async throws -> String {
        let page = PageInspection(browser: browser, place: place)
        try await page.expectKeys()
        try await expectLooks(browser, place)
        try await page.expectQuiet()
        // What is asked here is no request of the page's.
        let source = try await page.source()
        _ = try await (browser.requestedAddresses(), browser.consoleLines())
        return source
    }

    private func expectLooks(_ browser: WebBrowser, _ place: String) async throws {
        let page = PageInspection(browser: browser, place: place)
        try await page.expectReadable()
        try await page.expectNames()
    }

    /// The page that says what an act will change.
    private func review(_ desk: BrowserDesk, _ browser: WebBrowser) async throws -> String {
        try await browser.open(desk.bob.page)
        let form = "//form[.//input[@name='what' and @value='grant']]"
        let written = try await browser.run(
            """
            const form = document.evaluate(arguments[0], document).iterateNext();
            const fields = new URLSearchParams(new FormData(form));
            fields.set("reason", "an outage");
            return fetch(form.action, { method: "POST", body: fields }).then((answer) => answer.text());
            """, .string(form))
        try await browser.type("an outage", into: "\(form)//*[@name='reason']")
        try await browser.press("\(form)//button[@type='submit']")
        try await expectLooks(browser, "a review")
        return written.string ?? ""
    }
}
