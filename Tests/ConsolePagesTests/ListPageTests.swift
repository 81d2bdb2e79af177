import APIKit
import Base
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// What narrows lists down, and what is kept of it.
@Suite("Lists")
struct ListPageTests {
    private static let names = ["type", "reason", "since", "text"]

    @Test("A line of qualifiers is read as it is written, and says what it does not know")
    func line() throws {
        for (text, values) in [
            ("type:SUBSCRIBED reason:wrong_bundle", ["type": "SUBSCRIBED", "reason": "wrong_bundle"]),
            ("TYPE:x  lost words", ["type": "x", "text": "lost words"]), ("\"a:b c\"", ["text": "a:b c"]),
            ("reason:\"two words\" x", ["reason": "two words", "text": "x"]), ("", [:]), ("type:", [:]),
            (":x", ["text": ":x"]), ("since:2026-01-31T12:00:00Z", ["since": "2026-01-31T12:00:00Z"]),
        ] as [(String, [String: String])] {
            let line = try QualifierLine(text, names: Self.names, free: "text")
            #expect(line.values == values, "\(text): \(line.values)")
            let written = QualifierLine.text(line.values, names: Self.names, free: "text")
            #expect(try QualifierLine(written, names: Self.names, free: "text") == line, "\(written)")
        }
        #expect(throws: APIProblem.self) { try QualifierLine("colour:red", names: Self.names, free: "text") }
        #expect(throws: APIProblem.self) { try QualifierLine("kim", names: ["type"], free: nil) }
    }

    @Test("The line leads to an address with each value by its name, and stands there as it was")
    func narrowed() async throws {
        try await withPages { pages in
            let order = try await pages.order(1)
            for _ in 0..<2 { try await pages.bury() }
            let admin = try await pages.browser(.admin)
            let letters = try await admin.get("/dead-letters?q=reason%3Awrong_bundle+a+message")
            #expect(letters.status == 303 && letters.location == "/dead-letters?reason=wrong_bundle&text=a%20message")
            let page = try await admin.get(letters.location ?? "-")
            expectWhole(page, "narrowed")
            #expect(
                page.body.contains("value=\"reason:wrong_bundle &quot;a message&quot;\""), "\(page.body)")
            #expect(page.body.contains("All 2 letters that match"), "\(page.body)")
            #expect(try await admin.get("/dead-letters?text=elsewhere").body.contains("No letters."))
            let orders = try await admin.get("/orders?q=status%3Acompleted+currency%3AEUR&environment=Sandbox")
            #expect(orders.location == "/orders?currency=EUR&environment=Sandbox&status=completed")
            #expect(try await admin.get("/orders?status=completed&currency=EUR").body.contains(order))
            // What may be a person's stands in no address.
            for line in ["person-1", "account%3Aperson-1", "search%3A10001"] {
                let refused = try await admin.get("/orders?q=\(line)")
                #expect(refused.status == 400, "\(line): \(refused.status)")
                expectWhole(refused, line)
            }
            #expect(try await admin.get("/orders?q=").location == "/orders")
            for place in [
                "/audit", "/refund-requests", "/customers", "/jobs", "/deliveries", "/extensions", "/endpoints",
                "/notes",
                "/consumption-requests", "/due", "/expiring",
            ] {
                let list = try await admin.get(place)
                #expect(list.body.contains("name=\"q\""), "\(place)")
                #expect(list.body.contains("data-fresh=\"\(place)\""), "\(place)")
            }
        }
    }

    @Test("A filter that support keeps stands above the list of all, and is removed for all; viewers keep none")
    func saved() async throws {
        try await withPages { pages in
            let support = try await pages.browser(.support)
            let viewer = try await pages.browser(.viewer)
            #expect(!(try await viewer.get("/orders?currency=EUR").body.contains("action=\"/filters\"")))
            #expect(
                !(try await support.get("/orders").body.contains("action=\"/filters\"")), "nothing is narrowed down")
            let page = try await support.get("/orders?currency=EUR&status=refunded")
            var form = try #require(HTMLJudge(page.body).sent(to: "/filters"))
            form["name"] = "Refunds in <euros>"
            let kept = try await support.post("/filters", form)
            #expect(kept.location == "/orders?currency=EUR&status=refunded", "\(kept.body)")
            let seen = try await viewer.get("/orders")
            expectWhole(seen, "seen")
            #expect(seen.body.contains("Refunds in &lt;euros&gt;"), "\(seen.body)")
            #expect(HTMLJudge(seen.body).links.contains("/orders?currency=EUR&status=refunded"))
            #expect(!(try await viewer.get("/audit").body.contains("euros")))
            let there = try await support.get("/orders?currency=EUR&status=refunded")
            #expect(there.body.contains("aria-current=\"true\">Refunds in"), "\(there.body)")
            let id = try #require(there.body.firstMatch(of: /<option value="(\d+)"[^>]*>Refunds in/)).output.1
            let removed = try await support.post("/filters/remove", ["page": "orders", "filter": String(id)])
            #expect(removed.location == "/orders", "\(removed.body)")
            #expect(!(try await viewer.get("/orders").body.contains("euros")))
            #expect(try await support.post("/filters", ["page": "staff", "name": "x"]).status == 400)
        }
    }

    @Test("JSON folds without a script, and what is too deep or too much for a page is left whole or out")
    func tree() throws {
        var deep = JSONValue.integer(1)
        for _ in 0..<40 { deep = .array([deep]) }
        let many = JSONValue.array((0..<20_000).map { JSONValue.integer($0) })
        let templates = try Templates()
        let layout = PageLayout(templates: templates, files: StaticFiles(templates.files), isByLogin: true)
        let page = String(
            decoding: layout.bytes(
                PageContent(
                    "x",
                    [
                        .tree(
                            JSONTree(
                                title: "y",
                                value: .object([.init("deep", deep), .init("many", many), .init("last", .null)])))
                    ]), for: nil, token: nil, in: nil, at: Place(), try WritingTests.speaker(), nil,
                now: Timestamp(millisecondsSince1970: 0)), as: UTF8.self)
        #expect(HTMLJudge(page).faults.isEmpty, "\(HTMLJudge(page).faults)")
        #expect(page.contains("<summary><code>&quot;many&quot;: [20000]</code></summary>"))
        #expect(page.contains("<code>4000</code>") && !page.contains("<code>6000</code>") && page.contains("…"))
        #expect(page.contains("<details open><summary><code>&quot;deep&quot;: [1]</code></summary>"))
    }
}

