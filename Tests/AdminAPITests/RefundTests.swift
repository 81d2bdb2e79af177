import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Postgres
import Staff
import TestSupport
import Testing

/// Requests for refunds, from the first word to the last.
struct RefundTests {
    private static let full = #"{"type": "full", "reason": "charged twice"}"#

    private func ask(
        _ desk: RunningDesk, _ order: String, _ token: String, _ body: String = RefundTests.full
    ) async throws -> Answer {
        try await desk.post("/admin/orders/\(order)/refund-requests", token, body)
    }

    private func decide(
        _ desk: RunningDesk, _ part: String, _ token: String, _ body: String, _ number: String = "RF-001"
    ) async throws -> Answer {
        try await desk.post("/admin/refund-requests/\(number)/\(part)", token, body)
    }

    /// The number of forbidden tries, also before the minute ended.
    private func tries(_ desk: RunningDesk, at route: String? = nil) async throws -> Int64 {
        try await desk.observer.query(
            """
            select coalesce(sum(tries), 0)::bigint
              from (select route, tries from storehook.forbidden_tries
                    union all
                    select subject, (after::jsonb ->> 'tries')::bigint from storehook.audit where act = 'forbidden') t
             where \(route)::text is null or t.route = \(route)
            """
        ).one().decode(0)
    }

    private static let record = #"{"reference": "bank 7", "amount": 4000, "at": "2026-01-31T12:00:00Z"}"#

    @Test(
        "Those that wait for a decision are listed by what is due next: first what Apple waits for, and then the oldest"
    )
    func due() async throws {
        try await withDesk { desk in
            let (_, sams) = try await desk.member(.support)
            let (_, kims) = try await desk.member(.admin)
            for number in 10...14 {
                let made = try await ask(desk, try await desk.order(number), sams)
                #expect(made.status == 201 && made.object?["dueAt"]?.isNull == true, "\(made.body)")
            }
            for (transaction, hours) in [("10011", 3), ("10012", 8), ("10014", 13)] as [(String, Int32)] {
                try await desk.observer.query(
                    """
                    insert into storehook.notifications
                           (notification_uuid, outbox_id, type, environment, bundle_id, original_transaction_id, transaction_id, signed_at,
                            received_at, outcome)
                    values (gen_random_uuid(), 2000 + \(hours), 'CONSUMPTION_REQUEST', 'Production', \(Desk.app), \(transaction), \(transaction + ".0"),
                            date_trunc('second', now()) - make_interval(hours => \(hours)), now(), 'applied')
                    """)
            }
            #expect(try await decide(desk, "approve", kims, "{}").status == 200)
            func numbers(_ query: String) async throws -> [String] {
                let list = try await desk.get("/admin/refund-requests\(query)", sams)
                #expect(list.status == 200, "\(list.body)")
                return list.object?["requests"]?.elements?.compactMap { $0.object?.string("number") } ?? []
            }
            #expect(try await numbers("?sort=due") == ["RF-003", "RF-002", "RF-004", "RF-005"])
            #expect(try await numbers("?sort=latest") == ["RF-005", "RF-004", "RF-003", "RF-002", "RF-001"])
            #expect(try await numbers("?sort=due&environment=Sandbox").isEmpty)
            #expect(try await numbers("?sort=due&state=approved").isEmpty)
            var (paged, after): ([String], String) = ([], "")
            while true {
                let page = try await desk.get("/admin/refund-requests?sort=due&limit=1\(after)", sams)
                paged += page.object?["requests"]?.elements?.compactMap { $0.object?.string("number") } ?? []
                guard let next = page.object?.string("next") else { break }
                after = "&after=\(next)"
            }
            #expect(paged == ["RF-003", "RF-002", "RF-004", "RF-005"])
            let now = Timestamp(try await desk.now())
            /// In how many minutes something is due.
            func minutes(_ number: String) async throws -> Int64? {
                let request = try await desk.get("/admin/refund-requests/\(number)", sams).object
                #expect((request?.integer("waitingSeconds") ?? -1) >= 0, "\(number)")
                return request?.string("dueAt").flatMap { Timestamp(iso8601: $0) }.map {
                    ($0.millisecondsSince1970 - now.millisecondsSince1970) / 60_000
                }
            }
            // Two hours before the end of twelve.
            #expect((115...120).contains(try await minutes("RF-003") ?? 0))
            #expect((415...420).contains(try await minutes("RF-002") ?? 0))
            #expect((43_190...43_200).contains(try await minutes("RF-001") ?? 0))
            #expect(try await minutes("RF-005") == nil, "Apple's request is over")
            #expect(try await decide(desk, "reject", kims, #"{"note": "no"}"#, "RF-003").status == 200)
            let rejected = try await desk.get("/admin/refund-requests/RF-003", sams).object
            #expect(rejected?["dueAt"]?.isNull == true && rejected?["waitingSeconds"]?.isNull == true)
            for wrong in ["sort=first", "sort=due&after=1", "sort=due&after=x/1", "after=-/1"] {
                #expect(try await desk.get("/admin/refund-requests?\(wrong)", sams).status == 400, "\(wrong)")
            }
        }
    }

