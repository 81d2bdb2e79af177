import AppStorePayloads
import Base
import EvidenceStore
import Foundation
import Operations
import Postgres
import Staff
import TestSupport
import Testing

/// Lists of an instant of the past: what there was, as it stood then.
struct PastTests {
    /// What is answered at an instant so many hours ago.
    private func get(
        _ desk: RunningDesk, _ path: String, _ token: String, hoursAgo hours: Int64
    ) async throws -> Answer {
        let at = Timestamp(try await desk.now()).adding(seconds: -3600 * hours)
        return try await desk.get("\(path)\(path.contains("?") ? "&" : "?")at=\(at)", token)
    }

    /// The elements of a list so many hours ago.
    private func rows(
        _ desk: RunningDesk, _ path: String, _ name: String, _ token: String, hoursAgo hours: Int64
    ) async throws -> [JSONObject] {
        let answer = try await get(desk, path, token, hoursAgo: hours)
        #expect(answer.status == 200, "\(path), \(hours) hours ago: \(answer.body)")
        return answer.object?[name]?.elements?.compactMap(\.object) ?? []
    }

    /// Holds a list of one thing, and the thing itself, against its state by the hours: nil where it was not there.
    private func expect(
        _ desk: RunningDesk, _ token: String, _ path: String, _ rows: String, _ member: StaticString,
        of number: String?,
        _ states: [(hoursAgo: Int64, state: String?)]
    ) async throws {
        for (hours, state) in states {
            let found = try await self.rows(desk, path, rows, token, hoursAgo: hours)
            let wanted: [String] = state.map { [$0] } ?? []
            #expect(found.compactMap { $0.string(member) } == wanted, "\(path), \(hours) hours ago")
            for (_, other) in states {
                guard let other else { continue }
                let some = try await self.rows(desk, "\(path)?\(member)=\(other)", rows, token, hoursAgo: hours)
                #expect(some.count == (other == state ? 1 : 0), "\(path), \(other), \(hours) hours ago")
            }
            guard let number else { continue }
            let one = try await get(desk, "\(path)/\(number)", token, hoursAgo: hours)
            #expect(one.status == (state == nil ? 404 : 200), "\(number), \(hours) hours ago: \(one.body)")
            #expect(one.object?.string(member) == state, "\(number), \(hours) hours ago: \(one.body)")
        }
        #expect(try await desk.get("\(path)?at=yesterday", token).status == 400, "\(path)")
    }

