import AppStorePayloads
import Base
import Foundation
import TestSupport
import Testing

/// How soon something is seen. A figure that is reported, and no limit that is tested: machines differ.
@Suite("The first paint in a browser", .serialized)
struct BrowserPaintTests {
    private static let pages = ["/", "/orders", "/customers", "/figures/gross", "/dead-letters"]

    @Test("is reported as the median of twenty warm loads in one browser", .inBrowser)
    func paint() async throws {
        // A console that runs already, with many rows behind it.
        if let running = ProcessInfo.processInfo.environment["STOREHOOK_TEST_CONSOLE"] {
            var address = try #require(URLComponents(string: running), "STOREHOOK_TEST_CONSOLE is no URL")
            let (mail, password) = (address.user ?? "", address.password ?? "")
            (address.user, address.password, address.path) = (nil, nil, "")
            try await WebBrowser.with(try #require(address.string)) { browser in
                try await BrowserDesk.logIn(browser, mail, password)
                try await measure(browser)
            }
        } else {
            try await BrowserDesk.with { desk in try await desk.browse { try await measure($0) } }
        }
    }

    private func measure(_ browser: WebBrowser) async throws {
        for page in Self.pages {
            // The first loads fill the caches of the browser and of the database.
            for _ in 0..<3 { _ = try await load(page, browser) }
            var times: [Double] = []
            for _ in 0..<20 { times.append(try await load(page, browser)) }
            times.sort()
            let (median, longest) = (whole((times[9] + times[10]) / 2), whole(times[19]))
            print("first paint of \(page): \(median) ms, median of 20 warm loads; the longest \(longest) ms")
            #expect(times[0] > 0)
        }
    }

    private func whole(_ milliseconds: Double) -> Int { Int(milliseconds.rounded()) }

    /// Milliseconds from the beginning of the navigation to the first text or picture.
    private func load(_ page: String, _ browser: WebBrowser) async throws -> Double {
        try await browser.open(page)
        let script = """
            return new Promise((done) => {
                const look = () => {
                    const paint = performance.getEntriesByName("first-contentful-paint")[0];
                    if (paint) done(paint.startTime);
                    else setTimeout(look, 5);
                };
                look();
            });
            """
        let painted = try await browser.run(script).double
        return try #require(painted, "\(page) was painted")
    }
}
