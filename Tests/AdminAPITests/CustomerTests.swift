import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Foundation
import Postgres
import Staff
import Subscriptions
import TestSupport
import Testing

/// All about one customer in one answer.
struct CustomerTests {
    /// An event about an account, in its place.
    /// - Returns: its number.
    private func tell(
        _ desk: RunningDesk, _ account: UniqueIdentifier, of app: String?, in environment: String = "Production"
    ) async throws -> Int64 {
        let id: Int64 = try await desk.observer.query(
            """
            with last as (
                select coalesce(max(sequence), 0) as sequence from storehook.events
                 where token = \(UUID(account)) and environment = \(environment)
            ), event as (
                insert into storehook.events (kind, environment, bundle_id, token, version, sequence, at, is_late, is_correction, content)
                select 'subscription.renewed', \(environment), \(app), \(UUID(account)), 1, sequence + 1, now(), false, false, '"a":1'
                  from last
                returning id, told_at
            ), unplaced as (
                insert into storehook.events_unplaced (id, told_at) select id, told_at from event
            )
            select id from event
            """
        ).one().decode(0)
        try await eventually("it has its place") {
            try await desk.observer.query("select storehook.place_events(1000)")
            return try await desk.observer.query(
                "select count(*) from storehook.event_positions where id = \(id)"
            ).one().decode(0) == Int64(1)
        }
        return id
    }

    private func numbers(_ object: JSONObject?, _ list: String, _ member: StaticString) -> [Int64?] {
        object?[list]?.elements?.map { $0.object?.integer(member) } ?? []
    }

