import APIKit
import AuditStore
import Base
import ConsolePages
import HTTPKit
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

/// People that a proxy in front has logged in, and paths behind one.
@Suite("Behind a proxy")
struct ProxyTests {
    private static func headers(_ user: String, _ groups: String) -> [(String, String)] {
        [("X-Auth-Request-User", user), ("X-Auth-Request-Groups", groups)]
    }

    private func withProxy(
        of block: String = "127.0.0.0/8", _ body: (RunningPages) async throws -> Void
    ) async throws {
        let groups = try StaffGroups([
            "ops=admin", "desk=support", "one=viewer:\(Shop.app)", "two=viewer:\(Shop.other)",
        ])
        let proxies = TrustedProxies([try #require(AddressBlock(block))])
        try await withPages(way: .proxy(proxies, groups), isSecure: true, body)
    }

    @Test("A person is who the proxy says, with the role of its groups, and the audit names both")
    func people() async throws {
        try await withProxy { pages in
            try await pages.order(1)
            let browser = Browser(pages)
            let kim = Self.headers("kim", "everyone, ops")
            let page = try await browser.get("/customers/\(Shop.token(1))", kim)
            #expect(page.status == 200 && page.body.contains("kim · Admin"), "\(page.body)")
            expectWhole(page, "customer")
            // The proxy logs in and out.
            #expect(!page.body.contains(">Log out<"))
            #expect(try await browser.get("/login", kim).location == "/")
            let before = try await pages.place()
            let act = [
                "what": "grant", "tier": "premium", "days": "3", "reason": "an outage", "confirmed": "yes",
            ]
            let done = try await browser.post("/customers/\(Shop.token(1))/act", act, kim)
            #expect(done.status == 303, "\(done.body)")
            let row = try #require(try await pages.rows(after: before).first)
            #expect(row.act == "grant" && row.actor == "proxy:kim" && row.role == "admin" && row.isProven, "\(row)")
            // With the groups of today.
            let less = Self.headers("kim", "desk")
            let more = try await browser.post(
                "/customers/\(Shop.token(1))/act", act.merging(["days": "100"]) { _, new in new }, less)
            #expect(more.status == 403, "\(more.status)")
            let second = try await browser.post("/customers/\(Shop.token(1))/act", act, less)
            #expect(second.status == 303)
            #expect(try await pages.rows(after: before).map(\.role) == ["admin", "support"])
            let tries = try await pages.observer.query("select count(*) from storehook.proxied_tries").one()
            #expect(try tries.decode(0) == Int64(1))
        }
    }

    @Test("Several groups of one role are of all their apps, and nobody is shown more")
    func scope() async throws {
        try await withProxy { pages in
            let own = try await pages.order(1)
            let others = try await pages.order(2, of: Shop.other)
            let one = Self.headers("sam", "one")
            #expect(try await Browser(pages).get("/orders/\(own)", one).status == 200)
            #expect(try await Browser(pages).get("/orders/\(others)", one).status == 404)
            let both = Self.headers("sam", "one,two")
            #expect(try await Browser(pages).get("/orders/\(others)", both).status == 200)
        }
    }

    @Test("Nobody else is let in: not without the headers, nor with several people, nor in groups that have no role")
    func refused() async throws {
        try await withProxy { pages in
            for headers in [
                [], Self.headers("kim", ""), Self.headers("kim", "everyone"), Self.headers("kim", "OPS"),
                [("X-Auth-Request-Groups", "ops")], Self.headers(" ", "ops"),
                Self.headers(String(repeating: "k", count: 191), "ops"),
                [("X-Auth-Request-Email", "kim@example.com"), ("X-Auth-Request-Groups", "ops")],
            ] {
                let browser = Browser(pages)
                let answer = try await browser.get("/orders", headers)
                #expect(answer.status == 403, "\(headers): \(answer.status)")
                expectWhole(answer, "\(headers)")
                #expect(!answer.body.contains("name=\"password\""))
            }
            // A form of a page that another browser has.
            let browser = Browser(pages)
            _ = try await browser.get("/", Self.headers("kim", "ops"))
            let stranger = Browser(pages)
            let forged = try await stranger.send(
                "POST", "/view", ["csrf": browser.token ?? "", "zone": "UTC"], Self.headers("kim", "ops"))
            #expect(forged.status == 403, "\(forged.status)")
            #expect(try await browser.post("/view", ["zone": "UTC"], Self.headers("kim", "ops")).status == 303)
        }
    }

    @Test("The headers count from the proxy's addresses alone")
    func elsewhere() async throws {
        try await withProxy(of: "192.0.2.0/24") { pages in
            for headers in [[], Self.headers("kim", "ops"), Self.headers("", "ops")] {
                let answer = try await Browser(pages).get("/orders", headers)
                #expect(answer.status == 403 && !answer.body.contains("kim"), "\(headers): \(answer.body)")
                #expect([401, 403].contains(try await Browser(pages).get("/admin/orders", headers).status))
            }
        }
    }

    @Test("Where people log in here, such headers of anybody's count for nothing")
    func unasked() async throws {
        try await withPages(isSecure: true) { pages in
            let (stranger, headers) = (Browser(pages), Self.headers("kim", "ops"))
            let page = try await stranger.get("/orders", headers)
            let call = try await stranger.get("/admin/orders", headers)
            #expect(page.status == 303 && call.status == 401)
        }
    }

    @Test("Under a path of its own, every link, form and file begins with it, whether the proxy passes it on or not")
    func prefix() async throws {
        try await withPages(isSecure: true, adjusting: { $0.prefix = "/desk" }) { pages in
            try await pages.order(1)
            try await pages.member(.admin, mail: "kim@example.com")
            let browser = Browser(pages)
            #expect(try await browser.get("/desk/orders").location == "/desk/login?next=%2Forders")
            #expect(try await browser.get("/desk").location == "/desk/login")
            _ = try await browser.get("/desk/login")
            let done = try await browser.post(
                "/desk/login", ["mail": "kim@example.com", "password": RunningPages.password, "next": "/orders"])
            #expect(done.status == 303 && done.location == "/desk/orders", "\(done.location ?? done.body)")
            for path in ["/desk", "/", "/desk/orders", "/orders", "/desk/audit", "/desk/nothing"] {
                let page = try await browser.get(path)
                #expect(page.status == (path.hasSuffix("nothing") ? 404 : 200), "\(path): \(page.status)")
                expectWhole(page, path)
                for tag in HTMLJudge(page.body).tags {
                    for name in ["href", "src", "action"] {
                        guard let place = tag.attributes[name], place.hasPrefix("/") else { continue }
                        #expect(place == "/desk" || place.hasPrefix("/desk/"), "\(path): \(place)")
                    }
                }
            }
            #expect(try await browser.get("/desk/console.css").status == 200)
            #expect(try await browser.get("/desk/admin/orders").status == 200)
            let found = try await browser.post("/desk/search", ["text": "10001"])
            #expect(found.location?.hasPrefix("/desk/orders/ORD-") == true, "\(found.location ?? found.body)")
            #expect(try await browser.post("/desk/logout").location == "/desk/login")
        }
    }
}
