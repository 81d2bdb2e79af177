import Accounts
import AppStorePayloads
import AuditStore
import Base
import Postgres
import Staff
import TestSupport
import Testing

/// Orders, as each member of the staff sees them.
struct OrderTests {
    @Test(
        "Every role lists and shows them: money in thousandths by currency, accounts shortened unless they are opened")
    func roles() async throws {
        try await withDesk { desk in
            let number = try await desk.order(10)
            let admin = try await desk.member(.admin).token
            let act = try await desk.post(
                "/admin/subscriptions/person-10/grant", admin, #"{"tier": "premium", "days": 1, "reason": "why"}"#)
            #expect(act.status == 200)
            let before = try await desk.audit.tail()
            for role in StaffRole.allCases {
                let token = role == .admin ? admin : try await desk.member(role, mail: "\(role)@example.com").token
                let list = try await desk.get("/admin/orders?search=10010.0", token)
                #expect(list.status == 200 && list.object?.elementCount("orders") == 1, "\(list.body)")
                let shown = try await desk.get("/admin/orders/\(number.lowercased())", token)
                #expect(shown.status == 200 && shown.object?.elementCount("lines") == 1, "\(shown.body)")
                #expect(shown.object?.string("number") == number && shown.object?.string("status") == "completed")
                #expect(shown.object?.integer("amount") == 9_990 && shown.object?.string("currency") == "EUR")
                #expect(shown.object?.string("bundleId") == Desk.app && shown.object?.string("productId") == "basic")
                #expect(shown.object?.string("account") == "pe…", "\(shown.body)")
                for answer in [list, shown] {
                    #expect(answer.body.contains(#""totals":[{"currency":"EUR","paid":9990,"refunded":0}]"#))
                    #expect(!answer.body.contains("person-10"), "\(role): \(answer.body)")
                }
                #expect(
                    try await desk.get("/admin/orders/\(number)?open=true", token).status
                        == (role == .viewer ? 403 : 200))
            }
            let rows = try await desk.rows(after: before.place).filter { $0.act == "open_personal_text" }
            #expect(rows.count == 2 && rows.allSatisfy { $0.subject == "\(Desk.token(10))" }, "\(rows)")
            for path in ["/admin/orders", "/admin/orders/\(number)"] {
                #expect(try await desk.get(path).status == 401)
            }
        }
    }

