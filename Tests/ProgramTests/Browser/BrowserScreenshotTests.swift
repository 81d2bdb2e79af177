import Base
import Foundation
import TestSupport
import Testing

/// Pictures of every page, for people to look at: `deploy/test --screenshots DIRECTORY`.
@Suite("Pictures of the desk", .serialized)
struct BrowserScreenshotTests {
    /// Where they are written; nil where none are asked for.
    static let directory = ProcessInfo.processInfo.environment["STOREHOOK_TEST_SCREENSHOTS"]

    @Test(
        "are taken of every page, light and dark, wide and 390 pixels, English and Chinese",
        .enabled(if: BrowserScreenshotTests.directory != nil, "deploy/test --screenshots takes them"))
    func pictures() async throws {
        let directory = URL(filePath: try #require(Self.directory))
        try await BrowserDesk.with { desk in
            try await desk.askForRefund(of: desk.ada)
            try await WebBrowser.with(desk.origin) { browser in
                try await browser.open("/login")
                try await take("login", "en", browser, directory)
                try await desk.logIn(browser)
                let places = try await PageWalk.walk(browser, beside: BrowserPageTests.beside) { _ in }
                for language in ["en", "zh-Hans"] {
                    try await browser.open("/")
                    try await browser.press("#view-language option[value='\(language)']")
                    try await browser.press("form.view button")
                    for place in places {
                        try await browser.open(place)
                        try await take(name(of: place), language, browser, directory)
                    }
                    try await review(desk, browser)
                    try await take("review-of-a-grant", language, browser, directory)
                    try await browser.open("/refund-requests/RF-001")
                    try await browser.press("form.act[action$='/refund-requests/RF-001'] button")
                    try await take("request-opened", language, browser, directory)
                }
                #expect(places.count >= 40)
            }
        }
    }

    private func review(_ desk: BrowserDesk, _ browser: WebBrowser) async throws {
        try await browser.open(desk.bob.page)
        let form = "//form[.//input[@name='what' and @value='grant']]"
        try await browser.press("\(form)//*[@name='reasonKind']/option[@value='compensation']")
        try await browser.press("\(form)//button[@type='submit']")
    }

    /// Each way to look at the page is a file of its own.
    private func take(_ name: String, _ language: String, _ browser: WebBrowser, _ directory: URL) async throws {
        for look in WebBrowser.Look.allCases {
            try await browser.look(look)
            let folder = directory.appending(path: "\(language)-\(look.name)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try await browser.picture().write(to: folder.appending(path: "\(name).png"))
        }
        try await browser.look(.init())
    }

    /// A file's name for a place: the overview is `overview`.
    private func name(of place: String) -> String {
        let words = place.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
        return words.isEmpty ? "overview" : String(words.joined(separator: "_").prefix(100))
    }
}
