import AppStorePayloads
import AuditStore
import Base
import Foundation
import Postgres
import TestSupport
import Testing

/// A day at the desk, by clicks and keys alone.
@Suite("The desk in a browser", .serialized)
struct BrowserJourneyTests {
    @Test(
        "takes the first admin from the login to the logout: a customer, a dead letter, a refund, a grant, a file; with JavaScript and without",
        .inBrowser, arguments: [true, false])
    func journey(hasJavaScript: Bool) async throws {
        try await BrowserDesk.with { desk in
            let options = WebBrowser.Options(hasJavaScript: hasJavaScript)
            try await WebBrowser.with(desk.origin, options) { browser in
                try await Self.expectScripts(hasJavaScript, browser)
                try await browser.open("/orders")
                #expect(try await browser.place == "/login?next=%2Forders")
                try await desk.logIn(browser)
                try await readWhy(desk, browser)
                try await replay(desk, browser)
                try await refund(desk, browser)
                try await grant(desk, browser)
                try await export(desk, browser)
                try await leave(desk, browser)
            }
            #expect(try await AuditLog(desk.site.pool).verify().fault == nil)
        }
    }

    /// Whether pages of this browser run scripts, by a page that says so.
    private static func expectScripts(_ expected: Bool, _ browser: WebBrowser) async throws {
        let other = try StrangerSite()
        defer { other.stop() }
        other.show("<title>no scripts</title><script>document.title = 'scripts'</script>")
        try await browser.open(other.url())
        #expect(try await browser.title == (expected ? "scripts" : "no scripts"))
    }

    // MARK: The steps

    /// Bob asks why he is locked out.
    private func readWhy(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await browser.search("bob", leadingTo: desk.bob.page)
        let purchase = try await browser.text(of: Spot.table("Purchases"))
        #expect(purchase.contains("Revoked") && purchase.contains("Nothing: no access now"), "\(purchase)")
        let order = try await desk.order(of: desk.bob)
        try await browser.press("\(Spot.table("Orders"))//a[starts-with(@href, '/orders/')]")
        try await eventually("the page is there") { try await browser.path == "/orders/\(order)" }
        let lines = try await browser.text(of: Spot.table("Transactions and refunds"))
        #expect(lines.contains("Initial purchase") && lines.contains("Refund"), "\(lines)")
    }

    /// Carol's purchase could not be trusted, and now it can.
    private func replay(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await browser.press("//nav[@class='pages']//a[normalize-space()='Service']")
        try await eventually("the page is there") { try await browser.path == "/dead-letters" }
        try await browser.press("//table//a[starts-with(@href, '/dead-letters/')]")
        let letter = try await browser.place
        #expect(try await browser.text(of: "main").contains("untrusted_root"))
        try await browser.press(Spot.button(of: "rehearse"))
        try await eventually("the job is there") { try await browser.path.hasPrefix("/jobs/") }
        let changes = Spot.table("Subscriptions that would change")
        try await browser.reload("the dry run is done", until: "Active", in: changes)
        try await browser.open(letter)
        try await browser.type("the root is trusted now", into: Spot.field("reason", of: "replay"))
        try await browser.press(Spot.button(of: "replay"))
        try await browser.says("The letter is back on the queue.")
        try await browser.open(desk.carol.page)
        try await browser.reload("carol has what she bought", until: "Active", in: Spot.table("Purchases"))
    }

    /// Ada wants her money back: asked, approved, and then Apple's to do.
    private func refund(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        let order = try await desk.order(of: desk.ada)
        try await browser.search(desk.ada.transaction, leadingTo: "/orders/\(order)")
        let form = "//form[contains(@action, '/refund-requests')]"
        try await browser.press("\(form)//select[@name='type']/option[@value='full']")
        try await browser.type("charged twice", into: "\(form)//*[@name='reason']")
        try await browser.press("\(form)//button[@type='submit']")
        try await eventually("the page is there") { try await browser.path == "/refund-requests/RF-001" }
        #expect(try await browser.fact("Status") == "Pending")
        try await browser.press(Spot.button(of: "approve"))
        try await browser.says("The request is approved.")
        #expect(try await browser.fact("Status") == "Approved")
        try await browser.open("/refund-requests/RF-001")
        try await desk.store.shop("refunds", #"{"transactionId":"\#(desk.ada.transaction)"}"#)
        try await browser.reload("Apple's refund is seen", until: "Processed", in: Spot.fact("Status"))
    }

    /// Bob gets a month.
    private func grant(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await browser.search(desk.bob.token, leadingTo: desk.bob.page)
        #expect(try await browser.value(of: Spot.field("days", of: "grant")) == "30")
        try await browser.press("\(Spot.field("tier", of: "grant"))/option[@value='premium']")
        try await browser.press("\(Spot.field("reasonKind", of: "grant"))/option[@value='compensation']")
        try await browser.press(Spot.button(of: "grant"))
        // Nothing is done yet.
        let change = try await browser.text(of: "//table")
        #expect(change.contains("premium"), "\(change)")
        #expect(try await browser.text(of: "main").contains("compensation"))
        try await browser.press(Spot.button(of: "grant"))
        try await eventually("it is done") { try await browser.place == "\(desk.bob.page)?done=grant" }
        try await browser.says("The tier is granted.")
        #expect(try await browser.fact("Status") == "Active")
        #expect(try await browser.fact("Tier") == "premium")
        try await browser.reload("the event is there", until: "account.access_changed", in: Spot.table("Latest events"))
    }

    /// All orders as a file.
    private func export(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await browser.open("/orders")
        try await browser.press("//a[@download]")
        let folder = URL(filePath: browser.downloads)
        try await eventually("the file is saved") {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).contains { $0.hasSuffix(".csv") }
        }
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".csv") })
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        for customer in [desk.ada, desk.bob, desk.carol] where !customer.transaction.isEmpty {
            let order = try await desk.order(of: customer)
            #expect(text.contains(order), "\(text)")
        }
        #expect(text.hasPrefix("number,"), "\(text.prefix(200))")
    }

    private func leave(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        let session = try #require(try await browser.cookies.first { $0.name == "storehook-plain" })
        try await browser.press("form.leave button")
        try await eventually("the login is shown") { try await browser.path == "/login" }
        #expect(try await !browser.cookies.contains { $0.name == "storehook-plain" })
        try await browser.open("/customers")
        try await eventually("the page is there") { try await browser.path == "/login" }
        // Who has kept the cookie is not let in by it.
        let thief = DeskBrowser(port: desk.port, [("Cookie", "\(session.name)=\(session.value)")])
        #expect(try await thief.get("/orders").status == 303)
    }

    @Test("shows every page without JavaScript, with the same words as with it", .inBrowser)
    func withoutJavaScript() async throws {
        try await BrowserDesk.with { desk in
            var titles: [String: String] = [:]
            let places = try await desk.browse { browser in
                try await PageWalk.walk(browser) { place in titles[place] = try await browser.text(of: "h1") }
            }
            #expect(places.count >= 40, "\(places)")
            try await desk.browse(.init(hasJavaScript: false)) { browser in
                for place in places {
                    try await browser.open(place)
                    #expect(try await browser.text(of: "h1") == titles[place], "\(place)")
                    #expect(try await browser.count("main > *") > 1, "\(place)")
                }
            }
        }
    }
}
