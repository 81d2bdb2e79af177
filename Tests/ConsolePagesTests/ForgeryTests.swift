import AccountStore
import AuditStore
import Base
import ConsolePages
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

/// Requests that other sites have a browser make, and people who look where they may not.
@Suite("Forged requests")
struct ForgeryTests {
    /// Every form that does something, with what would do it.
    private static func acts(_ order: String) -> [(path: String, fields: [String: String])] {
        [
            (
                "/customers/\(Shop.token(1))/act",
                ["what": "grant", "tier": "premium", "days": "3", "reason": "x", "confirmed": "yes"]
            ),
            ("/customers/\(Shop.token(1))/act", ["what": "revoke", "reason": "x", "confirmed": "yes"]),
            (
                "/customers/\(Shop.token(1))/move",
                ["purchase": "com.example.app/10001", "to": "person-3", "reason": "x", "confirmed": "yes"]
            ),
            ("/orders/\(order)/refund-requests", ["type": "full", "reason": "x"]),
            ("/staff", ["mail": "new@example.com", "role": "admin", "reason": "x"]),
            ("/staff/remove", ["member": "1", "reason": "x"]),
            ("/staff/tokens", ["member": "1", "days": "3", "reason": "x"]),
            ("/orders/\(order)", [:]), ("/audit", [:]), ("/customers", [:]), ("/logout", [:]),
            ("/dead-letters/1/act", ["what": "replay", "reason": "x"]),
            ("/letter-jobs", ["act": "discard", "upTo": "1", "confirmed": "1", "reason": "x"]),
            ("/extensions/1/close", ["reason": "x"]), ("/customers/\(Shop.token(1))/notes", ["note": "x"]),
            ("/catalog", ["catalog": Shop.catalog]), ("/catalog/apply", ["catalog": Shop.catalog, "reason": "x"]),
            ("/endpoints/1/test", ["reason": "x"]), ("/endpoints/1/rotate", ["hours": "1", "reason": "x"]),
            ("/deliveries/1/resend", ["reason": "x"]),
            ("/filters", ["page": "jobs", "name": "failed", "filter-state": "failed"]),
            ("/filters/remove", ["page": "jobs", "filter": "1"]), ("/view", ["zone": "UTC"]),
        ]
    }

