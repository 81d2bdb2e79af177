import AccountStore
import AppStorePayloads
import AuditStore
import Staff
import TestSupport
import Testing

/// What staff of some apps see and do.
struct ScopeTests {
    @Test("Staff of some apps do nothing to an account, and with all apps of the catalog do everything")
    func acts() async throws {
        try await withDesk { desk in
            let some = try await desk.member(.admin, of: [Desk.app]).token
            let all = try await desk.member(.admin, of: [Desk.app, Desk.other]).token
            let grant = #"{"tier": "premium", "days": 3, "reason": "why"}"#
            for path in ["extend", "grant", "revoke", "unrevoke", "change-tier"] {
                let body =
                    switch path {
                    case "grant": grant
                    case "extend": #"{"days": 3, "reason": "why"}"#
                    case "change-tier": #"{"tier": "pro", "reason": "why"}"#
                    default: #"{"reason": "why"}"#
                    }
                let answer = try await desk.post("/admin/subscriptions/person-1/\(path)", some, body)
                #expect(answer.status == 403 && answer.code == "forbidden", "\(path): \(answer.body)")
            }
            #expect(try await desk.post("/admin/subscriptions/person-9/grant", all, grant).status == 200)
            // With the act an account that has bought nothing.
            let shown = try await desk.get("/admin/subscriptions/person-9", all)
            #expect(shown.status == 200 && shown.object?.elementCount("acts") == 1)
            #expect(try await desk.get("/admin/subscriptions/person-9", some).status == 404)
            #expect(try await desk.get("/admin/subscriptions", all).object?.elementCount("accounts") == 3)
        }
    }

    @Test("Another app's purchase is 404, like one that does not exist; one of theirs is 403")
    func moves() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin, of: [Desk.app]).token
            func move(_ id: String, _ app: String) async throws -> Answer {
                try await desk.post(
                    "/admin/purchases/\(id)/move", token,
                    #"{"environment": "Production", "app": "\#(app)", "account": "person-3", "reason": "why"}"#)
            }
            let (theirs, none) = (try await move("10002", Desk.other), try await move("77777", Desk.other))
            #expect(theirs.status == 404 && theirs.body == none.body)
            #expect(try await move("10001", Desk.app).status == 403)
            #expect(try await move("77777", Desk.app).status == 403, "whether it exists shows nowhere")
        }
    }

    @Test("Another app's accounts are neither listed nor shown, and of their own no other app's purchase and no act is")
    func accounts() async throws {
        try await withDesk { desk in
            let all = try await desk.member(.support)
            let some = try await desk.member(.support, of: [Desk.app]).token
            // Both apps' purchases in one account, with the status of the other app's.
            try await desk.buy([Desk.entry(Desk.purchase(3, of: Desk.other), "best", for: Desk.token(1), number: 3)])
            _ = try await desk.post(
                "/admin/subscriptions/person-1/extend", all.token, #"{"days": 1, "reason": "why"}"#)
            let list = try await desk.get("/admin/subscriptions", some)
            #expect(list.status == 200 && list.object?.elementCount("accounts") == 1)
            #expect(list.body.contains("\(Desk.token(1))") && !list.body.contains("\(Desk.token(2))"))
            #expect(!list.body.contains(Desk.other) && !list.body.contains("10003"), "\(list.body)")
            #expect(list.body.contains(#""tier":"premium""#))
            #expect(try await desk.get("/admin/subscriptions", all.token).object?.elementCount("accounts") == 2)
            let shown = try await desk.get("/admin/subscriptions/person-1", some)
            #expect(shown.status == 200 && shown.object?.elementCount("purchases") == 1, "\(shown.body)")
            #expect(shown.object?.elementCount("acts") == 0)
            #expect(!shown.body.contains(Desk.other) && !shown.body.contains("10003") && shown.body.contains("10001"))
            let whole = try await desk.get("/admin/subscriptions/person-1", all.token)
            #expect(whole.object?.elementCount("purchases") == 2 && whole.object?.elementCount("acts") == 1)
            let (other, none) = (
                try await desk.get("/admin/subscriptions/person-2", some),
                try await desk.get("/admin/subscriptions/nobody", some)
            )
            #expect(other.status == 404 && other.body == none.body)
            #expect(try await desk.get("/admin/subscriptions/person-2", all.token).status == 200)
            // Filters find nothing of it either.
            for query in ["app=\(Desk.other)", "app=\(Desk.other)&product=best", "app=\(Desk.app)&product=best"] {
                let found = try await desk.get("/admin/subscriptions?\(query)", some)
                #expect(found.object?.elementCount("accounts") == 0, "\(query): \(found.body)")
            }
            #expect(try await desk.get("/admin/subscriptions?product=best", some).status == 400)
        }
    }

    @Test("They see the rows of the audit that name one of their apps, in pages and files, with every filter")
    func audit() async throws {
        try await withDesk { desk in
            let admin = try await desk.member(.admin).token
            let some = try await desk.member(.viewer, of: [Desk.app]).token
            for (id, app) in [("10001", Desk.app), ("10002", Desk.other)] {
                let moved = try await desk.post(
                    "/admin/purchases/\(id)/move", admin,
                    #"{"environment": "Production", "app": "\#(app)", "account": "person-3", "reason": "why"}"#)
                #expect(moved.status == 200, "\(moved.body)")
            }
            for query in [
                "", "?act=move", "?app=\(Desk.app)", "?subject=purchase:10001", "?format=csv", "?format=ndjson",
            ] {
                let answer = try await desk.get("/admin/audit\(query)", some)
                #expect(answer.status == 200 && answer.body.contains("10001"), "\(query): \(answer.body)")
                #expect(
                    !answer.body.contains("10002") && !answer.body.contains("add_staff"), "\(query): \(answer.body)")
            }
            for query in ["?app=\(Desk.other)", "?subject=purchase:10002", "?act=add_staff", "?account=person-2"] {
                #expect(try await desk.get("/admin/audit\(query)", some).object?.elementCount("rows") == 0, "\(query)")
            }
            #expect(try await desk.get("/admin/audit?app=\(Desk.other)", admin).object?.elementCount("rows") == 1)
        }
    }

    @Test("An admin of some apps makes no staff and no token: else any of them could become staff of all")
    func escalation() async throws {
        try await withDesk { desk in
            let boss = try await desk.member(.admin)
            let some = try await desk.member(.admin, of: [Desk.app, Desk.other])
            let before = try await desk.place()
            for (path, body) in [
                ("/admin/staff", #"{"mail": "\#(some.member.mail)", "role": "admin", "reason": "why"}"#),
                ("/admin/staff/\(boss.member.id)/tokens", #"{"reason": "why"}"#),
                ("/admin/staff/\(boss.member.id)/remove", #"{"reason": "why"}"#),
            ] {
                #expect(try await desk.post(path, some.token, body).status == 403, "\(path)")
            }
            #expect(try await desk.rows(after: before).isEmpty)
        }
    }
}
