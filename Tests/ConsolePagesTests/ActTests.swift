import AppStorePayloads
import AuditStore
import Base
import NIOHTTP1
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// What staff does by the pages' forms.
@Suite("Acts")
struct ActTests {
    private static let customer = "/customers/\(Shop.token(1))"

    @Test("say first what will change and do nothing; confirmed they are done once, however often the form is sent")
    func grant() async throws {
        try await withPages { pages in
            try await pages.order(1)
            let browser = try await pages.browser(.admin)
            _ = try await browser.get(Self.customer)
            let before = try await pages.place()
            let review = try await browser.post(
                "\(Self.customer)/act",
                ["what": "grant", "tier": "premium", "days": "30", "reasonKind": "apology", "reason": "an outage"])
            #expect(review.status == 200, "\(review.body)")
            expectWhole(review, "review")
            #expect(review.body.contains(">pro<") && review.body.contains(">premium<"), "\(review.body)")
            #expect(review.body.contains("apology: an outage"))
            #expect(try await pages.rows(after: before).isEmpty)
            let fields = try #require(HTMLJudge(review.body).sent(to: "\(Self.customer)/act"))
            #expect(fields["confirmed"] == "yes" && fields["days"] == "30" && fields["once"]?.isEmpty == false)
            for _ in 0..<2 {
                let done = try await browser.post("\(Self.customer)/act", fields)
                #expect(done.status == 303 && done.location == "\(Self.customer)?done=grant", "\(done.body)")
            }
            let rows = try await pages.rows(after: before)
            #expect(rows.map(\.act) == ["grant"] && rows.first?.role == "admin", "\(rows)")
            #expect(rows.first?.actor.hasPrefix("staff:") == true)
            #expect(rows.first?.text.members["why"] == "apology: an outage")
            let page = try await browser.get("\(Self.customer)?done=grant")
            expectWhole(page, "customer")
            #expect(page.body.contains("The tier is granted.") && page.body.contains("Granted by staff"))
            // Two at once, of one page.
            let extending = try await browser.post(
                "\(Self.customer)/act", ["what": "extend", "days": "3", "reason": "an outage"])
            let second = try #require(HTMLJudge(extending.body).sent(to: "\(Self.customer)/act"))
            let place = try await pages.place()
            async let one = browser.post("\(Self.customer)/act", second)
            async let other = browser.post("\(Self.customer)/act", second)
            let statuses = try await [one.status, other.status]
            #expect(statuses.contains(303) && statuses.allSatisfy { [303, 409].contains($0) }, "\(statuses)")
            #expect(try await pages.rows(after: place).map(\.act) == ["extend"])
        }
    }

