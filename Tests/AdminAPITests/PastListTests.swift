import AccountStore
import AppStorePayloads
import AppleRecords
import Base
import OrderStore
import Postgres
import Staff
import TestSupport
import Testing

/// Lists of an instant of the past are lists like all others: by what was due next then, and with a bound on what a page looks through.
struct PastListTests {
    /// The instant that all of these ask for, two days ago.
    private func instant(_ desk: RunningDesk) async throws -> Timestamp {
        Timestamp(try await desk.now()).adding(seconds: -48 * 3600)
    }

    /// The elements of a list.
    private func elements(_ answer: Answer, _ name: String) -> [JSONObject] {
        answer.object?[name]?.elements?.compactMap(\.object) ?? []
    }

    /// The same, page after page of one each.
    private func paged(
        _ desk: RunningDesk, _ path: String, _ name: String, _ token: String
    ) async throws -> [JSONObject] {
        var (found, after): ([JSONObject], String) = ([], "")
        repeat {
            let page = try await desk.get("\(path)&limit=1\(after)", token)
            #expect(page.status == 200, "\(path): \(page.body)")
            found += elements(page, name)
            after = page.object?.string("next").map { "&after=\($0)" } ?? ""
        } while !after.isEmpty && found.count < 9
        return found
    }

    /// Three requests for refunds of ten days ago, the first of them approved yesterday, and one of yesterday. Apple has asked about the first
    /// three: one question was heard yesterday, one was answered then, and one was not answered.
    private func fill(_ desk: RunningDesk, _ token: String) async throws {
        for number in 10...13 {
            let order = try await desk.order(number)
            let made = try await desk.post(
                "/admin/orders/\(order)/refund-requests", token, #"{"type": "full", "reason": "charged twice"}"#)
            #expect(made.status == 201, "\(made.body)")
        }
        #expect(try await desk.post("/admin/refund-requests/RF-001/approve", token, "{}").status == 200)
        try await desk.observer.query(
            """
            update storehook.staff_refund_requests
               set created_at = now() - case when id = 4 then interval '1 day' else interval '10 days' end,
                   decided_at = decided_at - interval '1 day'
            """)
        for (transaction, signed, heard) in [("10010", 49, 40), ("10011", 51, 51), ("10012", 56, 56)]
            as [(String, Int32, Int32)]
        {
            try await desk.observer.query(
                """
                insert into storehook.notifications
                       (notification_uuid, outbox_id, type, environment, bundle_id, original_transaction_id, transaction_id, signed_at,
                        received_at, outcome)
                values (md5(\(transaction))::uuid, 2000 + \(signed), 'CONSUMPTION_REQUEST', 'Production', \(Desk.app), \(transaction),
                        \(transaction + ".0"), date_trunc('second', now()) - make_interval(hours => \(signed)),
                        now() - make_interval(hours => \(heard)), 'applied')
                """)
        }
        try await desk.observer.query(
            """
            insert into storehook.consumption_answers
                   (notification_uuid, environment, bundle_id, transaction_id, reason, signed_at, deadline, began_at, answer, rule, sent_by,
                    settled_at, outcome)
            select notification_uuid, environment, bundle_id, transaction_id, consumption_request_reason, signed_at,
                   signed_at + interval '12 hours', now() - interval '47 hours', '{"customerConsented": true}', '1 all',
                   'cli:kim', now() - interval '46 hours', 'answered'
              from storehook.notifications where notification_uuid = md5('10011')::uuid
            """)
    }

    @Test("Requests for refunds come by what was due next then, among those that waited then, with their times")
    func refunds() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            try await fill(desk, token)
            let at = try await instant(desk)
            let path = "/admin/refund-requests?sort=due"
            let list = try await desk.get("\(path)&at=\(at)", token)
            let then = elements(list, "requests")
            try #require(then.count == 3, "\(list.body)")
            #expect(then.compactMap { $0.string("number") } == ["RF-003", "RF-002", "RF-001"])
            let paged = try await self.paged(desk, "\(path)&at=\(at)", "requests", token)
            #expect(paged.compactMap { $0.string("number") } == ["RF-003", "RF-002", "RF-001"])
            // Two hours before Apple's deadlines; what Apple asked about the first one was not heard of yet.
            let minutes = then.map { request in
                request.string("dueAt").flatMap { Timestamp(iso8601: $0) }.map {
                    ($0.millisecondsSince1970 - at.millisecondsSince1970) / 60_000
                }
            }
            #expect((115...120).contains(minutes[0] ?? 0) && (415...420).contains(minutes[1] ?? 0), "\(minutes)")
            #expect(minutes[2] == nil, "\(minutes)")
            for request in then {
                #expect(request.string("state") == "pending")
                #expect((8 * 86_400...8 * 86_400 + 300).contains(request.integer("waitingSeconds") ?? 0))
            }
            let now = elements(try await desk.get(path, token), "requests")
            #expect(now.compactMap { $0.string("number") } == ["RF-002", "RF-003", "RF-004"])
            for query in ["state=approved", "environment=Sandbox"] {
                let none = try await desk.get("\(path)&\(query)&at=\(at)", token)
                #expect(none.object?.elementCount("requests") == 0, "\(query): \(none.body)")
            }
        }
    }

    @Test("What Apple asks comes by its deadlines, among what could be answered then; a page says how far it looked")
    func questions() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            try await fill(desk, token)
            let at = try await instant(desk)
            let path = "/admin/consumption-requests?sort=due"
            let then = try await paged(desk, "\(path)&at=\(at)", "requests", token)
            #expect(then.compactMap { $0.string("transactionId") } == ["10012.0", "10011.0"])
            for (request, hours) in zip(then, [4, 9] as [Int64]) {
                #expect((hours * 3600 - 300...hours * 3600).contains(request.integer("secondsLeft") ?? 0))
            }
            #expect(try await desk.get(path, token).object?.elementCount("requests") == 0, "all deadlines are over")
            var filter = ConsumptionFilter()
            (filter.at, filter.state) = (at, .answered)
            var (cursor, looked): (ListCursor?, [Int?]) = (nil, [])
            repeat {
                let page = try await ConsumptionRequests(desk.observer).list(
                    filter, after: cursor, limit: 1, lookingThrough: 1)
                #expect(page.elements.isEmpty, "none was answered then")
                looked.append(page.lookedThrough)
                cursor = page.next
            } while cursor != nil && looked.count < 9
            #expect(looked == [1, 1, nil], "\(looked)")
        }
    }

    @Test("A page of dead letters looks through a bounded number, says so, and goes on")
    func letters() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            try await desk.observer.query(
                """
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                select 1000000 + n, now(), 'unverified', 'malformed', case when n in (1, 2, 10050) then 'a needle' else 'hay' end, 1
                  from generate_series(1, 10050) n
                """)
            let path = "/admin/dead-letters?text=needle&limit=2&at=\(Timestamp(try await desk.now()))"
            let list = try await desk.get(path, token)
            #expect(
                list.object?.elementCount("letters") == 1 && list.object?.integer("lookedThrough") == 10_000,
                "\(list.body)")
            for name in ["matching", "among", "upTo", "downTo"] {
                #expect(list.object?[name]?.isNull == true, "\(name)")
            }
            let next = try #require(list.object?.string("next"))
            let rest = try await desk.get("\(path)&after=\(next)", token)
            #expect(rest.object?.elementCount("letters") == 2 && rest.object?["next"]?.isNull == true, "\(rest.body)")
            #expect(rest.object?["lookedThrough"]?.isNull == true, "\(rest.body)")
        }
    }

    @Test("A page of orders looks through a bounded number, says so, and goes on")
    func orders() async throws {
        try await withDesk { desk in
            _ = try await desk.order(10)
            var (filter, bounds) = (OrderFilter(), OrderBounds())
            (filter.status, filter.at, bounds.then) = (.refunded, Timestamp(try await desk.now()), 1)
            var (cursor, looked): (ListCursor?, [Int?]) = (nil, [])
            repeat {
                let page = try await OrderStore(desk.observer).list(
                    filter, under: nil, after: cursor, limit: 1, within: bounds)
                #expect(page.elements.isEmpty, "none is refunded")
                looked.append(page.lookedThrough)
                cursor = page.next
            } while cursor != nil && looked.count < 9
            #expect(looked == [2, nil], "three orders, two a page: \(looked)")
        }
    }

    @Test("An actor's notes of an instant are those that the actor had written by then")
    func notes() async throws {
        try await withDesk { desk in
            let (admin, token) = try await desk.member(.admin)
            for text in ["called", "called again"] {
                let added = try await desk.post(
                    "/admin/notes", token, #"{"account": "person-1", "note": "\#(text)"}"#)
                #expect(added.status == 201, "\(added.body)")
            }
            try await desk.observer.query("update storehook.staff_notes set at = at - (2 - id) * interval '4 days'")
            let at = try await instant(desk)
            for (actor, ids) in [("staff:\(admin.id)", [1]), ("cli:anna", [])] as [(String, [Int64])] {
                let notes = try await desk.get("/admin/notes?by=\(actor)&at=\(at)", token)
                #expect(elements(notes, "notes").compactMap { $0.integer("id") } == ids, "\(actor): \(notes.body)")
            }
        }
    }
}
