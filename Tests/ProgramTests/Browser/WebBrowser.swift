import AppStorePayloads
import Base
import Foundation
import Glibc
import NIOHTTP1
import TestSupport

/// Chromium without a window, driven as a person would: it opens places, finds what stands on a page, types and clicks.
///
/// What is named by a selector is named by XPath where that begins with `/` or `(`, and by CSS otherwise. Nothing here runs a script in a page
/// but ``run(_:_:)`` and what says so: a browser without JavaScript does the rest as well.
struct WebBrowser: Sendable {
    /// What kind of browser it is.
    struct Options: Sendable {
        /// Whether pages may run scripts.
        var hasJavaScript = true
        /// What it asks pages for, as `Accept-Language` has it.
        var languages = "en-US,en"
        /// Whether it takes certificates that no trusted authority has issued.
        var takesAnyCertificate = false
    }

    /// Something on the page that is shown.
    struct Element: Sendable, Hashable {
        fileprivate let id: String
    }

    /// Another name for this machine, as a rebound name of a stranger's would be.
    static let otherName = "desk.example.com"

    /// Where paths are opened.
    let origin: String
    /// Where it saves files.
    let downloads: String
    private let driver: WebDriver
    private let session: String

    /// Runs one while `body` lasts, with a profile of its own.
    /// - Parameter origin: scheme, host and port, without a slash behind them.
    static func with<T: Sendable>(
        _ origin: String, _ options: Options = Options(), _ body: (WebBrowser) async throws -> T
    ) async throws -> T {
        try await withTemporaryDirectory { directory in
            let driver = try await WebDriver(directory)
            do {
                let browser = try await WebBrowser(driver, origin, options, directory)
                do {
                    let value = try await body(browser)
                    await driver.stop()
                    return value
                } catch {
                    let place = (try? await browser.url) ?? "-"
                    let text = (try? await browser.text(of: "body")) ?? "-"
                    print("where the browser was before the test failed: \(place)\n\(text.prefix(2000))")
                    throw error
                }
            } catch {
                await driver.stop()
                throw error
            }
        }
    }

    private init(_ driver: WebDriver, _ origin: String, _ options: Options, _ directory: String) async throws {
        self.driver = driver
        self.origin = origin
        downloads = directory + "/downloads"
        try FileManager.default.createDirectory(atPath: downloads, withIntermediateDirectories: true)
        let made = try await driver.send(.POST, "/session", try Self.capabilities(options, directory, downloads))
        guard let session = made.object?.string("sessionId") else { throw NeverHappened("a session of the browser") }
        self.session = session
    }