    @Test("that cannot be done are said to be so beside the form, which has again what was typed")
    func mistakes() async throws {
        try await withPages { pages in
            try await pages.order(1)
            let support = try await pages.browser(.support)
            _ = try await support.get(Self.customer)
            let before = try await pages.place()
            for (fields, status) in [
                (["what": "grant", "tier": "premium", "days": "30"], 400),
                (["what": "grant", "tier": "premium", "days": "30", "reason": "   "], 400),
                (["what": "grant", "tier": "premium", "days": "many", "reason": "typed before"], 400),
                (["what": "grant", "tier": "premium", "days": "0", "reason": "typed before"], 400),
                (["what": "grant", "tier": "premium", "days": "91", "reason": "typed before"], 403),
                (["what": "revoke", "reason": "typed before"], 403),
                (["what": "nothing", "reason": "typed before"], 400),
            ] {
                for confirmed in ["", "yes"] {
                    let answer = try await support.post(
                        "\(Self.customer)/act", fields.merging(["confirmed": confirmed]) { own, _ in own })
                    #expect(answer.status == status, "\(fields): \(answer.status)")
                    expectWhole(answer, "\(fields)")
                    #expect(answer.body.contains("role=\"alert\""))
                    if fields["reason"] == "typed before" { #expect(answer.body.contains("value=\"typed before\"")) }
                }
            }
            #expect(try await pages.rows(after: before).isEmpty)
        }
    }

    @Test("move a purchase after both sides were shown, and leads to the new owner")
    func move() async throws {
        try await withPages { pages in
            try await pages.order(1)
            let browser = try await pages.browser(.admin)
            _ = try await browser.get(Self.customer)
            let before = try await pages.place()
            let review = try await browser.post(
                "\(Self.customer)/move",
                ["purchase": "\(Shop.app)/10001", "to": Shop.name(2), "reasonKind": "", "reason": "wrong account"])
            #expect(review.status == 200 && review.body.contains("Nothing is known of the new owner yet."))
            // What both are, and what they would be.
            for part in ["Gives it up", "Receives it", "Before", "After", ">pro<", ">free<"] {
                #expect(review.body.contains(part), "\(part): \(review.body)")
            }
            expectWhole(review, "review")
            #expect(try await pages.rows(after: before).isEmpty)
            let fields = try #require(HTMLJudge(review.body).sent(to: "\(Self.customer)/move"))
            let done = try await browser.post("\(Self.customer)/move", fields)
            #expect(done.status == 303 && done.location == "/customers/\(Shop.token(2))?done=move", "\(done.body)")
            #expect(try await pages.rows(after: before).map(\.act) == ["move"])
            let page = try await browser.get("/customers/\(Shop.token(2))")
            #expect(page.body.contains("10001") && page.body.contains("moved by staff"), "\(page.body)")
        }
    }

    @Test("lead a request for a refund from the first word to the last, each as far as the role may go")
    func refund() async throws {
        try await withPages { pages in
            let order = try await pages.order(1)
            let support = try await pages.browser(.support)
            let admin = try await pages.browser(.admin)
            let before = try await pages.place()
            _ = try await support.get("/orders/\(order)")
            for amount in ["4,5", "-1", "1000", ""] {
                let refused = try await support.post(
                    "/orders/\(order)/refund-requests",
                    ["type": "partial", "amount": amount, "reason": "half was down"])
                #expect((400..<500).contains(refused.status), "\(amount): \(refused.status)")
                expectWhole(refused, amount)
            }
            let asked = try await support.post(
                "/orders/\(order)/refund-requests", ["type": "partial", "amount": "4", "reason": "half was down"])
            #expect(asked.status == 303 && asked.location == "/refund-requests/RF-001", "\(asked.body)")
            let path = "/refund-requests/RF-001"
            let shown = try await support.get(path)
            #expect(shown.body.contains("€4.00") && !shown.body.contains("half was down"))
            #expect(shown.body.contains(#"value="cancel""#) && !shown.body.contains(#"value="approve""#))
            #expect(try await support.post("\(path)/decide", ["what": "approve"]).status == 403)
            let open = try await admin.get(path)
            #expect(open.body.contains(#"value="approve""#) && open.body.contains(#"value="reject""#))
            #expect(try await admin.post("\(path)/decide", ["what": "record"]).status >= 400)
            let approved = try await admin.post("\(path)/decide", ["what": "approve", "note": "agreed"])
            #expect(approved.status == 303 && approved.location?.hasPrefix("\(path)?") == true, "\(approved.body)")
            let late = try await admin.post("\(path)/decide", ["what": "reject", "note": "no"])
            #expect(late.status == 409, "\(late.body)")
            expectWhole(late, "too late")
            // At half past two on the clock of who records it.
            _ = try await admin.post("/view", ["zone": "Asia/Kolkata"])
            let recorded = try await admin.post(
                "\(path)/decide",
                ["what": "record", "reference": "bank 7", "amount": "4", "at": "2026-01-31T14:30"])
            #expect(recorded.status == 303 && recorded.location == "\(path)?done=record", "\(recorded.body)")
            let answer = try await admin.get("/admin\(path)")
            let object = try #require(try JSONDocument(Array(answer.body.utf8)).object)
            #expect(object.string("state") == "processed" && object.integer("refundedElsewhere") == 4_000)
            #expect(object.string("refundedElsewhereAt")?.hasPrefix("2026-01-31T09:00:00") == true, "\(answer.body)")
            let page = try await admin.get("\(path)?done=record")
            expectWhole(page, "recorded")
            #expect(page.body.contains("2026-01-31 14:30:00") && !page.body.contains("/decide"))
            #expect(
                try await pages.rows(after: before).map(\.act) == [
                    "create_refund_request", "approve_refund_request", "record_refund",
                ])
        }
    }

    @Test("change the staff, and show a new token once")
    func staff() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            _ = try await admin.get("/staff")
            let added = try await admin.post(
                "/staff", ["mail": "new@example.com", "role": "viewer", "apps": " \(Shop.app) ", "reason": "joined"])
            #expect(added.status == 303 && added.location == "/staff?done=add", "\(added.body)")
            let page = try await admin.get("/staff?done=add")
            expectWhole(page, "staff")
            #expect(page.body.contains("new@example.com") && page.body.contains(Shop.app))
            let member = try #require(page.body.firstMatch(of: /<option value="(\d+)"[^>]*>new@example\.com</)).output.1
            let made = try await admin.post(
                "/staff/tokens", ["member": String(member), "days": "3", "reason": "for a script"])
            expectWhole(made, "token")
            let token = try #require(made.body.firstMatch(of: /sht_[A-Za-z0-9_-]+/)?.output)
            #expect(made.status == 200, "\(made.body)")
            #expect(!(try await admin.get("/staff").body.contains(token)))
            let removed = try await admin.post("/staff/remove", ["member": String(member), "reason": "left"])
            #expect(removed.status == 303, "\(removed.body)")
            #expect(!(try await admin.get("/staff").body.contains("new@example.com")))
        }
    }
}