    @Test("The audit and the notes of an instant have what was there then")
    func written() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            let before = Timestamp(try await desk.now()).adding(milliseconds: -1)
            for text in ["called", "called again"] {
                let added = try await desk.post(
                    "/admin/notes", token, #"{"account": "person-1", "note": "\#(text)"}"#)
                #expect(added.status == 201, "\(added.body)")
            }
            let after = Timestamp(try await desk.now())
            for (at, count) in [(before, 0), (after, 2)] {
                let acts = try await desk.get("/admin/audit?act=add_note&at=\(at)", token)
                #expect(acts.object?.elementCount("rows") == count, "\(acts.body)")
                let notes = try await desk.get("/admin/notes?at=\(at)", token)
                #expect(notes.object?.elementCount("notes") == count, "\(notes.body)")
            }
            try await desk.observer.query("update storehook.staff_notes set at = at - (3 - id) * interval '1 day'")
            let notes = try await rows(desk, "/admin/notes", "notes", token, hoursAgo: 36)
            #expect(notes.map { $0.integer("id") } == [1])
            let own = try await rows(desk, "/admin/notes?account=person-1", "notes", token, hoursAgo: 36)
            #expect(own.count == 1)
            for path in ["/admin/audit", "/admin/notes"] {
                #expect(try await desk.get("\(path)?at=yesterday", token).status == 400, "\(path)")
            }
        }
    }

    @Test("A request for a refund is in the state of the instant, without what was decided later")
    func refunds() async throws {
        try await withDesk { desk in
            let order = try await desk.order(10)
            let token = try await desk.member(.admin).token
            for (path, body) in [
                ("orders/\(order)/refund-requests", #"{"type": "full", "reason": "charged twice"}"#),
                ("refund-requests/RF-001/approve", #"{"note": "agreed"}"#),
                (
                    "refund-requests/RF-001/record",
                    #"{"reference": "bank 7", "amount": 4000, "at": "2026-01-31T12:00:00Z"}"#
                ),
            ] {
                let done = try await desk.post("/admin/\(path)", token, body)
                #expect([200, 201].contains(done.status), "\(done.body)")
            }
            try await desk.observer.query(
                """
                update storehook.staff_refund_requests
                   set created_at = now() - interval '4 days', decided_at = now() - interval '2 days',
                       processed_at = now() - interval '1 day'
                """)
            let path = "/admin/refund-requests"
            try await expect(
                desk, token, path, "requests", "state", of: "RF-001",
                [(120, nil), (72, "pending"), (36, "approved"), (1, "processed")])
            let pending = try await get(desk, "\(path)/RF-001", token, hoursAgo: 72)
            for name in ["approved", "decidedAt", "decider", "note", "processedAt", "reference", "maxRefundable"] {
                #expect(pending.object?[name]?.isNull == true, "\(name): \(pending.body)")
            }
            let approved = try await get(desk, "\(path)/RF-001", token, hoursAgo: 36)
            #expect(approved.object?.integer("approved") == 9_990 && approved.object?["reference"]?.isNull == true)
            // Approved for so long by an instant that Apple will hardly refund it, though that is over.
            try await desk.observer.query(
                """
                update storehook.staff_refund_requests
                   set created_at = now() - interval '90 days', decided_at = now() - interval '60 days'
                """)
            for (hours, count) in [(48, 1), (1, 0), (24 * 40, 0)] as [(Int64, Int)] {
                let late = try await rows(desk, "\(path)?notRefunded=true", "requests", token, hoursAgo: hours)
                #expect(late.count == count, "\(hours) hours ago")
            }
        }
    }

    @Test("An order is what had been heard of it by the instant, and so is what its account has paid")
    func orders() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            let number = try await desk.order(10) { transaction in
                transaction.revocationDate = transaction.signedDate
                transaction.revocationPercentage = 40_000
            }
            try await desk.observer.query(
                "update storehook.booked_transactions set heard_at = now() - interval '4 days', changed_at = now() - interval '1 day'"
            )
            try await desk.observer.query("update storehook.booked_refunds set heard_at = now() - interval '1 day'")
            let path = "/admin/orders"
            for (hours, status, refunded) in [
                (24 * 30, nil, 0), (120, nil, 0), (48, "completed", 0), (1, "partially_refunded", 3_996),
            ] as [(Int64, String?, Int64)] {
                let all = try await rows(desk, path, "orders", token, hoursAgo: hours)
                #expect(all.count == (status == nil ? 0 : 3), "\(hours) hours ago")
                for search in ["10010.0", number, String(number.prefix(12))] {
                    let found = try await rows(desk, "\(path)?search=\(search)", "orders", token, hoursAgo: hours)
                    let own = found.filter { $0.string("number") == number }
                    #expect(
                        own.compactMap { $0.string("status") } == (status.map { [$0] } ?? []),
                        "\(search), \(hours) hours ago")
                }
                for other in ["completed", "partially_refunded"] {
                    let some = try await rows(
                        desk, "\(path)?account=person-10&status=\(other)", "orders", token, hoursAgo: hours)
                    #expect(some.count == (other == status ? 1 : 0), "\(other), \(hours) hours ago")
                }
                let back = try await rows(desk, "\(path)?refunded=true", "orders", token, hoursAgo: hours)
                #expect(back.count == (refunded > 0 ? 1 : 0), "\(hours) hours ago")
                let one = try await get(desk, "\(path)/\(number)", token, hoursAgo: hours)
                #expect(one.status == (status == nil ? 404 : 200), "\(hours) hours ago: \(one.body)")
                let customer = try await get(desk, "/admin/customers/person-10", token, hoursAgo: hours)
                let lifetime = try #require(customer.object?.object("lifetime"))
                #expect(lifetime.integer("orders") == (status == nil ? 0 : 1), "\(hours) hours ago: \(customer.body)")
                #expect(customer.object?.elementCount("orders") == (status == nil ? 0 : 1), "\(hours) hours ago")
                guard let status else { continue }
                #expect(one.object?.string("status") == status && one.object?.integer("amount") == 9_990, "\(one.body)")
                #expect(one.object?["refundedAt"]?.isNull == (refunded == 0), "\(one.body)")
                #expect(one.object?.elementCount("lines") == (refunded == 0 ? 1 : 2), "\(one.body)")
                for totals in [one.object, lifetime] {
                    let total = totals?.objects("totals")?.first
                    #expect(total?.integer("paid") == 9_990 && total?.integer("refunded") == refunded, "\(one.body)")
                }
            }
            // One by one, as a whole.
            var (place, found) = ("", 0)
            repeat {
                let page = try await get(desk, "\(path)?limit=1\(place)", token, hoursAgo: 48)
                found += page.object?.elementCount("orders") ?? 0
                place = page.object?.string("next").map { "&after=\($0)" } ?? ""
            } while !place.isEmpty && found < 5
            #expect(found == 3)
            #expect(try await desk.get("\(path)?at=yesterday", token).status == 400)
        }
    }

    @Test("What Apple asks is in the state of the instant, and so is the consent")
    func questions() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            try await desk.observer.query(
                """
                insert into storehook.notifications
                       (notification_uuid, outbox_id, type, environment, bundle_id, original_transaction_id, transaction_id, signed_at,
                        received_at, outcome, consumption_request_reason)
                values (md5('1')::uuid, 1001, 'CONSUMPTION_REQUEST', 'Production', \(Desk.app), '10001', '10001.0',
                        now() - interval '121 hours', now() - interval '120 hours', 'applied', 'UNINTENDED_PURCHASE')
                """)
            try await desk.observer.query(
                """
                insert into storehook.consumption_answers
                       (notification_uuid, environment, bundle_id, transaction_id, reason, signed_at, deadline, began_at, answer, rule, sent_by,
                        settled_at, outcome)
                select notification_uuid, environment, bundle_id, transaction_id, consumption_request_reason, signed_at,
                       signed_at + interval '12 hours', now() - interval '4 days', '{"customerConsented": true}', '1 all', 'cli:kim',
                       now() - interval '3 days', 'answered'
                  from storehook.notifications where notification_uuid = md5('1')::uuid
                """)
            try await desk.observer.query(
                """
                insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by, recorded_at)
                values ('person-1', \(UUID(Desk.token(1))), false, 'cli:kim', now() - interval '2 days')
                """)
            let path = "/admin/consumption-requests"
            try await expect(
                desk, token, path, "requests", "state", of: nil,
                [(121, nil), (108, "open"), (84, "sending"), (60, "answered")])
            let open = try await rows(desk, path, "requests", token, hoursAgo: 108)
            for name in ["answer", "rule", "sentAt", "sentBy", "why", "consent"] {
                #expect(open.first?[name]?.isNull == true, "\(name)")
            }
            let sending = try await rows(desk, path, "requests", token, hoursAgo: 84)
            #expect(sending.first?.string("sentBy") == "cli:kim" && sending.first?["consent"]?.isNull == true)
            let later = try await rows(desk, path, "requests", token, hoursAgo: 24)
            #expect(later.first?.bool("consent") == false)
            #expect(try await rows(desk, "\(path)?days=1", "requests", token, hoursAgo: 24).isEmpty)
        }
    }

    @Test("An extension is in the state of the instant, and in none where only a later try has dates")
    func extensions() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            try await desk.observer.query(
                """
                insert into storehook.extensions
                       (environment, bundle_id, request_identifier, original_transaction_id, days, reason_code, requested_by, why,
                        requested_at, state, asked_at, accepted_at, effective_at, settled_at, asked_again)
                select 'Production', \(Desk.app), 'request-' || n, (20000 + n)::text, 3, 1, 'cli:kim', 'why', now() - interval '5 days',
                       case n when 1 then 'extended' else 'unknown' end, now() - n * interval '2 days',
                       case n when 1 then now() - interval '36 hours' end, case n when 1 then now() end,
                       case n when 1 then now() - interval '1 day' end, n - 1
                  from generate_series(1, 2) n order by n
                """)
            let path = "/admin/extensions"
            for (hours, first, second) in [
                (72, "requested", "unknown"), (44, "unknown", "unknown"), (30, "accepted", "unknown"),
                (1, "extended", "unknown"),
            ] as [(Int64, String, String)] {
                let found = try await rows(desk, path, "extensions", token, hoursAgo: hours)
                #expect(found.map { $0.string("state") } == [second, first], "\(hours) hours ago")
                let open = try await rows(desk, "\(path)?unfinished=true", "extensions", token, hoursAgo: hours)
                #expect(open.count == (hours == 1 ? 1 : 2), "\(hours) hours ago")
                let one = try await get(desk, "\(path)/1", token, hoursAgo: hours)
                #expect(one.object?.string("state") == first, "\(one.body)")
            }
            let early = try await rows(desk, path, "extensions", token, hoursAgo: 100)
            #expect(early.map { $0.string("state") } == [nil, "requested"], "only the last try has dates")
            #expect(early.first?["askedAgain"]?.isNull == true)
            #expect(try await rows(desk, path, "extensions", token, hoursAgo: 121).isEmpty)
            #expect(try await get(desk, "\(path)/1", token, hoursAgo: 121).status == 404)
            #expect(try await desk.get("\(path)?at=yesterday", token).status == 400)
        }
    }

    @Test("A job is in the state of the instant, with what it had settled by then")
    func jobs() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            for _ in 0..<2 { _ = try await desk.bury() }
            let list = try await desk.get("/admin/dead-letters", token)
            let made = try await desk.post(
                "/admin/jobs", token,
                #"{"act": "discard", "filter": {}, "upTo": \#(list.object?.integer("upTo") ?? 0), "confirmed": 2, "reason": "junk"}"#
            )
            #expect(made.status == 201, "\(made.body)")
            #expect(try await desk.jobService.work())
            try await desk.observer.query(
                """
                update storehook.jobs
                   set created_at = now() - interval '4 days', begun_at = now() - interval '3 days', ended_at = now() - interval '1 day'
                """)
            try await desk.observer.query(
                "update storehook.job_items set ended_at = now() - letter_id * interval '1 day' - interval '12 hours'")
            try await desk.observer.query(
                """
                update storehook.dead_letters
                   set dead_at = now() - interval '5 days', resolved_at = now() - id * interval '1 day' - interval '12 hours'
                """)
            let path = "/admin/jobs"
            try await expect(
                desk, token, path, "jobs", "state", of: "1",
                [(100, nil), (84, "waiting"), (48, "running"), (1, "done")])
            let listed = try await rows(desk, path, "jobs", token, hoursAgo: 48)
            #expect(listed.first?["done"]?.isNull == true && listed.first?["endedAt"]?.isNull == true)
            for (hours, done) in [(84, 0), (48, 1), (1, 2)] as [(Int64, Int64)] {
                let one = try await get(desk, "\(path)/1", token, hoursAgo: hours)
                #expect(one.object?.integer("done") == done, "\(one.body)")
                let results = try await rows(desk, "\(path)/1/results", "results", token, hoursAgo: hours)
                let (ended, open) = (
                    results.count { $0.string("outcome") == "done" },
                    results.count { $0.string("resolution") == "open" }
                )
                #expect(Int64(ended) == done && Int64(open) == 2 - done, "\(hours) hours ago")
            }
        }
    }

    @Test("A dead letter is open until it was settled, with the attempts and the letters of then")
    func letters() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            for _ in 0..<2 { _ = try await desk.bury() }
            for statement in [
                """
                update storehook.dead_letters
                   set dead_at = now() - interval '5 days' + (id - 1) * interval '2 days', resolution = 'discarded',
                       resolved_at = now() - (3 - id) * interval '1 day', resolved_by = 'cli:kim', resolved_why = 'junk'
                """,
                "update storehook.outbox_attempts set began_at = now() - interval '7 days', ended_at = now() - interval '6 days'",
                """
                insert into storehook.outbox_attempts (outbox_id, attempt, ended_at, reason)
                select outbox_id, 2, now() - interval '30 hours', 'crashed_worker' from storehook.dead_letters where id = 1
                """,
            ] as [PostgresQuery] { try await desk.observer.query(statement) }
            let path = "/admin/dead-letters"
            for (hours, open, discarded) in [
                (121, [], []), (96, [1], []), (60, [2, 1], []), (36, [2], [1]), (1, [], [2, 1]),
            ] as [(Int64, [Int64], [Int64])] {
                for (query, wanted) in [("", open), ("?resolution=open", open), ("?resolution=discarded", discarded)] {
                    let found = try await rows(desk, path + query, "letters", token, hoursAgo: hours)
                    #expect(found.compactMap { $0.integer("id") } == wanted, "\(query), \(hours) hours ago")
                    for letter in found where wanted == open {
                        #expect(letter["resolvedAt"]?.isNull == true && letter["resolvedBy"]?.isNull == true)
                    }
                }
                let one = try await get(desk, "\(path)/1", token, hoursAgo: hours)
                #expect(one.status == (hours == 121 ? 404 : 200), "\(hours) hours ago: \(one.body)")
                guard let letter = one.object, one.status == 200 else { continue }
                let isOpen = open.contains(1)
                #expect(letter.string("resolution") == (isOpen ? "open" : "discarded"), "\(hours) hours ago")
                #expect(letter["resolvedWhy"]?.isNull == isOpen && letter.elementCount("letters") == 1, "\(one.body)")
                #expect(letter.elementCount("history") == (hours == 1 ? 2 : 1), "\(one.body)")
            }
            let list = try await get(desk, path, token, hoursAgo: 60)
            #expect(list.object?["matching"]?.isNull == true && list.object?["upTo"]?.isNull == true, "\(list.body)")
            #expect(try await desk.get("\(path)?at=yesterday", token).status == 400)
        }
    }

    @Test("A delivery is in the state of the instant, with its calls until then, and is sent again from then on")
    func deliveries() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            for statement in [
                """
                insert into storehook.endpoints (id, url, state, created_by, changed_by, secret)
                values (1, 'https://example.com/1', 'enabled', 'cli:kim', 'cli:kim', decode(repeat('5ec2', 20), 'hex'))
                """,
                """
                insert into storehook.deliveries
                       (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason, ended_at, resent_at)
                values (1, 1, 77, now() - interval '5 days', 1, 'dead', 3, 500, 'http_500', now() - interval '4 days',
                        now() - interval '2 days'),
                       (2, 1, 77, now() - interval '5 days', 1, 'delivered', 1, 200, null, now() - interval '1 day', null)
                """,
                """
                insert into storehook.delivery_attempts (delivery_id, event_id, attempted_at, milliseconds, code, status)
                values (1, 77, now() - interval '120 hours', 5, 'timeout', null), (1, 77, now() - interval '110 hours', 5, 'http_503', 503),
                       (1, 77, now() - interval '96 hours', 5, 'http_500', 500), (2, 77, now() - interval '24 hours', 5, 'http_200', 200)
                """,
            ] as [PostgresQuery] { try await desk.observer.query(statement) }
            let path = "/admin/deliveries"
            for (hours, outcomes, calls) in [
                (121, [], []), (100, ["waiting"], [2]), (72, ["dead"], [3]), (36, ["waiting", "dead"], [0, 3]),
                (1, ["delivered", "dead"], [1, 3]),
            ] as [(Int64, [String], [Int64])] {
                let found = try await rows(desk, path, "deliveries", token, hoursAgo: hours)
                #expect(found.compactMap { $0.string("outcome") } == outcomes, "\(hours) hours ago")
                #expect(found.compactMap { $0.integer("attempts") } == calls, "\(hours) hours ago")
                for outcome in ["waiting", "delivered", "dead"] {
                    let some = try await rows(
                        desk, "\(path)?outcome=\(outcome)", "deliveries", token, hoursAgo: hours)
                    #expect(some.count == outcomes.count { $0 == outcome }, "\(outcome), \(hours) hours ago")
                }
            }
            let waiting = try await get(desk, "\(path)/1", token, hoursAgo: 100)
            #expect(waiting.object?.elementCount("history") == 2 && waiting.object?.integer("status") == 503)
            #expect(waiting.object?.string("reason") == "http_503" && waiting.object?["endedAt"]?.isNull == true)
            #expect(try await get(desk, "\(path)/1", token, hoursAgo: 72).object?["resentAt"]?.isNull == true)
            #expect(try await get(desk, "\(path)/2", token, hoursAgo: 72).status == 404, "it was put back later")
            #expect(try await get(desk, "\(path)/1", token, hoursAgo: 121).status == 404)
            #expect(try await desk.get("\(path)?at=yesterday", token).status == 400)
        }
    }
}