    @Test("One is made, approved once and recorded; what comes too late is 409, and each act is on record")
    func life() async throws {
        try await withDesk { desk in
            let order = try await desk.order(10)
            let (sam, sams) = try await desk.member(.support)
            let (kim, kims) = try await desk.member(.admin)
            let place = try await desk.place()
            let made = try await ask(
                desk, order, sams, #"{"type": "partial", "amount": 4000, "reason": "half of it was down"}"#)
            #expect(made.status == 201 && made.object?.string("number") == "RF-001", "\(made.body)")
            #expect(made.object?.string("state") == "pending" && made.object?.integer("requested") == 4_000)
            #expect(made.object?.string("order") == order && made.object?.integer("maxRefundable") == 9_990)
            #expect(made.object?.string("requester") == sam.actor && made.object?.string("transactionId") == "10010.0")
            let again = try await ask(desk, order, sams)
            #expect(again.status == 409 && again.code == "refund_request_open", "\(again.body)")
            #expect(again.object?.string("refundRequest") == "RF-001")
            let early = try await decide(desk, "record", kims, Self.record)
            #expect(early.status == 409 && early.code == "refund_request_state", "\(early.body)")
            let approved = try await decide(desk, "approve", kims, #"{"note": "agreed"}"#, "rf-001")
            #expect(approved.status == 200 && approved.object?.string("state") == "approved", "\(approved.body)")
            #expect(approved.object?.integer("approved") == 4_000 && approved.object?.string("decider") == kim.actor)
            #expect(approved.object?.has("answeredBeforeAt") == true)
            for (part, body) in [("approve", "{}"), ("reject", #"{"note": "no"}"#)] {
                let second = try await decide(desk, part, kims, body)
                #expect(second.status == 409 && second.code == "refund_request_state", "\(part): \(second.body)")
                #expect(second.object?.string("state") == "approved")
            }
            let recorded = try await decide(desk, "record", kims, Self.record)
            #expect(recorded.status == 200 && recorded.object?.string("state") == "processed", "\(recorded.body)")
            #expect(recorded.object?.string("reference") == "bank 7")
            #expect(recorded.object?.string("refundedElsewhereAt")?.hasPrefix("2026-01-31T12:00:00") == true)
            let rows = try await desk.rows(after: place)
            #expect(
                rows.map { "\($0.actor) \($0.role) \($0.act) \($0.subject)" } == [
                    "\(sam.actor) support create_refund_request RF-001",
                    "\(kim.actor) admin approve_refund_request RF-001", "\(kim.actor) admin record_refund RF-001",
                ])
            #expect(rows.map(\.text.members).prefix(2) == [["why": "half of it was down"], ["note": "agreed"]])
            // One that is rejected or taken back makes way for another.
            for (number, part, token) in [("RF-002", "reject", kims), ("RF-003", "cancel", sams)] {
                let next = try await ask(desk, order, sams)
                #expect(next.object?.string("number") == number, "\(next.body)")
                let done = try await decide(desk, part, token, #"{"note": "no"}"#, number)
                #expect(done.status == 200, "\(done.body)")
            }
            for (query, count) in [
                ("", 3), ("state=processed", 1), ("state=pending", 0), ("notRefunded=true", 0), ("order=\(order)", 3),
                ("order=x", 0), ("app=\(Desk.app)", 3), ("app=\(Desk.other)", 0), ("environment=Sandbox", 0),
                ("limit=2", 2),
            ] {
                let list = try await desk.get("/admin/refund-requests?\(query)", sams)
                #expect(list.object?.elementCount("requests") == count, "\(query): \(list.body)")
            }
            for wrong in ["after=x", "state=open", "notRefunded=1"] {
                #expect(try await desk.get("/admin/refund-requests?\(wrong)", sams).status == 400, "\(wrong)")
            }
            #expect(try await desk.audit.verify().fault == nil)
        }
    }

    @Test("Support asks and takes back, admins decide; what a role may not do is 403, changes nothing and is counted")
    func roles() async throws {
        try await withDesk { desk in
            let order = try await desk.order(10)
            let (_, viewer) = try await desk.member(.viewer)
            let (_, support) = try await desk.member(.support)
            #expect(try await ask(desk, order, viewer).code == "forbidden")
            #expect(try await ask(desk, order, support).status == 201)
            let before = try await desk.place()
            for (part, body) in [
                ("approve", "{}"), ("reject", #"{"note": "no"}"#), ("record", Self.record),
                ("cancel", #"{"note": "no"}"#),
            ] {
                for (token, isRefused) in [(viewer, true), (support, part != "cancel")] where isRefused {
                    let answer = try await decide(desk, part, token, body)
                    #expect(answer.status == 403 && answer.code == "forbidden", "\(part): \(answer.body)")
                }
            }
            #expect(try await desk.rows(after: before).isEmpty)
            let shown = try await desk.get("/admin/refund-requests/RF-001", viewer)
            #expect(shown.object?.string("state") == "pending", "\(shown.body)")
            #expect(try await tries(desk) == 8)
        }
    }

    @Test("With four eyes the requester cannot approve the request, and the try is counted")
    func fourEyes() async throws {
        try await withDesk(rules: StaffRules(isFourEyes: true)) { desk in
            let order = try await desk.order(10)
            let kim = try await desk.member(.admin, mail: "kim@example.com").token
            let sam = try await desk.member(.admin, mail: "sam@example.com").token
            #expect(try await ask(desk, order, kim).status == 201)
            let own = try await decide(desk, "approve", kim, "{}")
            #expect(own.status == 403 && own.code == "forbidden", "\(own.body)")
            #expect(try await tries(desk, at: "POST /admin/refund-requests/{id}/approve") == 1)
            #expect(try await decide(desk, "approve", sam, "{}").status == 200)
        }
    }

    @Test("Another app's order and request are 404 on every path, like one that does not exist")
    func scope() async throws {
        try await withDesk { desk in
            let some = try await desk.member(.admin, of: [Desk.app]).token
            let all = try await desk.member(.admin).token
            let (own, other) = (try await desk.order(10), try await desk.order(11, of: Desk.other))
            #expect(try await ask(desk, other, all).status == 201)
            let (theirs, none) = (try await ask(desk, other, some), try await ask(desk, "ORD-20010101-0001", some))
            #expect(theirs.status == 404 && theirs.code == "order_not_found" && theirs.body == none.body)
            let missing = try await desk.get("/admin/refund-requests/RF-999", some)
            #expect(missing.status == 404 && missing.code == "refund_request_not_found")
            for path in ["RF-001", "RF-0001", "RF-1", "1", "x", "%20"] {
                let answer = try await desk.get("/admin/refund-requests/\(path)", some)
                #expect(answer.status == 404 && answer.body == missing.body, "\(path): \(answer.body)")
            }
            for (part, body) in [
                ("approve", "{}"), ("reject", #"{"note": "no"}"#), ("record", Self.record),
                ("cancel", #"{"note": "no"}"#),
            ] {
                let answer = try await decide(desk, part, some, body)
                #expect(answer.status == 404 && answer.body == missing.body, "\(part): \(answer.body)")
            }
            for query in ["", "?app=\(Desk.other)", "?order=\(other)", "?format=csv"] {
                let answer = try await desk.get("/admin/refund-requests\(query)", some)
                #expect(answer.status == 200 && !answer.body.contains("RF-001"), "\(query): \(answer.body)")
            }
            // An order is an app's, and no account's: staff of its app ask.
            #expect(try await ask(desk, own, some).status == 201)
            #expect(try await desk.get("/admin/refund-requests", some).object?.elementCount("requests") == 1)
            #expect(try await desk.get("/admin/refund-requests", all).object?.elementCount("requests") == 2)
        }
    }

    @Test("What cannot be refunded so is 422 with a code that stays, and a body that is not described is 400")
    func refusals() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            let (order, free) = (try await desk.order(10), try await desk.order(11, price: 0))
            let unpriced = try await desk.number(of: Desk.purchase(1))
            let before = try await desk.place()
            for (order, body, status, code) in [
                (free, Self.full, 422, "transaction_free"), (unpriced, Self.full, 422, "transaction_unpriced"),
                (order, #"{"type": "partial", "reason": "why"}"#, 422, "amount_invalid"),
                (order, #"{"type": "full", "amount": 1, "reason": "why"}"#, 422, "amount_invalid"),
                (order, #"{"type": "partial", "amount": 0, "reason": "why"}"#, 422, "amount_invalid"),
                (order, #"{"type": "partial", "amount": 9991, "reason": "why"}"#, 422, "amount_too_large"),
                (order, #"{"type": "full", "transactionId": "77", "reason": "why"}"#, 404, "transaction_not_found"),
                (order, #"{"type": "half", "reason": "why"}"#, 400, "invalid_request"),
                (order, #"{"type": "full", "reason": " "}"#, 400, "invalid_request"),
                (order, #"{"type": "full"}"#, 400, "invalid_request"),
                (order, #"{"type": "full", "reason": "why", "force": true}"#, 400, "invalid_request"),
                (order, #"{"type": "partial", "amount": "1", "reason": "why"}"#, 400, "invalid_request"),
            ] {
                let answer = try await ask(desk, order, token, body)
                #expect(answer.status == status && answer.code == code, "\(body): \(answer.body)")
            }
            let most = try await ask(desk, order, token, #"{"type": "partial", "amount": 10000, "reason": "why"}"#)
            #expect(most.object?.integer("maxRefundable") == 9_990)
            #expect(try await desk.rows(after: before).isEmpty)
            #expect(try await ask(desk, order, token).status == 201)
            for (part, body) in [
                ("approve", ""), ("approve", "[]"), ("approve", #"{"note": " "}"#), ("approve", #"{"reason": "x"}"#),
                ("reject", "{}"), ("reject", #"{"note": "  "}"#), ("cancel", "{}"), ("record", "{}"),
                ("record", #"{"reference": " ", "amount": 1, "at": "2026-01-31"}"#),
                ("record", #"{"reference": "a\nb", "amount": 1, "at": "2026-01-31"}"#),
                ("record", #"{"reference": "a", "amount": 1, "at": "yesterday"}"#),
            ] {
                let answer = try await decide(desk, part, token, body)
                #expect(answer.status == 400, "\(part) \(body): \(answer.status) \(answer.body)")
            }
            let tooMuch = try await decide(desk, "approve", token, #"{"amount": 9991}"#)
            #expect(tooMuch.status == 422 && tooMuch.code == "amount_too_large", "\(tooMuch.body)")
            #expect(try await decide(desk, "approve", token, "{}").status == 200)
            let future = try await decide(
                desk, "record", token, #"{"reference": "a", "amount": 1, "at": "2200-01-31"}"#)
            #expect(future.status == 422 && future.code == "instant_in_future", "\(future.body)")
        }
    }

    @Test("Reasons and notes are shortened, opening them is on record, and no formula runs in files")
    func texts() async throws {
        try await withDesk { desk in
            let order = try await desk.order(10)
            let (admin, viewer) = (try await desk.member(.admin).token, try await desk.member(.viewer).token)
            let made = try await ask(desk, order, admin, #"{"type": "full", "reason": "=HYPERLINK(1)"}"#)
            #expect(made.status == 201 && !made.body.contains("HYPERLINK"), "\(made.body)")
            let approved = try await decide(desk, "approve", admin, #"{"note": "+her card was stolen"}"#)
            #expect(approved.status == 200 && !approved.body.contains("stolen"))
            for path in [
                "/admin/refund-requests", "/admin/refund-requests/RF-001", "/admin/refund-requests?format=csv",
                "/admin/refund-requests?format=ndjson",
            ] {
                let plain = try await desk.get(path, viewer)
                #expect(plain.status == 200 && plain.body.contains("RF-001"), "\(path): \(plain.body)")
                #expect(!plain.body.contains("HYPERLINK") && !plain.body.contains("stolen"), "\(path)")
                let opening = path + (path.contains("?") ? "&" : "?") + "open=true&reason=complaint"
                #expect(try await desk.get(opening, viewer).status == 403, "\(path)")
                let before = try await desk.place()
                let opened = try await desk.get(opening, admin)
                #expect(opened.body.contains("=HYPERLINK(1)") && opened.body.contains("stolen"), "\(opened.body)")
                let rows = try await desk.rows(after: before)
                #expect(rows.count == 1 && rows.first?.after?.contains(#""opened": 2"#) == true, "\(path): \(rows)")
                #expect(rows.first?.subjectKind == (path.hasSuffix("RF-001") ? "refund_request" : "refund_requests"))
                if path.hasSuffix("csv") {
                    #expect(opened.body.contains("'=HYPERLINK(1)") && opened.body.contains("'+her card"))
                }
            }
        }
    }
}
