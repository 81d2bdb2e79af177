import AppStorePayloads
import AppleRecords
import AuditStore
import Base
import Postgres
import Staff
import TestSupport
import Testing

/// What Apple asks about refunds, for the desk.
struct ConsumptionTests {
    /// Thirty requests about the first app's purchase, a minute apart, the latest of them answered; one of the other app; one in Sandbox; and
    /// one of a month ago.
    private func fill(_ desk: RunningDesk) async throws {
        try await desk.observer.query(
            """
            insert into storehook.notifications
                   (notification_uuid, outbox_id, type, environment, bundle_id, original_transaction_id, transaction_id, signed_at, received_at,
                    outcome, consumption_request_reason)
            select md5(n::text)::uuid, 1000 + n, 'CONSUMPTION_REQUEST', case when n = 32 then 'Sandbox' else 'Production' end,
                   case when n = 31 then \(Desk.other) else \(Desk.app) end, case when n = 31 then '10002' else '10001' end,
                   case when n = 31 then '10002.0' else '10001.0' end,
                   date_trunc('second', now()) - case when n = 33 then interval '30 days' else n * interval '1 minute' end, now(), 'applied',
                   'UNINTENDED_PURCHASE'
              from generate_series(1, 33) n
            """)
        try await desk.observer.query(
            """
            insert into storehook.consumption_answers
                   (notification_uuid, environment, bundle_id, transaction_id, reason, signed_at, deadline, began_at, answer, rule, sent_by,
                    settled_at, outcome)
            select notification_uuid, environment, bundle_id, transaction_id, consumption_request_reason, signed_at,
                   signed_at + interval '12 hours', now(), '{"customerConsented": true}', '1 all', 'cli:kim', now(), 'answered'
              from storehook.notifications where notification_uuid = md5('1')::uuid
            """)
    }

    @Test("Every role reads them, the latest first, in pages of 25, by state, days, app and environment")
    func pages() async throws {
        try await withDesk { desk in
            try await fill(desk)
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                var (uuids, sizes, after): ([String], [Int], String) = ([], [], "")
                while true {
                    let page = try await desk.get("/admin/consumption-requests?app=\(Desk.app)\(after)", token)
                    let object = try #require(page.object, "\(page.body)")
                    sizes.append(object.elementCount("requests") ?? -1)
                    uuids += page.body.matches(of: /"notificationUuid":"([^"]+)"/).map { String($0.output.1) }
                    guard let next = object.string("next") else { break }
                    after = "&after=\(next)"
                }
                let latest: String = try await desk.observer.query("select md5('1')::uuid::text").one().decode(0)
                #expect(sizes == [25, 5] && Set(uuids).count == 30 && uuids.first == latest, "\(role): \(sizes)")
                for (query, count) in [
                    ("limit=200", 31), ("state=answered", 1), ("state=open&limit=200", 30), ("state=late", 0),
                    ("environment=Sandbox", 1), ("days=31&limit=200", 32), ("app=\(Desk.other)", 1),
                ] {
                    let found = try await desk.get("/admin/consumption-requests?\(query)", token)
                    #expect(found.object?.elementCount("requests") == count, "\(query): \(found.body)")
                }
            }
            let (_, viewer) = try await desk.member(.viewer)
            let answered = try await desk.get("/admin/consumption-requests?state=answered", viewer)
            for part in [
                #""answer":{"customerConsented": true}"#, #""rule":"1 all""#, #""sentBy":"cli:kim""#,
                #""transactionId":"10001.0""#, #""productId":"basic""#, #""appAccountToken":"\#(Desk.token(1))""#,
                #""reason":"UNINTENDED_PURCHASE""#, #""consent":null"#,
            ] {
                #expect(answered.body.contains(part), "\(part): \(answered.body)")
            }
            for wrong in ["state=not", "days=0", "after=x", "after=1/2", "environment=sandbox"] {
                #expect(try await desk.get("/admin/consumption-requests?\(wrong)", viewer).status == 400, "\(wrong)")
            }
            #expect(try await desk.get("/admin/consumption-requests").status == 401)
        }
    }

    @Test(
        "By what is due next they are those that may still be answered, the first deadline first, with the time that is left"
    )
    func due() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, token) = try await desk.member(.viewer)
            let expected = try await desk.observer.query(
                "select md5(n::text)::uuid::text from generate_series(31, 2, -1) n"
            ).map { try $0.decode(0, as: String.self) }
            var (uuids, after): ([String], String) = ([], "")
            while true {
                let page = try await desk.get("/admin/consumption-requests?sort=due&limit=7\(after)", token)
                let object = try #require(page.object, "\(page.body)")
                uuids += page.body.matches(of: /"notificationUuid":"([^"]+)"/).map { String($0.output.1) }
                for request in object["requests"]?.elements ?? [] {
                    let left = request.object?.integer("secondsLeft") ?? -1
                    #expect((41_000...43_200).contains(left), "\(left)")
                }
                guard let next = object.string("next") else { break }
                after = "&after=\(next)"
            }
            #expect(uuids == expected)
            let answered = try await desk.get("/admin/consumption-requests?state=answered", token)
            #expect(answered.body.contains(#""secondsLeft":null"#), "\(answered.body)")
            #expect(try await desk.get("/admin/consumption-requests?sort=first", token).status == 400)
        }
    }

    @Test("A page looks through a bounded number, says so, and goes on: nothing is left out between two pages")
    func bound() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let requests = ConsumptionRequests(desk.observer)
            var filter = ConsumptionFilter()
            (filter.state, filter.days) = (.open, 40)
            let whole = try await requests.list(filter, limit: 100, lookingThrough: nil)
            #expect(whole.elements.count == 32 && whole.next == nil && whole.lookedThrough == nil)
            filter.environment = "Sandbox"
            var (found, cursor, looked): ([String?], ListCursor?, [Int?]) = ([], nil, [])
            repeat {
                let page = try await requests.list(filter, after: cursor, limit: 3, lookingThrough: 10)
                found += page.elements.map(\.transactionID)
                looked.append(page.lookedThrough)
                cursor = page.next
            } while cursor != nil
            #expect(found == ["10001.0"] && looked == [10, 10, 10, nil], "\(looked)")
            filter.environment = nil
            var all: [ListedConsumptionRequest] = []
            repeat {
                let page = try await requests.list(filter, after: cursor, limit: 4, lookingThrough: 5)
                all += page.elements
                cursor = page.next
            } while cursor != nil
            #expect(all.map(\.notificationUUID) == whole.elements.map(\.notificationUUID))
        }
    }

    @Test("Staff of some apps see what Apple asks about their apps")
    func scope() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, token) = try await desk.member(.admin, of: [Desk.other])
            for query in ["", "?limit=200", "?app=\(Desk.other)", "?format=csv"] {
                let found = try await desk.get("/admin/consumption-requests\(query)", token)
                #expect(found.body.contains("10002.0") && !found.body.contains("10001"), "\(query): \(found.body)")
            }
            let none = try await desk.get("/admin/consumption-requests?app=\(Desk.app)", token)
            #expect(none.object?.elementCount("requests") == 0)
        }
    }
}
