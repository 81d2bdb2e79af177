import Accounts
import Base
import Foundation
import TestSupport
import Testing

/// The five questions of the chapter for support people, each by the clicks that stand there.
///
/// `deploy/test --screenshots DIRECTORY` writes the chapter's pictures to DIRECTORY/chapter.
@Suite("Support people in a browser", .serialized)
struct BrowserSupportTests {
    @Test(
        "learn why she was charged twice, why he is locked out, what Apple was told, who changed an account, and how many trials became customers",
        .inBrowser)
    func questions() async throws {
        try await BrowserDesk.with { desk in
            try await desk.browse { browser in
                try await chargedTwice(desk, browser)
                try await lockedOut(desk, browser)
                try await toldApple(desk, browser)
                try await whoChanged(desk, browser)
                try await trials(desk, browser)
            }
        }
    }

    /// Ada bought the same plan once more.
    private func chargedTwice(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await buy("com.example.storehook.premium.monthly", for: desk.ada.token, at: desk)
        try await browser.open("/")
        try await browser.search("ada", leadingTo: desk.ada.page)
        try await browser.reload("both orders are there", until: "-0003", in: Spot.table("Orders"))
        #expect(try await browser.count("\(Spot.table("Purchases"))/tbody/tr") == 2)
        try await take("charged-twice", browser, of: "Orders")
        try await browser.press("\(Spot.table("Orders"))//a[starts-with(@href, '/orders/')]")
        try await eventually("the order is there") { try await browser.path.hasPrefix("/orders/") }
        let lines = try await browser.text(of: Spot.table("Transactions and refunds"))
        #expect(lines.contains("Initial purchase"), "\(lines)")
        try await browser.press("\(Spot.fact("Account"))//a")
        try await eventually("the customer is there") { try await browser.path == desk.ada.page }
    }

    private func lockedOut(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await browser.press("a.brand")
        try await browser.search("bob", leadingTo: desk.bob.page)
        #expect(try await browser.fact("Access") == "No")
        let purchase = try await browser.text(of: Spot.table("Purchases"))
        #expect(purchase.contains("Revoked") && purchase.contains("Nothing: no access now"), "\(purchase)")
        try await take("locked-out", browser, of: "Purchases")
        try await browser.press("\(Spot.table("Purchases"))//a[normalize-space()='\(desk.bob.original)']")
        try await eventually("the story is there") { try await browser.path != desk.bob.page }
        let story = try await browser.text(of: "main")
        #expect(story.contains("Story of purchase") && story.contains("Revoked"), "\(story)")
        try await take("story", browser)
    }

    /// Apple asks about ada's purchase, and no policy answers.
    private func toldApple(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await desk.store.shop(
            "consumption-requests", #"{"transactionId":"\#(desk.ada.transaction)","reason":"OTHER"}"#)
        try await browser.press("a.brand")
        try await browser.search("ada", leadingTo: desk.ada.page)
        try await browser.reload(
            "what Apple asked is on her page", until: desk.ada.transaction, in: Spot.table("What Apple asks"))
        try await browser.press("a.brand")
        try await browser.press("//nav[@class='pages']\(Spot.link("Service"))")
        try await browser.press(Spot.link("What Apple asks"))
        try await browser.type("90", into: Spot.field("Of the last days"))
        try await browser.press(Spot.button(beside: "Of the last days"))
        try await browser.reload("what Apple asked is there", until: desk.ada.transaction, in: "//main//table")
        let line = try await browser.text(of: "//main//table/tbody/tr[1]")
        #expect(line.contains("Open") || line.contains("Not answered"), "\(line)")
        try await take("told-apple", browser)
    }

    private func whoChanged(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        let granted = try await desk.site.run(
            "grant", "bob", "--tier", "premium", "--days", "3", "--why", "an apology", "--as", "heidi",
            with: desk.settings)
        #expect(granted.ending == .exited(0), "\(granted.errors)")
        try await browser.press("a.brand")
        try await browser.search("bob", leadingTo: desk.bob.page)
        let acts = try await browser.text(of: Spot.table("What staff did"))
        #expect(acts.contains("heidi"), "\(acts)")
        #expect(try await browser.text(of: Spot.table("On record")).contains("heidi"))
        try await take("who-changed", browser, of: "What staff did")
        try await browser.press("\(Spot.table("What staff did"))//a[contains(., 'heidi')]")
        try await eventually("what heidi did is there") { try await browser.path == "/audit" }
        #expect(try await browser.text(of: "main").contains("heidi"))
    }

    private func trials(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await buy(
            "com.example.storehook.basic.yearly", for: "\(AccountToken.of("dora"))", #","offer":"trial""#, at: desk)
        let month = Date(timeIntervalSinceNow: -86_400).formatted(.iso8601.year().month())
        try await browser.press("a.brand")
        try await browser.press("//nav[@class='pages']\(Spot.link("Figures"))")
        try await browser.press(Spot.link("Trial conversion"))
        try await browser.type("\(month)-01", into: Spot.field("From"))
        try await browser.press("\(Spot.field("By"))/option[normalize-space()='Month']")
        try await browser.press(Spot.button(beside: "From"))
        try await browser.reload("the trial is counted", until: "1", in: "//main//table/tbody/tr[1]/td[4]")
        let columns = try await browser.text(of: "//main//table/thead")
        for name in ["Trials", "Converted", "Open", "Refunded", "Conversion"] {
            #expect(columns.localizedCaseInsensitiveContains(name), "\(columns)")
        }
        try await take("trials", browser)
        try await browser.press("//main//table/tbody/tr[1]//a")
        try await eventually("the rows are there") { try await browser.place.contains("rows") }
    }

    private func buy(
        _ product: String, for token: String, _ more: String = "", at desk: BrowserDesk
    ) async throws {
        try await desk.store.shop(
            "purchases",
            #"{"productId":"\#(product)","appAccountToken":"\#(token)","environment":"Production"\#(more)}"#)
    }

    /// A picture of the page's first table, or of the one that is named, for the chapter, where pictures are asked for.
    private func take(_ name: String, _ browser: WebBrowser, of caption: String? = nil) async throws {
        guard let directory = BrowserScreenshotTests.directory else { return }
        let folder = URL(filePath: directory).appending(path: "chapter")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await browser.picture(of: "//main//section[.\(caption.map { Spot.table($0) } ?? "//table")]").write(
            to: folder.appending(path: "support-\(name).png"))
    }
}
