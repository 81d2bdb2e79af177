import APIKit
import AppStorePayloads
import Base
import EvidenceStore
import Figures
import Foundation
import HTTPTypes
import NIOHTTP1
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// All pages to look at.
@Suite("Pages")
struct PageTests {
    /// The page that answers a path: one without braces before one with.
    static func page(of path: Substring) -> Page? {
        let parts = path.split(separator: "/")
        let fitting = PageSite.pages.filter { page in
            let wanted = page.path.split(separator: "/")
            return page.method == .get && wanted.count == parts.count
                && zip(wanted, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return fitting.first { !$0.path.contains("{") } ?? fitting.first
    }

    @Test("are reached by links, whole, and lead nowhere that is not there; their foot names calls that answer")
    func links() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.admin)
            _ = try await pages.fill(by: browser)
            try await pages.order(2, of: Shop.other)
            try await pages.fillService(by: browser)
            // Only a form leads to what a search has found.
            let found = try await browser.post("/search", ["text": "ORD-"])
            var open = ["/", try #require(found.location)]
            var seen = Set(open)
            var visits: [String: Int] = [:]
            var calls: Set<String> = []
            while !open.isEmpty {
                let path = open.removeFirst()
                let page = try #require(Self.page(of: path.prefix { $0 != "?" }), "\(path) is no page")
                // All of a kind are alike.
                guard visits[page.name, default: 0] < 4 else { continue }
                visits[page.name, default: 0] += 1
                let answer = try await browser.get(path)
                #expect(answer.status == 200, "\(path): \(answer.status)")
                guard answer.headers.first(name: "Content-Type")?.hasPrefix("text/html") == true else {
                    #expect(
                        answer.headers.first(name: "Content-Disposition")?.hasPrefix("attachment") == true, "\(path)")
                    continue
                }
                expectWhole(answer, path)
                for match in answer.body.matches(of: /<li><code>GET (\/admin\/[^<]*)<\/code>/) {
                    calls.insert(String(match.output.1).replacing("&amp;", with: "&"))
                }
                for link in HTMLJudge(answer.body).links where !link.contains("environment=Sandbox") {
                    if seen.insert(link).inserted { open.append(link) }
                }
            }
            for page in PageSite.pages where page.method == .get {
                #expect(visits[page.name] != nil, "\(page.path) is reached by no link")
            }
            #expect(calls.count > 10)
            for call in calls { #expect(try await browser.get(call).status == 200, "\(call)") }
        }
    }

    @Test("are whole where there is nothing yet, for each role, in each language and environment")
    func empty() async throws {
        let places: [String] =
            Section.allCases.map(\.place.text) + ["/figures/users", "/figures/usage"]
            + Figure.allCases.flatMap { ["/figures/\($0.rawValue)", "/figures/\($0.rawValue)/rows"] }
        try await withPages { pages in
            for role in StaffRole.allCases {
                let browser = try await pages.browser(role)
                let languages: [Language] = role == .viewer ? Language.allCases : [.chinese]
                let shown = role == .admin ? places : Section.allCases.map(\.place.text)
                for language in languages {
                    _ = try await browser.get("/")
                    let view = ["language": language.rawValue, "zone": "Asia/Singapore", "place": "/orders?tier=pro"]
                    #expect(try await browser.post("/view", view).location == "/orders?tier=pro")
                    for place in shown {
                        for environment in ["Production", "Sandbox"] {
                            let answer = try await browser.get("\(place)?environment=\(environment)")
                            #expect(answer.status == 200, "\(role) \(place): \(answer.body)")
                            expectWhole(answer, place)
                            #expect(answer.body.contains("<html lang=\"\(language.rawValue)\">"), "\(place)")
                            #expect(answer.headers.first(name: "Content-Language") == language.rawValue)
                            #expect(answer.body.contains("Asia/Singapore"), "\(place)")
                            #expect(answer.body.contains("class=\"sandbox\"") == (environment == "Sandbox"))
                        }
                    }
                }
            }
            // Every other page lists the environments, and stays in the one that is shown.
            let browser = try await pages.browser(.viewer, mail: "kim@example.com")
            let orders = HTMLJudge(try await browser.get("/orders?environment=Sandbox").body)
            #expect(orders.links.contains("/customers?environment=Sandbox"), "\(orders.links)")
            #expect(orders.links.contains("/orders?environment=Production"), "\(orders.links)")
        }
    }

