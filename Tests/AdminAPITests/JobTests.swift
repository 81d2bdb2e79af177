import AccountStore
import AppStorePayloads
import AuditStore
import Base
import EvidenceStore
import Operations
import Postgres
import Staff
import TestSupport
import Testing

/// Acts on many dead letters at once, as staff ask for them and look at them.
struct JobTests {
    /// Asks for a job of the letters that a list names.
    private func make(
        _ desk: RunningDesk, _ token: String, _ act: String, filter: String = "{}", confirming count: Int64? = nil
    ) async throws -> Answer {
        let list = try await desk.get("/admin/dead-letters?limit=1", token)
        let (matching, upTo) = (list.object?.integer("matching") ?? 0, list.object?.integer("upTo") ?? 0)
        return try await desk.post(
            "/admin/jobs", token,
            #"{"act": "\#(act)", "filter": \#(filter), "upTo": \#(upTo), "confirmed": \#(count ?? matching), "reason": "repaired"}"#
        )
    }

    private func letters(_ desk: RunningDesk, _ count: Int, of app: String? = Desk.app) async throws {
        for _ in 0..<count { _ = try await desk.bury(of: app) }
    }

    @Test("One has the letters that were confirmed, goes on without whoever asked, and says what became of each")
    func life() async throws {
        try await withDesk { desk in
            let (member, token) = try await desk.member(.support)
            try await letters(desk, 3)
            _ = try await desk.bury(reason: "malformed")
            let place = try await desk.place()
            let made = try await make(desk, token, "replay", filter: #"{"reason": "wrong_bundle"}"#, confirming: 3)
            #expect(made.status == 201, "\(made.body)")
            #expect(made.object?.integer("total") == 3 && made.object?.string("state") == "waiting")
            #expect(made.object?.integer("later") == 0 && made.object?.string("actor") == member.actor)
            #expect(made.object?.object("filter")?.string("reason") == "wrong_bundle")
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["replay_dead_letters"] && rows.first?.actor == member.actor)
            #expect(rows.first?.text.members == ["why": "repaired"])
            #expect(rows.first?.after?.contains(#""letters": 3"#) == true)
            let id = try #require(made.object?.integer("id"))
            #expect(try await desk.jobService.work())
            let done = try await desk.get("/admin/jobs/\(id)", token)
            #expect(done.object?.string("state") == "done" && done.object?.integer("done") == 3, "\(done.body)")
            #expect(!done.body.contains("repaired"))
            let results = try await desk.get("/admin/jobs/\(id)/results?limit=2", token)
            #expect(results.object?.elementCount("results") == 2)
            let next = try #require(results.object?.string("next"))
            let rest = try await desk.get("/admin/jobs/\(id)/results?limit=2&after=\(next)", token)
            #expect(rest.object?.elementCount("results") == 1 && rest.object?["next"]?.isNull == true)
            #expect(rest.body.contains(#""outcome":"done""#))
            let file = try await desk.get("/admin/jobs/\(id)/results?format=csv", token)
            #expect(file.body.split(separator: "\n").count == 4)
            #expect(try await desk.rows(after: place).count == 1, "what a worker does is on record with the job")
            #expect(try await desk.get("/admin/dead-letters", token).object?.integer("matching") == 1)
            let before = try await desk.place()
            let opened = try await desk.get("/admin/jobs?open=true&state=done", token)
            #expect(opened.body.contains("repaired"))
            #expect(try await desk.rows(after: before).map(\.act) == ["open_personal_text"])
            #expect(try await desk.get("/admin/jobs?state=running", token).object?.elementCount("jobs") == 0)
            #expect(try await desk.get("/admin/jobs?state=gone", token).status == 400)
        }
    }

