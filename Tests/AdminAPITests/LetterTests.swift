import AppStorePayloads
import AuditStore
import Base
import EvidenceStore
import Operations
import Postgres
import Staff
import TestSupport
import Testing

extension RunningDesk {
    var outbox: Outbox { Outbox(observer) }

    /// A dead letter of these bytes.
    /// - Parameter app: as the letter says itself.
    /// - Returns: its number.
    func bury(
        _ text: String = "not a JWS", of app: String? = Desk.app, reason: String = "wrong_bundle"
    ) async throws -> Int64 {
        try await outbox.store([Array(text.utf8)])
        let lease = Lease(owner: "test", duration: .seconds(60))
        let claimed = try await outbox.claim(1, for: lease)
        let code = try #require(ReasonCode(rawValue: reason))
        try await observer.withTransaction { session in
            _ = try Outbox.table.acknowledge(claimed.rows.map(\.id), token: lease.token, session)
            try Outbox.bury(
                claimed.rows.map {
                    DeadLetterDraft($0, reason: code, message: "a message", type: "SUBSCRIBED", bundleID: app)
                }, session)
            try Outbox.note(
                claimed.rows.map { EvidenceAttempt($0, by: "here:1", from: claimed.claimedAt, reason: code) }, session)
        }
        return try await observer.query("select max(id) from storehook.dead_letters").one().decode(0)
    }

    /// Carries jobs out as a worker does.
    var jobService: JobService {
        JobService(JobStore(observer), name: "test", logger: quiet) { filter in
            var report = ReplayDryRun.Report()
            report.letters = filter.ids?.count ?? 0
            return report
        }
    }

    /// How often a member tried what they may not do, also before the minute ended.
    func tries(at route: String) async throws -> Int64 {
        try await observer.query(
            """
            select coalesce(sum(tries), 0)::bigint
              from (select route, tries from storehook.forbidden_tries
                    union all
                    select subject, (after::jsonb ->> 'tries')::bigint from storehook.audit where act = 'forbidden') t
             where t.route = \(route)
            """
        ).one().decode(0)
    }
}

/// Dead letters, as staff see and settle them.
struct LetterTests {
    private static let why = #"{"reason": "repaired"}"#
    /// `{"alg":"ES256"}`, `{"notificationType":"TEST","data":{"signedTransactionInfo":"e30.e30.x"}}`, and no signature.
    private static let jws = [
        #"{"alg":"ES256"}"#, #"{"notificationType":"TEST","data":{"signedTransactionInfo":"e30.e30.x"}}"#, "x",
    ].map { String(decoding: Base64.url.encode(Array($0.utf8)), as: UTF8.self) }.joined(separator: ".")