/// What shows personal texts, and what finds people.
@Suite("Personal texts")
struct PersonalPageTests {
    @Test(
        "Pages shorten them; a form opens them, for support and up, and each time is on record before anything is shown"
    )
    func opening() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            let (order, request) = try await pages.fill(by: admin)
            let customer = "/customers/\(Shop.token(1))"
            let viewer = try await pages.browser(.viewer)
            let support = try await pages.browser(.support)
            for (path, text) in [
                ("/orders", "person-1"), ("/orders/\(order)", "person-1"), ("/customers", "person-1"),
                (customer, "person-1"), ("/audit", "person-1"), (request, "her card was stolen"),
                ("/refund-requests", "her card was stolen"), ("/audit", "her card was stolen"),
            ] {
                let before = try await pages.place()
                for browser in [viewer, support] {
                    for plain in [path, "\(path)?open=true"] {
                        let page = try await browser.get(plain)
                        #expect(page.status == 200 && !page.body.contains(text), "\(plain)")
                    }
                }
                #expect(try await viewer.post(path).status == 403, "\(path)")
                #expect(try await pages.rows(after: before).isEmpty, "\(path)")
                let opened = try await support.post(path)
                #expect(opened.status == 200 && opened.body.contains(text), "\(path): \(opened.body)")
                expectWhole(opened, path)
                let rows = try await pages.rows(after: before)
                #expect(rows.map(\.act) == ["open_personal_text"], "\(path): \(rows)")
                #expect(rows.first?.role == "support")
            }
            for path in ["/orders.csv", "/customers.csv", "/audit.csv", "/refund-requests.csv"] {
                let file = try await support.get(path)
                #expect(file.headers.first(name: "Content-Type")?.hasPrefix("text/csv") == true, "\(path)")
                #expect(!file.body.contains("person-1") && !file.body.contains("stolen"), "\(path)")
                #expect(file.headers.first(name: "Cache-Control") == "no-store")
            }
        }
    }

    @Test("What is searched for stands in no address: each thing that is found has one of its own")
    func search() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            let (order, request) = try await pages.fill(by: admin)
            let customer = "/customers/\(Shop.token(1))"
            for (text, place) in [
                (order, "/orders/\(order)"), (" \(order.lowercased()) ", "/orders/\(order)"), ("rf-001", request),
                (Shop.name(1), customer), ("token:\(Shop.token(1))", customer), ("\(Shop.token(1))", customer),
                ("10001", "/orders/\(order)"),
            ] {
                let found = try await admin.post("/search", ["text": text])
                #expect(found.status == 303, "\(text): \(found.body)")
                let location = found.location ?? ""
                #expect(location.prefix { $0 != "?" } == place && !location.contains("person"), "\(text): \(location)")
                #expect(try await admin.get(location).status == 200, "\(location)")
            }
            // In the other environment it says where it is.
            let there = try await admin.post("/search?environment=Sandbox", ["text": "10001"])
            let elsewhere = try await admin.get(there.location ?? "-")
            expectWhole(elsewhere, "elsewhere")
            #expect(elsewhere.body.contains("It is in Production alone."), "\(elsewhere.body)")
            #expect(
                HTMLJudge(elsewhere.body).links.contains("/orders/\(order)?environment=Production"),
                "\(HTMLJudge(elsewhere.body).links)")
            for text in ["no such thing", String(repeating: "x", count: 1000), "ORD-19990101-0001", "' or 1=1 --", "%"]
            {
                let nothing = try await admin.find(text)
                expectWhole(nothing, text)
                #expect(
                    nothing.status == 200 && nothing.body.contains("Nothing was found."), "\(text): \(nothing.status)")
            }
            #expect(try await admin.post("/search", ["text": "  "]).location == "/")
            // Several things have the place of the search, which is its member's alone.
            let second = try await pages.order(2, of: Shop.other)
            let several = try await admin.post("/search", ["text": "ORD-"])
            let place = try #require(several.location)
            #expect(place.wholeMatch(of: /\/search\/[0-9a-f-]{36}/) != nil, "\(place)")
            let listed = try await admin.get(place)
            expectWhole(listed, place)
            #expect(listed.body.contains(order) && listed.body.contains(second), "\(listed.body)")
            #expect(try await admin.post(place).body.contains(Shop.name(1)))
            let other = try await pages.browser(.admin, mail: "kim@example.com")
            #expect(try await other.get(place).status == 404)
        }
    }
}