    @Test("are written in the browser's language until another one is chosen, and times on the chosen clock")
    func languages() async throws {
        try await withPages { pages in
            let order = try await pages.order(1)
            let browser = try await pages.browser(.viewer)
            let chinese = try await browser.get("/orders", [("Accept-Language", "zh-CN,zh;q=0.9")])
            #expect(chinese.body.contains("<h1>订单</h1>") && chinese.body.contains("已完成"), "\(chinese.body)")
            let page = try await browser.get("/orders/\(order)")
            #expect(page.body.contains("Completed") && page.body.contains("€9.99"), "\(page.body)")
            let instant = try #require(page.body.firstMatch(of: /<time datetime="([^"]+)" title="[^"]+">([^<]+)</))
            let at = try #require(Timestamp(iso8601: instant.output.1))
            #expect(instant.output.2 == ZonedTime.text(at, in: PageView.utc))
            _ = try await browser.post("/view", ["language": "en", "zone": "Asia/Singapore"])
            let there = try await browser.get("/orders/\(order)", [("Accept-Language", "zh-CN")])
            let singapore = try #require(ZonedTime.zone("Asia/Singapore"))
            #expect(there.body.contains(ZonedTime.text(at, in: singapore)) && there.body.contains("Completed"))
            // What is no zone changes nothing.
            _ = try await browser.post("/view", ["language": "xx", "zone": "No/Where"])
            #expect(try await browser.get("/orders").body.contains("Asia/Singapore"))
        }
    }