    @Test("Where another number of letters matches it is 409 with that number, and there is no job")
    func changed() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            try await letters(desk, 2)
            let place = try await desk.place()
            for count: Int64 in [1, 3] {
                let answer = try await make(desk, token, "discard", confirming: count)
                #expect(answer.status == 409 && answer.code == "letter_count_changed", "\(answer.body)")
                #expect(answer.object?.integer("matching") == 2)
            }
            let upTo = try await desk.get("/admin/dead-letters", token).object?.integer("upTo") ?? 0
            try await letters(desk, 1)
            let body = #"{"act": "discard", "filter": {}, "upTo": \#(upTo), "confirmed": 2, "reason": "repaired"}"#
            #expect(try await desk.rows(after: place).isEmpty)
            let made = try await desk.post("/admin/jobs", token, body)
            #expect(made.status == 201 && made.object?.integer("later") == 1, "\(made.body)")
        }
    }

    @Test("Staff may ask for a job, and stop one, where they may do so letter by letter")
    func roles() async throws {
        try await withDesk { desk in
            var tokens: [StaffRole: String] = [:]
            for role in StaffRole.allCases { tokens[role] = try await desk.member(role).token }
            try await letters(desk, 1)
            let place = try await desk.place()
            for (role, act) in [
                (StaffRole.viewer, "rehearse"), (.viewer, "replay"), (.viewer, "discard"), (.support, "discard"),
            ] {
                let answer = try await make(desk, try #require(tokens[role]), act)
                #expect(answer.status == 403 && answer.code == "forbidden", "\(role) \(act): \(answer.body)")
            }
            let discard = try await make(desk, try #require(tokens[.admin]), "discard")
            let id = try #require(discard.object?.integer("id"))
            let stop = #"{"reason": "the wrong ones"}"#
            for role in [StaffRole.viewer, .support] {
                #expect(try await desk.post("/admin/jobs/\(id)/stop", tokens[role], stop).status == 403)
            }
            #expect(try await desk.tries(at: "POST /admin/jobs") == 4)
            #expect(try await desk.tries(at: "POST /admin/jobs/{id}/stop") == 2)
            let stopped = try await desk.post("/admin/jobs/\(id)/stop", tokens[.admin], stop)
            #expect(stopped.status == 200 && stopped.object?.bool("isStopping") == true, "\(stopped.body)")
            let again = try await desk.post("/admin/jobs/\(id)/stop", tokens[.admin], stop)
            #expect(again.status == 409 && again.code == "job_over", "\(again.body)")
            #expect(try await desk.jobService.work())
            let ended = try await desk.get("/admin/jobs/\(id)", tokens[.viewer])
            #expect(ended.object?.string("state") == "stopped" && ended.object?.integer("done") == 0)
            #expect(try await desk.rows(after: place).map(\.act) == ["discard_dead_letters", "stop_job"])
            #expect(try await desk.post("/admin/jobs/4711/stop", tokens[.admin], stop).status == 404)
            #expect(try await desk.audit.verify().fault == nil)
        }
    }

    @Test("What is wrong in it is 400, and costs nothing")
    func badInput() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            try await letters(desk, 1)
            let (place, good) = (
                try await desk.place(),
                [
                    "act": #""discard""#, "filter": "{}", "upTo": "9", "confirmed": "1", "reason": #""why""#,
                ]
            )
            func answer(_ change: (inout [String: String]) -> Void) async throws -> Answer {
                var members = good
                change(&members)
                let body = members.map { "\"\($0)\": \($1)" }.sorted().joined(separator: ", ")
                return try await desk.post("/admin/jobs", token, "{\(body)}")
            }
            for (name, value) in [
                ("act", #""drop""#), ("act", "null"), ("filter", "[]"), ("filter", #"{"status": "x"}"#),
                ("filter", #"{"since": "yesterday"}"#), ("filter", #"{"ids": []}"#), ("filter", #"{"ids": ["1"]}"#),
                ("filter", #"{"ids": [1.5]}"#),
                ("filter", #"{"ids": [\#((1...1001).map(String.init).joined(separator: ","))]}"#),
                ("filter", #"{"text": "\#(String(repeating: "a", count: 201))"}"#), ("upTo", "-1"), ("confirmed", "0"),
                ("confirmed", "100001"), ("perSecond", "0"), ("perSecond", "1001"), ("reason", #"" ""#), ("more", "1"),
            ] {
                let refused = try await answer { $0[name] = value }
                #expect(refused.status == 400, "\(name) \(value.prefix(40)): \(refused.body)")
            }
            for name in ["act", "filter", "upTo", "confirmed", "reason"] {
                #expect(try await answer { $0[name] = nil }.status == 400, "without \(name)")
            }
            let many = try await answer { ($0["act"], $0["confirmed"]) = (#""rehearse""#, "5001") }
            #expect(many.status == 400 && many.code == "too_many_letters", "\(many.body)")
            #expect(try await desk.rows(after: place).isEmpty)
            for path in ["0", "4711", "x", "-1", "99999999999999999999"] {
                #expect(try await desk.get("/admin/jobs/\(path)", token).status == 404, "\(path)")
                #expect(try await desk.get("/admin/jobs/\(path)/results", token).status == 404, "\(path)")
            }
        }
    }

    @Test("Staff of some apps have jobs of their apps' letters alone, and see no other job")
    func scope() async throws {
        try await withDesk { desk in
            let all = try await desk.member(.admin).token
            let some = try await desk.member(.admin, of: [Desk.app]).token
            try await letters(desk, 2)
            try await letters(desk, 1, of: Desk.other)
            try await letters(desk, 1, of: nil)
            let wide = try await make(desk, all, "discard")
            let own = try await make(desk, some, "replay")
            #expect(wide.object?.integer("total") == 4 && own.object?.integer("total") == 2, "\(own.body)")
            let (wideID, ownID) = (try #require(wide.object?.integer("id")), try #require(own.object?.integer("id")))
            let list = try await desk.get("/admin/jobs", some)
            #expect(list.object?.elementCount("jobs") == 1 && list.body.contains("\"id\":\(ownID),"), "\(list.body)")
            let none = try await desk.get("/admin/jobs/4711", some)
            let theirs = try await desk.get("/admin/jobs/\(wideID)", some)
            #expect(theirs.status == 404 && theirs.body == none.body)
            #expect(try await desk.get("/admin/jobs/\(wideID)/results", some).status == 404)
            #expect(try await desk.post("/admin/jobs/\(wideID)/stop", some, #"{"reason": "why"}"#).status == 404)
            #expect(try await desk.get("/admin/jobs", all).object?.elementCount("jobs") == 2)
            let other = try await make(desk, some, "discard", filter: #"{"app": "\#(Desk.other)"}"#, confirming: 1)
            #expect(other.status == 409 && other.object?.integer("matching") == 0)
        }
    }
}