/// What happened to a purchase, and what an account was at each instant.
@Suite("Stories")
struct StoryPageTests {
    @Test(
        "A customer's purchase leads to its story, and that to each notification; the instants of the account are a choice"
    )
    func story() async throws {
        try await withPages { pages in
            try await pages.order(1)
            let viewer = try await pages.browser(.viewer)
            let customer = try await viewer.get("/customers/\(Shop.token(1))")
            expectWhole(customer, "customer")
            let links = HTMLJudge(customer.body).links
            let place = try #require(links.first { $0.hasPrefix("/purchases/10001/story") })
            let story = try await viewer.get(place)
            expectWhole(story, place)
            #expect(story.body.contains("SUBSCRIBED") && story.body.contains("Active"), "\(story.body)")
            let notification = try #require(HTMLJudge(story.body).links.first { $0.hasPrefix("/notifications/") })
            let page = try await viewer.get(notification)
            expectWhole(page, notification)
            #expect(page.body.contains("its bytes are gone") && page.body.contains("10001"), "\(page.body)")
            // Instants by links and by a choice, which need no script.
            let step = try #require(links.first { $0.hasPrefix("/customers/\(Shop.token(1))?at=") })
            let then = try await viewer.get(step)
            expectWhole(then, step)
            #expect(then.status == 200 && then.body.contains("<select id=\"b") && customer.body.contains("name=\"at\""))
            #expect(!then.body.contains("type=\"hidden\" name=\"at\" value=\"\"") && then.body.contains("Show now"))
            #expect(try await viewer.get("/purchases/9/story").status == 404)
            #expect(try await viewer.get("/notifications/x").status == 404)
        }
    }
}
