import AccountStore
import AppStorePayloads
import AppleRecords
import AuditStore
import Base
import Postgres
import Staff
import TestSupport
import Testing

/// Extensions of renewal dates, for the desk.
struct ExtensionTests {
    /// Numbers 1 to 27 are done, of the first app; 28 is a mass extension of the other app, at which Apple works; 29 is in Sandbox.
    private func fill(_ desk: RunningDesk) async throws {
        try await desk.observer.query(
            """
            insert into storehook.extensions
                   (environment, bundle_id, request_identifier, original_transaction_id, product_id, days, reason_code, requested_by, why, state,
                    asked_at, settled_at)
            select case when n = 29 then 'Sandbox' else 'Production' end, case when n = 28 then \(Desk.other) else \(Desk.app) end,
                   'request-' || n, case when n <> 28 then (20000 + n)::text end, case when n = 28 then 'best' end, 3, 1, 'cli:kim',
                   'a complaint of person-' || n, case when n = 28 then 'accepted' else 'extended' end, now(),
                   case when n <> 28 then now() end
              from generate_series(1, 29) n order by n
            """)
        try await desk.observer.query(
            """
            insert into storehook.extension_failures (extension_id, notification_uuid, original_transaction_id, signed_at)
            values (28, gen_random_uuid(), '10002', now())
            """)
    }

    @Test("Every role reads them, the youngest first, in pages of 25; reasons are shortened, and opened on record")
    func pages() async throws {
        try await withDesk { desk in
            try await fill(desk)
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                let first = try await desk.get("/admin/extensions", token)
                #expect(first.object?.elementCount("extensions") == 25 && !first.body.contains("complaint"))
                #expect(first.body.contains(#""kind":"all""#) && first.body.contains(#""productId":"best""#))
                let next = try #require(first.object?.string("next"))
                let second = try await desk.get("/admin/extensions?after=\(next)", token)
                #expect(second.object?.elementCount("extensions") == 3 && second.object?.string("next") == nil)
                for (query, count) in [
                    ("unfinished=true", 1), ("subscription=20007", 1), ("subscription=x", 0),
                    ("environment=Sandbox", 1), ("app=\(Desk.other)", 1), ("app=\(Desk.app)&limit=200", 27),
                ] {
                    let found = try await desk.get("/admin/extensions?\(query)", token)
                    #expect(found.object?.elementCount("extensions") == count, "\(query): \(found.body)")
                }
                let one = try await desk.get("/admin/extensions/28", token)
                #expect(one.status == 200 && one.object?.elementCount("failures") == 1, "\(one.body)")
                #expect(one.object?.string("state") == "accepted" && one.object?.integer("failuresHeard") == 1)
                #expect(!one.body.contains("complaint") && one.object?.string("why")?.hasPrefix("a ") == true)
            }
            let (_, viewer) = try await desk.member(.viewer)
            let (_, support) = try await desk.member(.support)
            for path in ["/admin/extensions?subscription=20007&open=true", "/admin/extensions/7?open=true"] {
                #expect(try await desk.get(path, viewer).status == 403)
                let place = try await desk.place()
                #expect(try await desk.get(path, support).body.contains("a complaint of person-7"))
                let rows = try await desk.rows(after: place)
                #expect(rows.map(\.act) == ["open_personal_text"], "\(path)")
                #expect(rows.first?.after?.contains(#""opened": 1"#) == true)
            }
            for wrong in ["after=x", "unfinished=1", "environment=x", "subscription="] {
                #expect(try await desk.get("/admin/extensions?\(wrong)", viewer).status == 400, "\(wrong)")
            }
            for id in ["99", "0", "-1", "x", "99999999999999999999"] {
                #expect(try await desk.get("/admin/extensions/\(id)", viewer).status == 404, "\(id)")
            }
            #expect(try await desk.get("/admin/extensions").status == 401)
        }
    }

    @Test("A page with a filter looks through a bounded number, says so, and goes on")
    func bound() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let extensions = RenewalExtensions(desk.observer)
            var filter = ExtensionFilter()
            filter.originalTransactionID = "20007"
            var (found, cursor, looked): ([Int64], ListCursor?, [Int?]) = ([], nil, [])
            repeat {
                let page = try await extensions.list(filter, after: cursor, limit: 3, lookingThrough: 10)
                found += page.elements.map(\.id)
                looked.append(page.lookedThrough)
                cursor = page.next
            } while cursor != nil
            #expect(found == [7] && looked == [10, 10, nil], "\(looked)")
            let whole = try await extensions.list(filter, limit: 3)
            #expect(whole.elements.map(\.id) == [7] && whole.next == nil && whole.lookedThrough == nil)
            let all = try await extensions.list(limit: 29, lookingThrough: 10)
            #expect(all.elements.count == 29 && all.next == nil && all.lookedThrough == nil)
        }
    }

    @Test("Staff of some apps see those of their apps; another app's is 404, like one that does not exist")
    func scope() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, some) = try await desk.member(.admin, of: [Desk.app])
            for query in ["?limit=200", "?unfinished=true", "?app=\(Desk.other)", "?format=csv"] {
                let found = try await desk.get("/admin/extensions\(query)", some)
                #expect(found.status == 200 && !found.body.contains("request-28"), "\(query): \(found.body)")
            }
            let (other, none) = (
                try await desk.get("/admin/extensions/28", some), try await desk.get("/admin/extensions/99", some)
            )
            #expect(other.status == 404 && other.body == none.body)
            #expect(try await desk.get("/admin/extensions/7", some).status == 200)
            let before = try await desk.place()
            #expect(try await desk.post("/admin/extensions/28/close", some, #"{"reason": "why"}"#).status == 404)
            #expect(try await desk.rows(after: before).isEmpty)
        }
    }

    @Test("One that is not finished is given up once, for a reason; workers follow it no longer")
    func close() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (member, token) = try await desk.member(.admin)
            try await desk.observer.query(
                """
                insert into storehook.extension_queue (id, received_at, due_at) values (28, now(), now())
                """)
            let place = try await desk.place()
            let closed = try await desk.post(
                "/admin/extensions/28/close", token, #"{"reason": "Apple support: never arrived"}"#)
            #expect(closed.status == 200 && closed.object?.string("state") == "closed", "\(closed.body)")
            #expect(closed.object?.string("closedBy") == member.actor && !closed.body.contains("never arrived"))
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["close_extension"] && rows.first?.app == Desk.other)
            #expect(rows.first?.text.members["why"] == "Apple support: never arrived")
            #expect(
                try await desk.observer.query("select count(*) from storehook.extension_queue").one().decode(0)
                    == Int64(0))
            for id in ["28", "7"] {
                let again = try await desk.post("/admin/extensions/\(id)/close", token, #"{"reason": "why"}"#)
                #expect(again.status == 409 && again.code == "extension_finished", "\(again.body)")
            }
            #expect(try await desk.post("/admin/extensions/99/close", token, #"{"reason": "why"}"#).status == 404)
            #expect(try await desk.audit.verify().fault == nil)
        }
    }
}