    @Test("Filters add up, and what is none is 400")
    func filters() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            let number = try await desk.order(10)
            let refunded = try await desk.order(11) { transaction in
                transaction.revocationDate = transaction.signedDate
                transaction.revocationPercentage = 40_000
            }
            let day = try #require(
                try await desk.get("/admin/orders/\(number)", token).object?.string("day"))
            // With the two that every desk has, which have no price.
            for (query, count) in [
                ("", 4), ("search=\(number)", 1), ("search=\(number.prefix(12))", 4), ("search=nothing", 0),
                ("status=partially_refunded", 1), ("status=completed", 3), ("refunded=true", 1), ("refunded=false", 3),
                ("app=\(Desk.other)", 1), ("app=\(Desk.app)&product=best", 0), ("product=best", 1), ("currency=eur", 2),
                ("storefront=DEU&refunded=true", 1), ("tier=pro", 3), ("tier=premium", 1), ("account=person-10", 1),
                ("account=token:\(Desk.token(11))", 1), ("environment=Sandbox", 0), ("from=\(day)&to=\(day)", 4),
                ("from=2001-01-01&to=2001-12-31", 0), ("to=2001-01-01&from=2002-01-01", 0),
                ("updatedSince=2200-01-01", 0), ("updatedSince=1969-01-01T00:00:00Z", 4),
            ] {
                let answer = try await desk.get("/admin/orders?\(query)", token)
                #expect(
                    answer.status == 200 && answer.object?.elementCount("orders") == count, "\(query): \(answer.body)")
            }
            for (query, code) in [
                ("after=x", "invalid_request"), ("after=a/b", "invalid_request"), ("status=gold", "invalid_request"),
                ("from=yesterday1", "invalid_request"), ("to=2026-02-30", "invalid_request"),
                ("updatedSince=x", "invalid_request"), ("refunded=yes", "invalid_request"),
                ("environment=production", "invalid_request"), ("tier=gold", "unknown_tier"),
                ("account=00000000-0000-0000-0000-000000000000", "invalid_request"), ("limit=201", "invalid_request"),
            ] {
                let answer = try await desk.get("/admin/orders?\(query)", token)
                #expect(answer.status == 400 && answer.code == code, "\(query): \(answer.body)")
            }
            let shown = try await desk.get("/admin/orders/\(refunded)", token)
            #expect(shown.body.contains(#"{"currency":"EUR","paid":9990,"refunded":3996}"#), "\(shown.body)")
            #expect(shown.object?.elementCount("lines") == 2 && shown.body.contains(#""isComputed":true"#))
            let lines = shown.object?.objects("lines") ?? []
            let (price, back) = (lines.first?.integer("amount") ?? 0, lines.last?.integer("amount") ?? 0)
            #expect(back > 0 && lines.first?.integer("maxRefundable") == price - back, "\(shown.body)")
            #expect(lines.last?.integer("maxRefundable") == nil)
        }
    }

    @Test(
        "Another app's order is listed and found nowhere, and 404 like one that does not exist; a shared one is named")
    func scope() async throws {
        try await withDesk { desk in
            let some = try await desk.member(.admin, of: [Desk.app]).token
            let all = try await desk.member(.viewer).token
            let (own, other) = (try await desk.order(10), try await desk.order(11, of: Desk.other))
            #expect(try await desk.get("/admin/orders/\(own)", some).status == 200)
            #expect(try await desk.get("/admin/orders/\(other)", all).status == 200)
            let none = try await desk.get("/admin/orders/\(other.dropLast(4))9999", some)
            #expect(none.status == 404 && none.code == "order_not_found")
            for path in [other, "10011", "10010.0", "ORD-", "x", "ORD-99999999-0001", "%20"] {
                let answer = try await desk.get("/admin/orders/\(path)", some)
                #expect(answer.status == 404 && answer.body == none.body, "\(path): \(answer.body)")
            }
            for query in [
                "", "?search=ORD-", "?search=\(other)", "?search=10011", "?search=best", "?product=best",
                "?account=person-11", "?app=\(Desk.other)", "?tier=premium", "?format=csv", "?format=ndjson",
                "?updatedSince=1970-01-01",
            ] {
                let answer = try await desk.get("/admin/orders\(query)", some)
                #expect(answer.status == 200 && !answer.body.contains(Desk.other), "\(query): \(answer.body)")
            }
            // Another customer paid for it, as late evidence shows.
            try await desk.observer.query(
                "update storehook.booked_orders set class_id = null where order_key in ('10010', '10011')")
            let shared = try await desk.get("/admin/orders/\(own)", some)
            #expect(shared.status == 200 && shared.object?.string("status") == "shared", "\(shared.body)")
            #expect(shared.object?.string("number") == own && shared.object?.has("account") == false)
            let theirs = try await desk.get("/admin/orders/\(other)", some)
            #expect(theirs.status == 404 && theirs.body == none.body)
            #expect(try await desk.get("/admin/orders?search=\(own)", some).object?.elementCount("orders") == 0)
        }
    }

    @Test("A list has pages of 25; in a file, what a spreadsheet would run begins with an apostrophe")
    func files() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            try await desk.buy(
                (10..<40).map { Desk.entry(Desk.purchase($0), "basic", for: Desk.token($0), number: $0, price: 1_000) })
            let named = AccountToken.of("=1+1")
            try await desk.buy([Desk.entry(Desk.purchase(50), "basic", for: named, number: 50, price: 1_000)])
            _ = try await desk.number(of: Desk.purchase(50))
            let act = try await desk.post(
                "/admin/subscriptions/=1+1/grant", token, #"{"tier": "premium", "days": 1, "reason": "why"}"#)
            #expect(act.status == 200, "\(act.body)")
            let first = try await desk.get("/admin/orders", token)
            let next = try #require(first.object?.string("next"))
            let second = try await desk.get("/admin/orders?after=\(next)", token)
            #expect(first.object?.elementCount("orders") == 25 && second.object?.elementCount("orders") == 8)
            let numbers = [first, second].flatMap { answer in
                answer.body.matches(of: /"number":"([^"]+)"/).map { String($0.output.1) }
            }
            #expect(Set(numbers).count == 33)
            #expect(try await desk.get("/admin/orders?format=csv&open=true", token).status == 400)
            let csv = try await desk.get("/admin/orders?format=csv&open=true&reason=audit", token)
            let lines = csv.body.split(separator: "\n")
            #expect(lines.count == 34 && lines[0].hasPrefix("number,day,status,environment,bundleId,"), "\(lines[0])")
            #expect(csv.body.contains("'=1+1") && !csv.body.contains(",=1+1"), "\(csv.body)")
            let row = try #require(try await desk.rows(after: 0).last)
            #expect(row.act == "export_personal_text" && row.subjectKind == "orders")
            #expect(row.after?.contains(#""opened": 1"#) == true && row.text.members == ["why": "audit"])
            let objects = try await desk.get("/admin/orders?format=ndjson", token)
            #expect(objects.body.split(separator: "\n").count == 33 && !objects.body.contains("=1+1"))
        }
    }
}