    private static func capabilities(
        _ options: Options, _ directory: String, _ downloads: String
    ) throws -> JSONValue {
        var arguments = [
            "--headless=new", "--window-size=1280,900", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
            "--disable-extensions", "--disable-sync", "--hide-scrollbars",
            // A place that is opened is that place: nothing is tried over TLS first.
            "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
            // No name leads off this machine.
            "--host-resolver-rules=MAP \(otherName) 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE 127.0.0.1,EXCLUDE localhost",
            "--user-data-dir=\(directory)/profile",
        ]
        // Chromium has no sandbox for root.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        let preferences: JSONValue = [
            "intl.accept_languages": .string(options.languages),
            "profile.default_content_setting_values.javascript": .integer(options.hasJavaScript ? 1 : 2),
            "download.default_directory": .string(downloads), "download.prompt_for_download": false,
            "credentials_enable_service": false, "profile.password_manager_enabled": false,
            "profile.password_manager_leak_detection": false,
        ]
        let chromium: JSONValue = [
            "binary": .string(try Executable.onPath("chromium", of: "chromium")),
            "args": .array(arguments.map { JSONValue.string($0) }), "prefs": preferences,
            "perfLoggingPrefs": ["enableNetwork": true, "enablePage": false],
        ]
        let wanted: JSONValue = [
            "browserName": "chrome", "acceptInsecureCerts": .bool(options.takesAnyCertificate),
            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"], "goog:chromeOptions": chromium,
        ]
        return ["capabilities": ["alwaysMatch": wanted]]
    }

    /// Sends a command of the session.
    @discardableResult
    func command(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONElement {
        try await driver.send(method, "/session/\(session)/\(path)", body)
    }

    // MARK: Places

    /// Opens a path of the origin, or another address, and waits until it is loaded.
    func open(_ place: String) async throws {
        try await command(.POST, "url", ["url": .string(place.hasPrefix("/") ? origin + place : place)])
    }

    /// The address of the page that is shown.
    var url: String {
        get async throws { try await command(.GET, "url").string ?? "" }
    }

    /// Its path, and its query where it has one; the whole address where it is of another origin.
    var place: String {
        get async throws {
            let url = try await url
            return url.hasPrefix(origin + "/") ? String(url.dropFirst(origin.count)) : url
        }
    }

    /// Its path alone.
    var path: String {
        get async throws { String(try await place.prefix { $0 != "?" }) }
    }

    /// The page's title.
    var title: String {
        get async throws { try await command(.GET, "title").string ?? "" }
    }

    // MARK: What is on a page

    private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

    private static func query(_ selector: String) -> JSONValue {
        let isPath = selector.hasPrefix("/") || selector.hasPrefix("(")
        return ["using": isPath ? "xpath" : "css selector", "value": .string(selector)]
    }

    /// The first element of a selector.
    /// - Throws: ``WebDriverFailure`` where there is none.
    func find(_ selector: String) async throws -> Element {
        let found = try await command(.POST, "element", Self.query(selector))
        guard let id = found.object?[Self.elementKey]?.string else { throw NeverHappened("\(selector) is found") }
        return Element(id: id)
    }

    /// How many elements a selector names.
    func count(_ selector: String) async throws -> Int {
        try await command(.POST, "elements", Self.query(selector)).elements?.count ?? 0
    }

    /// Where an element stands on the page, in CSS pixels.
    func rectangle(of selector: String) async throws -> JSONObject? {
        try await command(.GET, "element/\(try await find(selector).id)/rect").object
    }

    /// What a reader sees of an element.
    func text(of selector: String) async throws -> String {
        try await command(.GET, "element/\(try await find(selector).id)/text").string ?? ""
    }

    /// An attribute as it stands in the page; nil where it is missing.
    func attribute(_ name: String, of selector: String) async throws -> String? {
        try await command(.GET, "element/\(try await find(selector).id)/attribute/\(name)").string
    }

    /// What a field holds.
    func value(of selector: String) async throws -> String? {
        try await command(.GET, "element/\(try await find(selector).id)/property/value").string
    }

    // MARK: What a person does

    /// Clicks, and waits for the page that a link or a button leads to: the click of the protocol may end before that page begins. Where none
    /// comes within a second, the click has led to none.
    func press(_ selector: String) async throws {
        let element = try await find(selector)
        let leads = ["a", "button"].contains(try await command(.GET, "element/\(element.id)/name").string ?? "")
        let former = leads ? (try? await loaded()) ?? nil : nil
        try await command(.POST, "element/\(element.id)/click", [:])
        guard let former else { return }
        for _ in 0..<40 {
            // Between two pages a script may fail, as it may in a browser without JavaScript.
            if let next = try? await loaded(), next != former { return }
            try await Task.sleep(for: .milliseconds(25))
        }
    }

    /// When the page that is shown began, which no other page has; nil while it is loading.
    private func loaded() async throws -> String? {
        try await run("return document.readyState === 'complete' ? String(performance.timeOrigin) : null").string
    }

    /// Types into a field, in place of what it holds.
    func type(_ text: String, into selector: String) async throws {
        let field = try await find(selector)
        try await command(.POST, "element/\(field.id)/clear", [:])
        try await command(.POST, "element/\(field.id)/value", ["text": .string(text)])
    }

    /// Presses a key so many times, wherever the focus is.
    /// - Parameter key: its code in the protocol, such as ``tab``.
    func strike(_ key: String, times: Int = 1) async throws {
        let strokes = (0..<times).flatMap { _ -> [JSONValue] in
            [["type": "keyDown", "value": .string(key)], ["type": "keyUp", "value": .string(key)]]
        }
        let keyboard: JSONValue = ["type": "key", "id": "keyboard", "actions": .array(strokes)]
        try await command(.POST, "actions", ["actions": [keyboard]])
    }

    /// The tabulator.
    static let tab = "\u{E004}"
    /// Enter.
    static let enter = "\u{E007}"

    // MARK: Scripts

    /// Runs a script in the page: the body of a function, which may return a promise.
    /// - Parameter arguments: its `arguments`.
    @discardableResult
    func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONElement {
        try await command(.POST, "execute/sync", ["script": .string(script), "args": .array(arguments)])
    }
}