    @Test("are refused without the token of the very session, and where a page of another site made them")
    func csrf() async throws {
        try await withPages { pages in
            let order = try await pages.order(1)
            let browser = try await pages.browser(.admin)
            _ = try await browser.get("/")
            let token = try #require(browser.token)
            let other = try await pages.browser(.viewer)
            _ = try await other.get("/")
            let others = try #require(other.token)
            let before = try await pages.place()
            for (path, fields) in Self.acts(order) {
                for (what, given, headers) in [
                    ("no token", "", [("Sec-Fetch-Site", "same-origin")]),
                    ("another's token", others, [("Sec-Fetch-Site", "same-origin")]),
                    ("a token that is cut", String(token.dropLast()), []),
                    ("cross-site", token, [("Sec-Fetch-Site", "cross-site")]),
                    ("same-site", token, [("Sec-Fetch-Site", "same-site")]),
                    ("typed in", token, [("Sec-Fetch-Site", "none")]),
                    ("another origin", token, [("Sec-Fetch-Site", ""), ("Origin", "https://evil.example")]),
                    ("no origin", token, [("Sec-Fetch-Site", ""), ("Origin", "null")]),
                    ("nothing said", token, [("Sec-Fetch-Site", "")]),
                ] as [(String, String, [(String, String)])] {
                    let answer = try await browser.send(
                        "POST", path, fields.merging(["csrf": given]) { own, _ in own }, headers)
                    #expect(answer.status == 403, "\(path), \(what): \(answer.status)")
                }
                let asText = try await browser.send(
                    "POST", path, fields.merging(["csrf": token]) { own, _ in own }, [("Content-Type", "text/plain")])
                #expect(asText.status == 400, "\(path)")
                // What changes something is not done by GET.
                #expect(
                    [200, 303, 404, 405].contains(try await browser.get("\(path)?csrf=\(token)&confirmed=yes").status))
            }
            #expect(try await pages.rows(after: before).isEmpty)
            #expect(try await browser.get("/").status == 200)
            // An old browser says its origin.
            let old = [("Sec-Fetch-Site", ""), ("Origin", "http://127.0.0.1:\(pages.port)")]
            #expect(try await browser.post("/view", ["zone": "UTC"], old).status == 303)
        }
    }

    @Test(
        "reach the admin API with a session only from the console's own pages, and with their token where something changes"
    )
    func api() async throws {
        try await withPages { pages in
            try await pages.order(1)
            let browser = try await pages.browser(.admin)
            _ = try await browser.get("/")
            let token = try #require(browser.token)
            #expect(try await browser.get("/admin/orders").status == 200)
            for site in ["cross-site", "same-site", "none"] {
                #expect(
                    try await browser.get("/admin/orders?open=true", [("Sec-Fetch-Site", site)]).status == 403,
                    "\(site)")
            }
            #expect(try await browser.get("/admin/orders", [("Sec-Fetch-Site", "")]).status == 403)
            func grant(_ headers: [(String, String)]?) async throws -> Int {
                let json = #"{"tier": "premium", "days": 1, "reason": "x"}"#
                return try await browser.call("/admin/subscriptions/person-1/grant", json, headers).status
            }
            let before = try await pages.place()
            #expect(try await grant([]) == 403)
            #expect(try await grant([("X-CSRF-Token", "x")]) == 403)
            #expect(try await grant([("X-CSRF-Token", token), ("Sec-Fetch-Site", "cross-site")]) == 403)
            #expect(try await pages.rows(after: before).isEmpty)
            #expect(try await grant(nil) == 200)
            #expect(try await pages.rows(after: before).map(\.act) == ["grant"])
            // A token of the staff still stands for itself.
            #expect(try await browser.get("/admin/orders", [("Authorization", "Bearer sht_x")]).status == 401)
        }
    }

    @Test("by staff of one app show nothing of another one's, whatever they name")
    func scope() async throws {
        try await withPages { pages in
            let own = try await pages.order(1)
            let others = try await pages.order(2, of: Shop.other, price: 12_340)
            let admin = try await pages.browser(.admin)
            let made = try await {
                _ = try await admin.get("/orders/\(others)")
                return try await admin.post(
                    "/orders/\(others)/refund-requests", ["type": "full", "reason": "stolen phone"])
            }()
            #expect(made.status == 303, "\(made.body)")
            let request = try #require(made.location)
            let some = try await pages.browser(.admin, of: [Shop.app])
            #expect(try await some.get("/orders/\(own)").status == 200)
            _ = try await some.get("/orders")
            for path in ["/orders/\(others)", request, "/customers/\(Shop.token(2))"] {
                #expect(try await some.get(path).status == 404, "\(path)")
                #expect(try await some.post(path).status == 404, "\(path)")
            }
            for path in [
                "/", "/orders", "/orders?app=\(Shop.other)", "/orders?search=10002", "/orders.csv", "/refund-requests",
                "/refund-requests.csv", "/customers", "/customers.csv", "/audit", "/audit.csv",
                "/figures/gross?split=app",
                "/figures/gross/rows", "/figures/gross/rows.csv",
            ] {
                let page = try await some.get(path)
                #expect(page.status == 200, "\(path): \(page.status)")
                for word in [others, "12.34", "best", "stolen", "\(Shop.token(2))"] {
                    #expect(!page.body.contains(word), "\(path) shows \(word)")
                }
            }
            let before = try await pages.place()
            _ = try await some.get("/orders/\(own)")
            for (path, fields, status) in [
                ("/orders/\(others)/refund-requests", ["type": "full", "reason": "x"], 404),
                ("\(request)/decide", ["what": "approve"], 404),
                ("/customers/\(Shop.token(2))/act", ["what": "grant", "tier": "pro", "days": "1", "reason": "x"], 404),
                ("/customers/\(Shop.token(1))/act", ["what": "grant", "tier": "pro", "days": "1", "reason": "x"], 403),
                (
                    "/customers/\(Shop.token(1))/move",
                    ["purchase": "\(Shop.other)/10002", "to": "person-1", "reason": "x", "confirmed": "yes"], 404
                ),
                ("/staff", ["mail": "new@example.com", "role": "admin", "reason": "x"], 403),
            ] as [(String, [String: String], Int)] {
                #expect(try await some.post(path, fields).status == status, "\(path)")
            }
            let search = try await some.find(others)
            #expect(search.status == 200 && !search.body.contains("12.34"))
            #expect(try await pages.rows(after: before).isEmpty)
        }
    }

    @Test("of roles that may not are refused, and the try is on record")
    func roles() async throws {
        try await withPages { pages in
            let order = try await pages.order(1)
            try await pages.bury()
            try await pages.extend()
            try await pages.deliver()
            let viewer = try await pages.browser(.viewer)
            let page = try await viewer.get("/customers/\(Shop.token(1))")
            #expect(page.status == 200 && !page.body.contains("value=\"grant\"") && !page.body.contains("/act"))
            #expect(!(try await viewer.get("/orders/\(order)").body.contains("/orders/\(order)/refund-requests\"")))
            for (path, fields) in Self.acts(order) where !["/logout", "/view"].contains(path) {
                let answer = try await viewer.post(path, fields)
                #expect(answer.status == 403, "\(path): \(answer.status)")
                expectWhole(answer, path)
            }
            let tries = try await pages.observer.query("select sum(tries)::bigint from storehook.forbidden_tries").one()
            #expect(try tries.decode(0, as: Int64.self) >= 8)
        }
    }
}
