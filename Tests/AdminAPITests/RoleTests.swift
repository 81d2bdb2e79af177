import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Postgres
import Staff
import TestSupport
import Testing

/// Every act by every role.
struct RoleTests {
    /// An act, and the least role that may do it.
    struct Act: Sendable, CustomTestStringConvertible {
        var path: String
        var body: String
        var role: StaffRole
        var act: String
        var after: String
        var testDescription: String { path }

        init(_ path: String, _ members: String, _ role: StaffRole, _ act: String, after: String) {
            self.path = path
            body = #"{\#(members.isEmpty ? "" : members + ", ")"reason": "asked by mail"}"#
            (self.role, self.act, self.after) = (role, act, after)
        }
    }

    private static let ofAccount = "/admin/subscriptions/person-1"
    /// As it stands in JSON.
    private static let anotherCatalog = (Desk.catalog + "\nwarning_days: 5\n").replacing("\n", with: #"\n"#)
    /// In an order in which each can be done.
    static let acts: [Act] = [
        Act(ofAccount + "/extend", #""days": 7"#, .support, "extend", after: #""given_days": 7"#),
        Act(
            ofAccount + "/grant", #""tier": "premium", "days": 90"#, .support, "grant",
            after: #""given_tier": "premium""#),
        Act(ofAccount + "/extend", #""days": 91"#, .admin, "extend", after: #""given_days": 91"#),
        Act(ofAccount + "/grant", #""tier": "premium", "days": 91"#, .admin, "grant", after: #""given_days": 91"#),
        Act(ofAccount + "/change-tier", #""tier": "pro""#, .admin, "change_tier", after: #""tier": "pro""#),
        Act(
            ofAccount + "/extend", #""days": 9, "withApple": true"#, .support, "request_extension", after: #""days": 9"#
        ),
        Act("/admin/extensions/{extension}/close", "", .admin, "close_extension", after: #""state": "closed""#),
        Act(ofAccount + "/revoke", "", .admin, "revoke", after: #""status": "revoked""#),
        Act(ofAccount + "/unrevoke", "", .admin, "unrevoke", after: #""tier": "p"#),
        Act(
            "/admin/purchases/10001/move",
            #""environment": "Production", "app": "com.example.app", "account": "person-3""#, .admin, "move",
            after: "\(Desk.token(3))"),
        Act(
            "/admin/catalog/apply", #""catalog": "\#(anotherCatalog)""#, .admin, "apply_catalog",
            after: #""version": 2"#),
        Act("/admin/staff", #""mail": "new@example.com", "role": "viewer""#, .admin, "add_staff", after: "viewer"),
        Act("/admin/staff/{new}/tokens", #""days": 3"#, .admin, "add_staff_token", after: "expires_at"),
        Act("/admin/staff/{new}/tokens/{token}/revoke", "", .admin, "revoke_staff_token", after: "null"),
        Act("/admin/staff/{new}/remove", "", .admin, "remove_staff", after: "removed"),
    ]

    @Test(
        "Each act by each role is on record with who, when, why, before and after; or it is 403, changes nothing, and is counted"
    )
    func acts() async throws {
        try await withDesk { desk in
            var members: [StaffRole: (id: Int64, token: String)] = [:]
            for role in StaffRole.allCases {
                let (member, token) = try await desk.member(role)
                members[role] = (member.id, token)
            }
            var places: [String: String] = [:]
            for act in Self.acts {
                let path = places.reduce(act.path) { $0.replacing($1.key, with: $1.value) }
                for role in StaffRole.allCases where role < act.role {
                    let before = try await desk.place()
                    let answer = try await desk.post(path, try #require(members[role]).token, act.body)
                    #expect(answer.status == 403 && answer.code == "forbidden", "\(role) \(path): \(answer.body)")
                    let changes = try await desk.rows(after: before).map(\.act)
                    #expect(changes.isEmpty, "\(role) \(path): \(changes)")
                }
                let (id, token) = try #require(members[act.role])
                let (before, began) = (try await desk.audit.tail().place, try await desk.now())
                let answer = try await desk.post(path, token, act.body)
                #expect([200, 202].contains(answer.status), "\(act.role) \(path): \(answer.body)")
                let rows = try await desk.rows(after: before)
                #expect(rows.count == 1, "\(path): \(rows.map(\.act))")
                let row = try #require(rows.first)
                #expect(
                    row.actor == "staff:\(id)" && row.isProven && row.role == act.role.rawValue && row.act == act.act)
                let span = began.millisecondsSince1970...(try await desk.now().millisecondsSince1970)
                #expect(span.contains(row.at.millisecondsSince1970))
                #expect(row.text.members["why"] == "asked by mail", "\(act.act): \(row.text.members)")
                #expect(row.after?.contains(act.after) == true, "\(act.act): \(row.after ?? "")")
                let first: Set = ["request_extension", "add_staff", "add_staff_token"]
                #expect((row.before == nil) == first.contains(act.act), "\(act.act): \(row.before ?? "")")
                if act.act == "request_extension" {
                    places["{extension}"] = "\(try #require(answer.object?.integer("extension")))"
                }
                if act.act == "add_staff" { places["{new}"] = "\(try #require(answer.object?.integer("id")))" }
                if act.act == "add_staff_token" {
                    places["{token}"] = "\(try #require(answer.object?.integer("id")))"
                }
            }
            #expect(try await desk.audit.verify().fault == nil)
            // What was refused: a row for each member and route, with the number of tries.
            try await desk.pass(minutes: 1)
            try await eventually("the minute is on record") {
                try await desk.observer.query("select storehook.record_forbidden_tries()")
                return try await desk.observer.query("select count(*) from storehook.forbidden_tries").one().decode(0)
                    == Int64(0)
            }
            var tries: [String: Int64] = [:]
            for row in try await desk.audit.rows(after: 0, through: .max) where row.act == "forbidden" {
                #expect(row.subjectKind == "route" && row.isProven && row.text.members.isEmpty)
                // More than one where a minute ended in between.
                tries["\(row.role) \(row.subject)", default: 0] +=
                    row.after?.firstMatch(of: /"tries": (\d+)/).flatMap { Int64($0.output.1) } ?? 0
            }
            let extend = "POST /admin/subscriptions/{account}/extend"
            #expect(tries["viewer \(extend)"] == 3 && tries["support \(extend)"] == 1, "\(tries)")
            #expect(tries["viewer POST /admin/staff"] == 1 && tries["support POST /admin/staff/{member}/remove"] == 1)
            #expect(tries.keys.allSatisfy { !$0.hasPrefix("admin") })
        }
    }

    /// Those about refunds and notes have tests of their own: they take a note in the place of the reason. So have dead letters, jobs and endpoints. A search,
    /// a filter, and the question what a catalog would change are no acts.
    @Test(
        "Every route that changes something has an act in the test above, and refuses who sends no reason, a blank one, or more than is described"
    )
    func bodies() async throws {
        try await withDesk { desk in
            let writing = desk.judge.paths.filter { $0.value["post"] != nil }.map(\.key)
                .filter { path in
                    path != "/admin/catalog/diff"
                        && ![
                            "refund-requests", "notes", "dead-letters", "jobs", "search", "filters", "endpoints",
                            "deliveries",
                        ].contains {
                            path.contains($0)
                        }
                }
            #expect(
                Set(writing)
                    == Set(
                        Self.acts.map {
                            $0.path.replacing("person-1", with: "{account}").replacing(
                                "10001", with: "{originalTransactionId}"
                            )
                            .replacing("{new}", with: "{member}").replacing("{extension}", with: "{id}")
                        }))
            let token = try await desk.member(.admin).token
            let before = try await desk.audit.tail()
            for act in Self.acts {
                let path = ["{new}", "{token}", "{extension}"].reduce(act.path) { $0.replacing($1, with: "1") }
                for body in [
                    act.body.replacing(#""reason": "asked by mail""#, with: #""reason": "  ""#),
                    act.body.replacing(/,? ?"reason": "asked by mail"/, with: ""),
                    act.body.replacing(#""reason""#, with: #""force": true, "reason""#),
                    act.body.replacing("asked by mail", with: String(repeating: "x", count: 1001)), "[]", "{", "",
                ] {
                    let answer = try await desk.post(path, token, body)
                    #expect(answer.status == 400, "\(path) \(body): \(answer.status) \(answer.body)")
                }
                let long = try await desk.post(path, token, #"{"reason": "\#(String(repeating: "x", count: 70_000))"}"#)
                #expect(long.status == (path.contains("/catalog/") ? 400 : 413))
            }
            #expect(try await desk.audit.tail() == before)
        }
    }

    @Test("What cannot be done is refused with a code, and leaves no row")
    func refusals() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            let before = try await desk.audit.tail()
            for (path, members, status, code) in [
                ("/admin/subscriptions/person-1/grant", #""tier": "gold", "days": 1"#, 400, "unknown_tier"),
                ("/admin/subscriptions/person-1/grant", #""tier": "free", "days": 1"#, 409, "lowest_tier"),
                ("/admin/subscriptions/person-1/grant", #""tier": "pro", "days": 0"#, 400, "invalid_request"),
                ("/admin/subscriptions/person-9/extend", #""days": 1"#, 409, "no_access"),
                ("/admin/subscriptions/person-9/extend", #""days": 1, "withApple": true"#, 409, "no_subscription"),
                ("/admin/subscriptions/person-1/extend", #""days": 91, "withApple": true"#, 400, "invalid_request"),
                ("/admin/subscriptions/person-1/unrevoke", "", 409, "not_revoked"),
                ("/admin/subscriptions/person-9/revoke", "", 409, "nothing_there"),
                (
                    "/admin/purchases/99999/move",
                    #""environment": "Production", "app": "com.example.app", "account": "person-1""#, 404, "not_found"
                ), ("/admin/staff", #""mail": "nobody", "role": "viewer""#, 400, "invalid_request"),
                ("/admin/staff", #""mail": "a@example.com", "role": "owner""#, 400, "invalid_request"),
                ("/admin/staff", #""mail": "a@example.com", "role": "viewer", "apps": []"#, 400, "invalid_request"),
                ("/admin/staff/99/remove", "", 404, "not_found"), ("/admin/staff/-1/remove", "", 404, "not_found"),
                ("/admin/staff/99/tokens", "", 404, "not_found"),
                ("/admin/staff/1/tokens", #""days": 367"#, 400, "invalid_request"),
                ("/admin/staff/1/tokens/99/revoke", "", 404, "not_found"),
            ] {
                let answer = try await desk.post(
                    path, token, "{\(members.isEmpty ? "" : members + ", ")\"reason\": \"why\"}")
                #expect(answer.status == status && answer.code == code, "\(path) \(members): \(answer.body)")
            }
            #expect(try await desk.audit.tail() == before)
            let body = #"{"days": 3, "withApple": true, "reason": "why"}"#
            #expect(try await desk.post("/admin/subscriptions/person-1/extend", token, body).status == 202)
            let second = try await desk.post("/admin/subscriptions/person-1/extend", token, body)
            #expect(second.status == 409 && second.code == "extension_under_way")
        }
    }

    @Test(
        "Tries are one row for a member, a route and a minute, also where two consoles record at once, and none while the minute runs"
    )
    func tries() async throws {
        try await withDesk { desk in
            let (kim, kims) = try await desk.member(.viewer, mail: "kim@example.com")
            let (sam, sams) = try await desk.member(.viewer, mail: "sam@example.com")
            let body = #"{"days": 1, "reason": "why"}"#
            for token in [kims, kims, sams] {
                #expect(try await desk.post("/admin/subscriptions/person-1/extend", token, body).status == 403)
                #expect(try await desk.post("/admin/subscriptions/person-2/extend", token, body).status == 403)
            }
            // As if all of it had been in one minute.
            try await desk.observer.query(
                """
                with taken as (delete from storehook.forbidden_tries returning *)
                insert into storehook.forbidden_tries (member_id, route, minute, tries)
                select member_id, route, date_trunc('minute', now()) - interval '2 minutes', sum(tries) from taken group by 1, 2
                """)
            let tries = ForbiddenTries(desk.observer)
            async let first = tries.record()
            async let second = tries.record()
            _ = try await (first, second)
            let rows = try await desk.audit.rows(after: 0, through: .max).filter { $0.act == "forbidden" }
            let found = rows.map { "\($0.actor) \($0.after?.firstMatch(of: /"tries": \d+/)?.output ?? "")" }
            #expect(found == [#"staff:\#(kim.id) "tries": 4"#, #"staff:\#(sam.id) "tries": 2"#])
            _ = try await desk.post("/admin/subscriptions/person-1/extend", kims, body)
            try await desk.observer.query(
                "update storehook.forbidden_tries set minute = date_trunc('minute', now() + interval '1 minute')")
            #expect(try await tries.record() == 0)
        }
    }
}
