import AppStorePayloads
import Base
import Foundation
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

/// What happened to a purchase, for the desk.
struct StoryTests {
    @Test(
        "A purchase has its story for all roles, which leads to each notification; another app's is like one that does not exist"
    )
    func story() async throws {
        try await withDesk { desk in
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                let answer = try await desk.get("/admin/purchases/10001/story", token)
                let stories = answer.object?["purchases"]?.elements?.compactMap(\.object) ?? []
                let entries = stories.first?["entries"]?.elements?.compactMap(\.object) ?? []
                #expect(stories.count == 1 && entries.count == 1, "\(answer.body)")
                #expect(
                    entries.first?.string("type") == "SUBSCRIBED" && entries.first?.string("words")?.isEmpty == false)
                #expect(entries.first?.string("statusAfter") == "active", "\(answer.body)")
                let uuid = try #require(entries.first?.string("notification"))
                let notification = try await desk.get("/admin/notifications/\(uuid)", token)
                #expect(notification.object?.string("originalTransactionId") == "10001", "\(notification.body)")
                // What this test applies was never posted.
                #expect(notification.object?.string("unreadable") == "its bytes are gone")
            }
            let (_, other) = try await desk.member(.admin, of: [Desk.other])
            let (_, own) = try await desk.member(.admin, of: [Desk.app], mail: "own@example.com")
            let all = try await desk.get("/admin/purchases/10001/story", own)
            let uuid = try #require(all.body.firstMatch(of: /"notification":"([^"]+)"/)).output.1
            for path in ["purchases/10001/story", "notifications/\(uuid)"] {
                #expect(try await desk.get("/admin/\(path)", own).status == 200, "\(path)")
                #expect(try await desk.get("/admin/\(path)", other).status == 404, "\(path)")
                #expect(try await desk.get("/admin/\(path)").status == 401, "\(path)")
            }
            for path in [
                "purchases/99999/story", "purchases/10001/story?environment=Sandbox",
                "purchases/10001/story?app=\(Desk.other)", "notifications/x",
                "notifications/00000000-0000-0000-0000-000000000000",
            ] {
                #expect(try await desk.get("/admin/\(path)", own).status == 404, "\(path)")
            }
        }
    }

    @Test("A customer has the phases that at takes one to")
    func phases() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.viewer)
            let customer = try await desk.get("/admin/customers/person-1", token)
            let phases = customer.object?["phases"]?.elements?.compactMap(\.object) ?? []
            #expect(phases.count >= 2, "\(customer.body)")
            for phase in phases {
                let start = try #require(phase.string("startsAt"))
                let then = try await desk.get("/admin/customers/person-1?at=\(start)", token)
                let standing = then.object?.object("standing")
                #expect(standing?.string("status") == phase.string("status"), "\(start): \(then.body)")
                #expect(standing?.string("tier") == phase.string("tier"), "\(start)")
            }
        }
    }

    @Test("A customer's requests, Apple's questions and the consent are found by the account alone")
    func about() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.admin)
            let order = try await desk.order(3)
            let asked = try await desk.post(
                "/admin/orders/\(order)/refund-requests", token, #"{"type": "full", "reason": "why"}"#)
            #expect(asked.status == 201, "\(asked.body)")
            for (account, count) in [("person-3", 1), ("person-1", 0), ("nobody", 0)] {
                let found = try await desk.get("/admin/refund-requests?account=\(account)", token)
                #expect(found.object?.elementCount("requests") == count, "\(account): \(found.body)")
                let questions = try await desk.get("/admin/consumption-requests?account=\(account)", token)
                #expect(questions.object?.elementCount("requests") == 0, "\(account)")
            }
            try await desk.observer.query(
                """
                insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                values ('person-1', \(UUID(Desk.token(1))), false, 'cli:kim')
                """)
            let customer = try await desk.get("/admin/customers/person-1", token)
            #expect(customer.object?.object("consent")?.bool("granted") == false, "\(customer.body)")
            let (_, own) = try await desk.member(.admin, of: [Desk.app])
            #expect(try await desk.get("/admin/customers/person-1", own).object?.object("consent") == nil)
        }
    }

    @Test("A move of a purchase says before what both accounts would be, and changes nothing then")
    func move() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.admin)
            let place = try await desk.place()
            let body =
                #"{"environment": "Production", "app": "com.example.app", "account": "person-2", "dryRun": true, "reason": "x"}"#
            let would = try await desk.post("/admin/purchases/10001/move", token, body)
            let sides = would.object?["sides"]?.elements?.compactMap(\.object) ?? []
            let tokens = sides.compactMap { $0.string("appAccountToken") }
            #expect(tokens == ["\(Desk.token(1))", "\(Desk.token(2))"], "\(would.body)")
            #expect(sides.first?.object("before")?.string("tier") == "pro")
            #expect(sides.first?.object("after")?.string("tier") == "free")
            #expect(try await desk.rows(after: place).isEmpty)
            let now = try await desk.get("/admin/subscriptions/person-1", token)
            #expect(now.object?.string("tier") == "pro", "\(now.body)")
            #expect(try await desk.post("/admin/purchases/99/move", token, body).status == 404)
        }
    }

    @Test("Each figure is also a file, with a column for each of its values")
    func file() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.viewer)
            _ = try await desk.order(3)
            for (path, columns) in [
                ("figures/gross", ["period", "gross"]), ("figures/retention", ["period"]),
                ("subscriptions/stats/users", ["period"]), ("subscriptions/stats/usage", ["period"]),
            ] {
                let file = try await desk.get("/admin/\(path)?format=csv", token)
                #expect(file.status == 200 && file.headers.first(name: "Content-Type")?.hasPrefix("text/csv") == true)
                let names = file.body.prefix { $0 != "\n" }.split(separator: ",").map { String($0) }
                #expect(Set(columns).isSubset(of: Set(names)), "\(path): \(file.body)")
                #expect(!names.contains("rows") && !names.contains("values"), "\(path): \(names)")
            }
            #expect(try await desk.get("/admin/figures/gross?format=xml", token).status == 400)
        }
    }
}
