import AppStorePayloads
import Base
import Foundation
import NIOHTTP1
import TestSupport

/// What WebDriver has no words for, by Chromium's own protocol and logs.
extension WebBrowser {
    /// How a page is looked at.
    struct Look: Sendable, Hashable, CaseIterable {
        /// Whether the reader has asked for dark pages.
        var isDark = false
        /// Whether on a phone, 390 CSS pixels wide.
        var isPhone = false

        static let allCases = [false, true].flatMap { isDark in
            [false, true].map { Look(isDark: isDark, isPhone: $0) }
        }

        /// For file names: `light-wide`.
        var name: String { "\(isDark ? "dark" : "light")-\(isPhone ? "390" : "wide")" }
    }

    /// A cookie as the browser has it.
    struct Cookie: Sendable, Hashable {
        var name: String
        var value: String
        var isSecure: Bool
        var isForHTTPOnly: Bool
        var sameSite: String
        var path: String
    }

    /// A command of Chromium's protocol.
    @discardableResult
    func devtools(_ name: String, _ parameters: JSONValue = [:]) async throws -> JSONElement {
        try await command(.POST, "goog/cdp/execute", ["cmd": .string(name), "params": parameters])
    }

    /// Shows this page and those to come in this way.
    func look(_ look: Look) async throws {
        let scheme: JSONValue = ["name": "prefers-color-scheme", "value": look.isDark ? "dark" : "light"]
        try await devtools("Emulation.setEmulatedMedia", ["features": [scheme]])
        try await devtools(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(look.isPhone ? 390 : 1280), "height": .integer(look.isPhone ? 844 : 900),
                "deviceScaleFactor": 1, "mobile": .bool(look.isPhone),
            ])
    }

    /// The whole page as a PNG, or a part of it, up to 6,000 CSS pixels.
    func picture(of selector: String? = nil) async throws -> Data {
        let place =
            if let selector { try await rectangle(of: selector) } else {
                try await devtools("Page.getLayoutMetrics").object?.object("cssContentSize")
            }
        guard let width = place?["width"]?.double, let height = place?["height"]?.double else {
            throw NeverHappened("the page has a size")
        }
        let clip: JSONValue = [
            "x": .number(place?["x"]?.double ?? 0), "y": .number(place?["y"]?.double ?? 0), "width": .number(width),
            "height": .number(min(height, 6000)), "scale": 1,
        ]
        let shot = try await devtools(
            "Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true, "clip": clip])
        guard let data = shot.object?.string("data").flatMap({ Data(base64Encoded: $0) }) else {
            throw NeverHappened("a picture of the page")
        }
        return data
    }

    /// The cookies that it has for the page.
    var cookies: [Cookie] {
        get async throws {
            try await command(.GET, "cookie").elements?.compactMap(\.object).map { cookie in
                Cookie(
                    name: cookie.string("name") ?? "", value: cookie.string("value") ?? "",
                    isSecure: cookie.bool("secure") ?? false, isForHTTPOnly: cookie.bool("httpOnly") ?? false,
                    sameSite: cookie.string("sameSite") ?? "", path: cookie.string("path") ?? "")
            } ?? []
        }
    }

    /// Puts a cookie beside those of the page.
    func plant(_ name: String, _ value: String) async throws {
        try await command(
            .POST, "cookie",
            ["cookie": ["name": .string(name), "value": .string(value), "path": "/", "httpOnly": true]])
    }

    /// The lines in its console since they were last asked for.
    func consoleLines() async throws -> [String] {
        try await command(.POST, "se/log", ["type": "browser"]).elements?.compactMap(\.object).map { line in
            "\(line.string("level") ?? "") \(line.string("message") ?? "")"
        } ?? []
    }

    /// The addresses that pages asked for since they were last asked for, without what stands in a page itself (`data:`).
    func requestedAddresses() async throws -> [String] {
        var addresses: [String] = []
        for entry in try await command(.POST, "se/log", ["type": "performance"]).elements ?? [] {
            let text = entry.object?.string("message") ?? ""
            // Only this one is read: others may be nested deeply.
            guard text.contains(#""method":"Network.requestWillBeSent""#) else { continue }
            guard let url = text.firstMatch(of: /"request":\{.*?"url":"([^"]+)"/) else {
                throw NeverHappened("a request has an address: \(text.prefix(500))")
            }
            addresses.append(String(url.output.1))
        }
        return addresses.filter { !$0.hasPrefix("data:") }
    }

    /// The status of the answer that the page is, as the page knows it.
    func status() async throws -> Int64? {
        try await run("return performance.getEntriesByType('navigation')[0].responseStatus").integer
    }
}