    @Test("The head line has what was paid by currency, apps and environments; the rest is as other paths have it")
    func whole() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            let first = try await desk.order(10)
            let sandbox = PurchaseKey(environment: "Sandbox", bundleID: Desk.app, originalTransactionID: "90010")
            try await desk.buy([
                Desk.entry(sandbox, "basic", for: Desk.token(10), number: 90),
                Desk.entry(Desk.purchase(11), "basic", for: Desk.token(10), number: 11, price: 5_000) {
                    ($0.currency, $0.storefront) = ("USD", "USA")
                },
            ])
            _ = try await desk.number(of: Desk.purchase(11))
            _ = try await AccountStore(desk.observer).put(
                AccountProfile(name: "Kim Example", mail: "kim@example.com"), for: Desk.token(10))
            let grant = try await desk.post(
                "/admin/subscriptions/person-10/grant", token, #"{"tier": "premium", "days": 3, "reason": "apology"}"#)
            #expect(grant.status == 200, "\(grant.body)")
            let answer = try await desk.get("/admin/customers/person-10", token)
            #expect(answer.status == 200, "\(answer.body)")
            let customer = try #require(answer.object)
            #expect(customer.string("customer") == "token:\(Desk.token(10))" && customer.has("since"))
            #expect(customer.strings("apps") == [Desk.app] && customer.bool("isCustomer") == true)
            #expect(customer.strings("environments") == ["Production", "Sandbox"])
            let lifetime = try #require(customer.object("lifetime"))
            let totals = lifetime["totals"]?.elements?.compactMap(\.object) ?? []
            #expect(totals.map { $0.string("currency") } == ["EUR", "USD"], "\(answer.body)")
            #expect(totals.map { $0.integer("net") } == [9_990, 5_000] && lifetime.integer("orders") == 2)
            for text in ["person-10", "Kim Example", "kim@example.com", "apology"] {
                #expect(!answer.body.contains(text), "\(text)")
            }
            let standing = try #require(customer.object("standing"))
            let account = try #require(try await desk.get("/admin/subscriptions/person-10", token).object)
            for name: StaticString in ["tier", "status", "source", "expiresAt", "since", "until"] {
                #expect(standing.string(name) == account.string(name), "\(name)")
            }
            #expect(standing.string("tier") == "premium" && standing.elementCount("acts") == 1)
            #expect(standing.elementCount("purchases") == 2)
            let tiers = customer["entitlements"]?.elements?.compactMap { $0.object?.string("tier") }
            #expect(tiers == ["free", "pro", "premium"])
            #expect(customer.elementCount("orders") == 2 && answer.body.contains(first))
            // Under its token it is the same, and no name is in the address.
            let same = try await desk.get("/admin/customers/token:\(Desk.token(10))", token)
            #expect(same.object?.object("lifetime")?.integer("orders") == 2)
            let other = try await desk.get("/admin/customers/person-10?environment=Sandbox", token)
            #expect(other.object?.object("standing")?.elementCount("purchases") == 1, "\(other.body)")
            #expect(other.object?.object("lifetime")?.elementCount("totals") == 0)
            #expect(other.object?.elementCount("entitlements") ?? 0 >= 2)
            let before = try await desk.place()
            let opened = try await desk.get("/admin/customers/person-10?open=true&reason=a%20call", token)
            for text in ["person-10", "Kim Example", "kim@example.com", "apology"] {
                #expect(opened.body.contains(text), "\(text): \(opened.body)")
            }
            let row = try #require(try await desk.rows(after: before).first)
            #expect(row.act == "open_personal_text" && row.subject == "\(Desk.token(10))")
            #expect(row.after?.contains(#""opened": 4"#) == true, "\(row.after ?? "")")
        }
    }

    @Test("At an instant it has what the account was then; an instant that is none is 400")
    func instants() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            let now = Timestamp(try await desk.now())
            for (days, tier, tiers) in [(Int64(-20), "free", 1), (-1, "pro", 2), (40, "free", 1)] {
                let instant = now.adding(days: days)
                let answer = try await desk.get("/admin/customers/person-1?at=\(instant)", token)
                let standing = answer.object?.object("standing")
                #expect(standing?.string("tier") == tier && standing?.string("at") == "\(instant)", "\(answer.body)")
                #expect(answer.object?.elementCount("entitlements") == tiers, "\(days)")
            }
            for text in ["now", "2026-13-01", "%00", String(repeating: "1", count: 41)] {
                #expect(try await desk.get("/admin/customers/person-1?at=\(text)", token).status == 400, "\(text)")
            }
        }
    }

    @Test("Events come with where each was delivered, the latest first, 25 at most, of one environment")
    func events() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            _ = try await tell(desk, Desk.token(1), of: Desk.app, in: "Sandbox")
            var ids: [Int64] = []
            for _ in 0..<27 { ids.append(try await tell(desk, Desk.token(1), of: Desk.app)) }
            let last = try #require(ids.last)
            try await desk.observer.query(
                """
                insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
                values (1, 7, \(last), now(), 1, 'delivered', 2, 204, null), (2, 8, \(last), now(), 1, 'dead', 9, 500, 'refused'),
                       (3, 7, \(ids[0]), now(), 1, 'delivered', 1, 200, null)
                """)
            let answer = try await desk.get("/admin/customers/person-1", token)
            #expect(answer.status == 200, "\(answer.body)")
            let events = answer.object?["events"]?.elements?.compactMap(\.object) ?? []
            #expect(events.count == 25 && events.first?.string("id") == "evt_\(last)", "\(answer.body)")
            let cursors = events.compactMap { $0.integer("cursor") }
            #expect(cursors.count == 25 && cursors == cursors.sorted(by: >))
            #expect(numbers(events.first, "deliveries", "endpoint") == [7, 8])
            #expect(numbers(events.first, "deliveries", "status") == [204, 500])
            #expect(events.dropFirst().allSatisfy { $0.elementCount("deliveries") == 0 })
        }
    }

    @Test("Staff of some apps see their apps' part of a customer; one without a purchase of these is as if not there")
    func scope() async throws {
        try await withDesk { desk in
            let some = try await desk.member(.support, of: [Desk.app]).token
            let all = try await desk.member(.support).token
            _ = try await desk.order(12)
            try await desk.buy([
                Desk.entry(Desk.purchase(13, of: Desk.other), "best", for: Desk.token(12), number: 13, price: 7_000)
            ])
            _ = try await desk.number(of: Desk.purchase(13, of: Desk.other))
            for app in [Desk.app, Desk.other, nil] { _ = try await tell(desk, Desk.token(12), of: app) }
            let whole = try await desk.get("/admin/customers/person-12", all)
            #expect(whole.object?.strings("apps") == [Desk.app, Desk.other], "\(whole.body)")
            #expect(whole.object?.object("lifetime")?.integer("orders") == 2)
            let part = try await desk.get("/admin/customers/person-12", some)
            #expect(part.status == 200 && !part.body.contains(Desk.other), "\(part.body)")
            #expect(!part.body.contains(#""10013"#), "\(part.body)")
            #expect(part.object?.object("lifetime")?.integer("orders") == 1)
            #expect(part.object?.elementCount("orders") == 1)
            let events = part.object?["events"]?.elements?.compactMap { $0.object?.string("bundleId") } ?? []
            #expect(!events.isEmpty && Set(events) == [Desk.app])
            #expect(part.object?.elementCount("events") == events.count, "none without an app")
            let none = try await desk.get("/admin/customers/nobody", some)
            let theirs = try await desk.get("/admin/customers/person-2", some)
            #expect(theirs.status == 404 && theirs.body == none.body)
            for path in ["nobody", "%00", "token:00000000-0000-0000-0000-000000000000"] {
                #expect(try await desk.get("/admin/customers/\(path)", all).status == 404, "\(path)")
            }
            #expect(try await desk.get("/admin/customers/person-12").status == 401)
            let viewer = try await desk.member(.viewer).token
            #expect(try await desk.get("/admin/customers/person-12?open=true", viewer).status == 403)
        }
    }
}