    @Test("A list is filtered by type, reason, app, instant and text, with how many match and up to which letter")
    func list() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            let first = try await desk.bury(reason: "malformed")
            let second = try await desk.bury(of: Desk.other)
            let third = try await desk.bury(of: nil)
            func ids(_ query: String) async throws -> [Int64] {
                let answer = try await desk.get("/admin/dead-letters\(query)", token)
                #expect(answer.status == 200, "\(query): \(answer.body)")
                let found = answer.object?["letters"]?.elements?.compactMap { $0.object?.integer("id") } ?? []
                if !query.contains("limit"), !query.contains("resolution") {
                    #expect(answer.object?.integer("matching") == Int64(found.count), "\(query): \(answer.body)")
                    #expect(answer.object?.integer("upTo") == third && answer.object?["among"]?.isNull == true)
                    #expect(answer.object?["downTo"]?.isNull == true && answer.object?["lookedThrough"]?.isNull == true)
                }
                return found
            }
            #expect(try await ids("") == [third, second, first])
            #expect(try await ids("?limit=1") == [third])
            #expect(try await ids("?type=SUBSCRIBED&reason=wrong_bundle") == [third, second])
            #expect(try await ids("?app=\(Desk.other)") == [second])
            #expect(try await ids("?text=MALF") == [first])
            #expect(try await ids("?since=2020-01-01T00:00:00Z&type=TEST").isEmpty)
            #expect(try await ids("?since=2099-01-01").isEmpty)
            #expect(try await ids("?resolution=discarded").isEmpty)
            let settled = try await desk.get("/admin/dead-letters?resolution=replayed", token)
            #expect(settled.object?["matching"]?.isNull == true && settled.object?["upTo"]?.isNull == true)
            let file = try await desk.get("/admin/dead-letters?format=csv", token)
            #expect(file.status == 200 && file.body.split(separator: "\n").count == 4)
            for query in [
                "since=yesterday", "type=", "resolution=gone", "text=\(String(repeating: "a", count: 201))", "after=x",
                "after=1/2", "limit=0",
            ] {
                #expect(try await desk.get("/admin/dead-letters?\(query)", token).status == 400, "\(query.prefix(40))")
            }
            #expect(try await desk.get("/admin/dead-letters").status == 401)
        }
    }

    @Test("Beyond what one page looks through it says so and goes on, and a job of a part names the part")
    func bound() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            try await desk.observer.query(
                """
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                select 1000000 + n, now(), 'unverified', 'malformed', case when n in (1, 2, 10050) then 'a needle' else 'hay' end, 1
                  from generate_series(1, 10050) n
                """)
            let list = try await desk.get("/admin/dead-letters?text=needle&limit=2", token)
            #expect(
                list.object?.elementCount("letters") == 1 && list.object?.integer("lookedThrough") == 10_000,
                "\(list.body)")
            #expect(list.object?.integer("matching") == 1 && list.object?.integer("among") == 10_000)
            let (upTo, downTo) = (
                try #require(list.object?.integer("upTo")), try #require(list.object?.integer("downTo"))
            )
            let next = try #require(list.object?.string("next"))
            let rest = try await desk.get("/admin/dead-letters?text=needle&after=\(next)", token)
            #expect(rest.object?.elementCount("letters") == 2 && rest.object?["next"]?.isNull == true, "\(rest.body)")
            func make(_ part: String) async throws -> Answer {
                try await desk.post(
                    "/admin/jobs", token,
                    #"{"act": "discard", "filter": {"text": "needle"}, "upTo": \#(upTo), \#(part)"confirmed": 1, "reason": "junk"}"#
                )
            }
            let whole = try await make("")
            #expect(whole.status == 409 && whole.object?.integer("matching") == 3, "\(whole.body)")
            let made = try await make(#""downTo": \#(downTo), "#)
            #expect(made.status == 201 && made.object?.integer("total") == 1, "\(made.body)")
            #expect(made.object?.object("filter")?.integer("downTo") == downTo)
            // What no text narrows down is bounded as well.
            let all = try await desk.get("/admin/dead-letters", token)
            #expect(all.object?.integer("matching") == 10_000 && all.object?.integer("among") == 10_000)
            #expect(all.object?["lookedThrough"]?.isNull == true, "the page is full")
        }
    }

    @Test("A letter has what it says, decoded, its attempts, and how it stands on the queue once it is replayed")
    func show() async throws {
        try await withDesk { desk in
            let support = try await desk.member(.support).token
            let id = try await desk.bury(Self.jws, reason: "malformed_payload")
            let letter = try await desk.get("/admin/dead-letters/\(id)", support)
            #expect(letter.status == 200, "\(letter.body)")
            let shown = try #require(letter.object)
            #expect(shown.object("header")?.string("alg") == "ES256")
            #expect(shown.object("payload")?.string("notificationType") == "TEST")
            let part = shown["parts"]?.elements?.first?.object
            #expect(part?.string("name") == "data.signedTransactionInfo" && part?["payload"]?.object != nil)
            #expect(shown.string("jws") == Self.jws && shown["queued"]?.isNull == true)
            let attempt = shown["history"]?.elements?.first?.object
            #expect(shown.elementCount("history") == 1 && attempt?.string("worker") == "here:1")
            #expect(attempt?.string("reason") == "malformed_payload" && attempt?.integer("attempt") == 1)
            #expect((attempt?.integer("workedMilliseconds") ?? -1) >= 0)
            #expect((attempt?.integer("waitedMilliseconds") ?? -1) >= 0)
            let replayed = try await desk.post("/admin/dead-letters/\(id)/replay", support, Self.why)
            #expect(replayed.status == 200 && replayed.object?.string("resolution") == "replayed", "\(replayed.body)")
            #expect(!replayed.body.contains("repaired"), "the reason is shortened")
            let after = try await desk.get("/admin/dead-letters/\(id)", support)
            #expect(after.object?.object("queued")?.string("lastReason") == "malformed_payload", "\(after.body)")
            #expect(after.object?.elementCount("letters") == 1 && !after.body.contains("repaired"))
            let before = try await desk.place()
            let list = try await desk.get("/admin/dead-letters?resolution=replayed&open=true", support)
            #expect(list.object?.elementCount("letters") == 1 && !list.body.contains("repaired"), "no list opens them")
            let opened = try await desk.get("/admin/dead-letters/\(id)?open=true", support)
            #expect(opened.object?.string("resolvedWhy") == "repaired")
            #expect(try await desk.rows(after: before).map(\.act) == ["open_personal_text"])
            let viewer = try await desk.member(.viewer).token
            #expect(try await desk.get("/admin/dead-letters/\(id)?open=true", viewer).status == 403)
            for path in ["0", "99999", "-1", "1a", "9999999999999999999", "%00"] {
                #expect(try await desk.get("/admin/dead-letters/\(path)", viewer).status == 404, "\(path)")
            }
        }
    }

    @Test("Bytes that are no JWS are shown as they came, and what would take much memory is not decoded")
    func strangeBytes() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            func encoded(_ text: String) -> String {
                String(decoding: Base64.url.encode(Array(text.utf8)), as: UTF8.self)
            }
            let many = "[" + String(repeating: "1,", count: 60_000) + "1]"
            for text in [
                "not a JWS", "a.b", "...", "\(encoded("[]")).\(encoded("[]")).x", "e30.\(encoded("{\"a\":\(many)}")).x",
                "e30.\(encoded("{\"data\":[{}]}")).x",
            ] {
                let answer = try await desk.get("/admin/dead-letters/\(try await desk.bury(text))", token)
                #expect(answer.status == 200, "\(text.prefix(40)): \(answer.body.prefix(400))")
                #expect(answer.object?.string("jws") == text && answer.object?.elementCount("parts") == 0)
            }
            let gone = try await desk.bury()
            try await desk.observer.query("delete from storehook.outbox")
            let answer = try await desk.get("/admin/dead-letters/\(gone)", token)
            #expect(answer.status == 200 && answer.object?["jws"]?.isNull == true, "\(answer.body)")
            #expect(answer.object?.string("unreadable") == "its bytes are gone")
        }
    }

    @Test("Replay and dry run take the role support, discard takes admin; each is once, with a reason, and on record")
    func roles() async throws {
        try await withDesk { desk in
            var tokens: [StaffRole: String] = [:]
            for role in StaffRole.allCases { tokens[role] = try await desk.member(role).token }
            let id = try await desk.bury()
            let before = try await desk.place()
            for (role, part) in [
                (StaffRole.viewer, "dry-run"), (.viewer, "replay"), (.viewer, "discard"), (.support, "discard"),
            ] {
                let body = part == "dry-run" ? nil : Self.why
                let answer = try await desk.send("POST", "/admin/dead-letters/\(id)/\(part)", tokens[role], body)
                #expect(answer.status == 403 && answer.code == "forbidden", "\(role) \(part): \(answer.body)")
            }
            #expect(try await desk.tries(at: "POST /admin/dead-letters/{id}/discard") == 2)
            for body in ["{}", #"{"reason": " "}"#, #"{"reason": "why", "force": true}"#, "[]", "", "{"] {
                for part in ["replay", "discard"] {
                    let answer = try await desk.post("/admin/dead-letters/\(id)/\(part)", tokens[.admin], body)
                    #expect(answer.status == 400, "\(part) \(body): \(answer.body)")
                }
            }
            #expect(try await desk.rows(after: before).isEmpty)
            #expect(try await desk.post("/admin/dead-letters/\(id)/discard", tokens[.admin], Self.why).status == 200)
            let row = try #require(try await desk.rows(after: before).first)
            #expect(row.act == "discard_dead_letters" && row.subject == "\(id)" && row.app == Desk.app)
            #expect(row.role == "admin" && row.text.members == ["why": "repaired"])
            for part in ["dry-run", "replay", "discard"] {
                let body = part == "dry-run" ? nil : Self.why
                let again = try await desk.send("POST", "/admin/dead-letters/\(id)/\(part)", tokens[.admin], body)
                #expect(again.status == 409 && again.code == "dead_letter_settled", "\(part): \(again.body)")
                #expect(again.object?.string("resolution") == "discarded")
                let none = try await desk.send("POST", "/admin/dead-letters/4711/\(part)", tokens[.admin], body)
                #expect(none.status == 404 && none.code == "dead_letter_not_found")
            }
            #expect(try await desk.rows(after: before).count == 1)
        }
    }

    @Test("Two who replay one letter at once put it on the queue once, and one of them is answered 409")
    func together() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            let id = try await desk.bury()
            async let first = desk.post("/admin/dead-letters/\(id)/replay", token, Self.why)
            async let second = desk.post("/admin/dead-letters/\(id)/replay", token, Self.why)
            #expect([try await first.status, try await second.status].sorted() == [200, 409])
            let queued: Int64 = try await desk.observer.query("select count(*) from storehook.outbox_queue").one()
                .decode(0)
            #expect(queued == 1)
        }
    }

    @Test("A dry run is done by a worker: 200 with its report, or 202 where none is there, and the letter is as it was")
    func dryRun() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            let id = try await desk.bury()
            let place = try await desk.place()
            async let asked = desk.send("POST", "/admin/dead-letters/\(id)/dry-run", token)
            try await eventually("there is a job") { try await desk.jobService.work() }
            let answer = try await asked
            #expect(answer.status == 200 && answer.object?.string("state") == "done", "\(answer.body)")
            #expect(answer.object?.object("report")?.integer("letters") == 1)
            let list = try await desk.get("/admin/jobs", token)
            #expect(list.object?["jobs"]?.elements?.first?.object?["report"]?.isNull == true, "\(list.body)")
            let waiting = try await desk.send("POST", "/admin/dead-letters/\(id)/dry-run", token)
            #expect(waiting.status == 202 && waiting.object?.string("state") == "waiting", "\(waiting.body)")
            let job = try #require(waiting.object?.integer("id"))
            #expect(try await desk.jobService.work())
            #expect(try await desk.get("/admin/jobs/\(job)", token).object?.string("state") == "done")
            #expect(try await desk.get("/admin/dead-letters/\(id)", token).object?.string("resolution") == "open")
            #expect(try await desk.rows(after: place).isEmpty, "nothing was done")
        }
    }

    @Test("Staff of some apps see and settle the letters that name one of these; others are as if they were not there")
    func scope() async throws {
        try await withDesk { desk in
            let some = try await desk.member(.admin, of: [Desk.app]).token
            let own = try await desk.bury()
            let (other, nameless) = (try await desk.bury(of: Desk.other), try await desk.bury(of: nil))
            let list = try await desk.get("/admin/dead-letters", some)
            #expect(list.object?.elementCount("letters") == 1 && list.object?.integer("matching") == 1, "\(list.body)")
            #expect(!list.body.contains(Desk.other))
            let theirs = try await desk.get("/admin/dead-letters?app=\(Desk.other)", some)
            #expect(theirs.object?.elementCount("letters") == 0)
            let none = try await desk.get("/admin/dead-letters/4711", some)
            for id in [other, nameless] {
                let answer = try await desk.get("/admin/dead-letters/\(id)", some)
                #expect(answer.status == 404 && answer.body == none.body)
                for part in ["dry-run", "replay", "discard"] {
                    let body = part == "dry-run" ? nil : Self.why
                    #expect(try await desk.send("POST", "/admin/dead-letters/\(id)/\(part)", some, body).status == 404)
                }
            }
            #expect(try await desk.post("/admin/dead-letters/\(own)/replay", some, Self.why).status == 200)
        }
    }
}