    @Test("show the numbers that the admin API answers")
    func numbers() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.admin)
            try await pages.order(2, of: Shop.other, price: 1_234_560)
            _ = try await pages.fill(by: browser)
            for figure in ["gross", "net", "orders", "active", "mrr"] {
                let answer = try await browser.get("/admin/figures/\(figure)")
                let object = try #require(try JSONDocument(Array(answer.body.utf8)).object)
                let page = try await browser.get("/figures/\(figure)")
                let units = object.objects("columns").map { $0.string("unit") ?? "" }
                #expect(!object.objects("cells").isEmpty, "\(figure): \(answer.body)")
                for cell in object.objects("cells") {
                    #expect(page.body.contains(cell.string("period") ?? "-"))
                    for (unit, value) in zip(units, cell["values"]?.elements ?? []) {
                        guard let value = value.integer else { continue }
                        let text =
                            switch unit {
                            case "money": MoneyText.text(value, cell.string("currency") ?? "", in: .english)
                            default: "\(value)"
                            }
                        #expect(page.body.contains(">\(text)<"), "\(figure): \(text)")
                    }
                }
                // A picture, with its numbers in words.
                if figure == "gross" { #expect(page.body.contains("<desc") && page.body.contains(": €1,244.55")) }
            }
            let overview = try await browser.get("/")
            #expect(overview.body.contains("€1,244.55") && overview.body.contains("RF-001"), "\(overview.body)")
        }
    }

    @Test("show money in one of several currencies, the one that was chosen, and all of them by currency")
    func currencies() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.viewer)
            try await pages.order(1, price: 1_110)
            try await pages.order(2, price: 2_220, in: "USD")
            try await pages.settle()
            let (euros, dollars) = ("€1.11<", "$2.22<")
            for (query, shown) in [
                ("", [euros]), ("?currency=USD", [dollars]), ("?currency=EUR", [euros]), ("?currency=JPY", [euros]),
                ("?currency=", [euros]), ("?split=app&currency=USD", [dollars]),
                ("?split=currency&currency=USD", [euros, dollars]),
            ] {
                let page = try await browser.get("/figures/gross\(query)")
                for text in [euros, dollars] {
                    #expect(page.body.contains(text) == shown.contains(text), "\(query), \(text): \(page.body)")
                }
                let isOne = shown.count == 1
                for text in ["Show currency", "One of 2 currencies"] {
                    #expect(page.body.contains(text) == isOne, "\(query): \(text)")
                }
                // One picture, of what the table shows.
                #expect(page.body.matches(of: /<svg/).count == (query.contains("split") ? 0 : 1), "\(query)")
            }
            // The heat map, and a figure without money.
            for query in ["?currency=USD", "?split=app&currency=USD"] {
                let page = try await browser.get("/figures/lifetime_value\(query)")
                #expect(page.body.contains(">USD</td>") && !page.body.contains(">EUR</td>"), "\(query): \(page.body)")
            }
            #expect(try await !browser.get("/figures/orders").body.contains("Show currency"))
            let file = try await browser.get("/figures/gross/table.csv?currency=USD")
            #expect(file.body.contains("EUR") && file.body.contains("USD"))
        }
    }

    @Test("The first page has the numbers of the pipeline, and a stream that a session opens and that ends with it")
    func pipeline() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.viewer)
            let silent = try await browser.get("/")
            #expect(silent.body.contains("No worker has written down"), "\(silent.body)")
            var done = WorkTally.Count()
            done.recorded = 1_234
            #expect(try await OverviewStore(pages.observer).note(done))
            let page = try await browser.get("/")
            expectWhole(page, "/")
            #expect(page.body.contains("data-stream=\"/admin/overview/stream\""), "\(page.body)")
            #expect(!page.body.contains("more than 10,000"), "without endpoints nothing waits for one: \(page.body)")
            #expect(page.body.contains("<span data-live=\"work.applied\">1,234</span>"), "\(page.body)")
            #expect(page.body.contains("<span data-live=\"work.appliedPerSecond\">"), "\(page.body)")
            #expect(page.body.contains("<figcaption>Received each minute of the last hour</figcaption>"))
            let socket = try await browser.raw("/admin/overview/stream") { $0 }
            let sent = try await onThread { try socket.receive(until: "event: overview") }
            #expect(sent.hasPrefix("HTTP/1.1 200"), "\(sent)")
            _ = try await browser.post("/logout")
            try await pages.sessions.read()
            _ = try await onThread { try socket.receive(until: "0\r\n\r\n") }
        }
    }

    @Test("say what they cannot show: another environment, no instant, a past that they do not have")
    func strange() async throws {
        try await withPages { pages in
            try await pages.order(1)
            let browser = try await pages.browser(.admin)
            for (path, status) in [
                ("/orders?environment=Xcode", 400), ("/orders?at=yesterday", 400), ("/orders?status=x", 400),
                ("/orders?a=%00", 400), ("/orders/ORD-20260101-9999", 404),
                ("/orders/%3Cscript%3E", 404), ("/orders/a%2Fb", 404), ("/orders/%00", 404),
                ("/refund-requests/RF-999", 404), ("/customers/\(Shop.token(9))", 404), ("/customers/x", 404),
                ("/figures/none", 404), ("/nothing", 404), ("/orders/x/y/z", 404), ("/audit?act=%27--", 200),
                ("/orders/\(String(repeating: "a", count: 3000))", 404), ("/orders?after=x", 400),
            ] {
                let answer = try await browser.get(path)
                #expect(answer.status == status, "\(path): \(answer.body)")
                expectWhole(answer, path)
                #expect(!answer.body.contains("<script>"))
            }
            // The client would not send this one as it is.
            let answer = try await browser.raw("/orders/%ff", [("Connection", "close")]) { $0.receiveToEnd() }
            #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(answer)")
            // The page for what is not there has links for a visitor who is logged in, and for no other.
            let missing = HTMLJudge(try await browser.get("/nothing?environment=Sandbox").body)
            #expect(missing.links.contains("/orders?environment=Sandbox"), "\(missing.links)")
            let unknown = HTMLJudge(try await Browser(pages).get("/nothing").body)
            #expect(!unknown.links.contains("/orders"), "\(unknown.links)")
            #expect(try await browser.send("POST", "/figures", [:]).status == 405)
            #expect(try await browser.send("DELETE", "/orders", nil).headers.first(name: "Allow") != nil)
            #expect(try await browser.send("HEAD", "/orders", nil).status == 200)
            let problem = try await browser.get("/admin/nothing")
            let type = problem.headers.first(name: "Content-Type")
            #expect(type?.hasPrefix("application/problem+json") == true, "\(problem.body)")
            for path in ["/orders", "/customers/\(Shop.token(1))"] {
                let past = try await browser.get("\(path)?at=2020-01-01T00:00:00Z")
                #expect(past.status == 200 && past.body.contains("2020-01-01 00:00:00"), "\(path): \(past.body)")
                expectWhole(past, path)
                let judge = HTMLJudge(past.body)
                #expect(judge.links.contains(path), "\(judge.links)")
                #expect(judge.links.contains { $0.hasPrefix("/audit?at=2020-01-01") }, "\(judge.links)")
                #expect(!past.body.contains("name=\"what\" value=\"grant\""))
            }
        }
    }

    @Test("A customer's page has what was paid in all, what the account may use, and what it was at an instant")
    func customer() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            let (order, _) = try await pages.fill(by: admin)
            let customer = "/customers/\(Shop.token(1))"
            let now = try await admin.get(customer)
            expectWhole(now, customer)
            for part in ["Paid in all", "€9.99", "Tiers that it may use", "premium", order, "Latest events"] {
                #expect(now.body.contains(part), "\(part): \(now.body)")
            }
            #expect(!now.body.contains(Shop.name(1)))
            #expect(try await admin.post(customer).body.contains(Shop.name(1)))
            let before = try await admin.get("\(customer)?at=2020-01-01T00:00:00Z")
            #expect(before.status == 200 && !before.body.contains(order), "\(before.body)")
            #expect(before.body.contains(">Free<") && !before.body.contains("value=\"grant\""), "\(before.body)")
            #expect(try await admin.get("\(customer)?environment=Sandbox").body.contains("Nothing is known"))
        }
    }

    @Test("have a style and a script of their own, which browsers keep until they change")
    func files() async throws {
        try await withPages { pages in
            let browser = Browser(pages)
            let page = try await browser.get("/login")
            let version = try #require(page.body.firstMatch(of: /console\.css\?v=([0-9a-f]+)"/)).output.1
            for (name, type) in [
                ("console.css", "text/css; charset=utf-8"), ("console.js", "text/javascript; charset=utf-8"),
                ("icon.svg", "image/svg+xml"),
            ] {
                #expect(page.body.contains("/\(name)?v=\(version)\""), "\(name)")
                let file = try await browser.get("/\(name)?v=\(version)")
                #expect(file.status == 200 && !file.body.isEmpty && file.headers.first(name: "Content-Type") == type)
                #expect(file.headers.first(name: "Cache-Control")?.contains("immutable") == true, "\(name)")
                #expect(file.headers.first(name: "X-Content-Type-Options") == "nosniff")
                let other = try await browser.get("/\(name)?v=old")
                #expect(other.headers.first(name: "Cache-Control") == "no-cache" && other.body == file.body)
            }
        }
    }
}
