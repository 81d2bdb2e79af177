import AppStorePayloads
import AuditStore
import NIOHTTP1
import Staff
import TestSupport
import Testing

/// Requests that no honest client sends.
struct StrangeRequestTests {
    @Test("Ids and paths that are not theirs are 404 or 400, never another route and never a fault")
    func paths() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            let long = String(repeating: "a", count: 3000)
            for path in [
                "/admin/subscriptions/..%2fstaff", "/admin/subscriptions/%2e%2e", "/admin/subscriptions/%00",
                "/admin/subscriptions/person-1%00", "/admin/subscriptions/%ff", "/admin/subscriptions/\(long)",
                "/admin/subscriptions//person-1", "/admin/subscriptions/person-1/", "//admin/audit", "/admin/./audit",
                "/admin", "/admin/", "/admin/subscriptions/person-1/unknown", "/v1/account", "/openapi.json",
                "/admin/subscriptions/token:00000000-0000-0000-0000-000000000000",
                "/admin/subscriptions/00000000-0000-0000-0000-000000000000",
                "/admin/subscriptions/'%20or%201=1--", "/admin/subscriptions/person-%31%20",
            ] {
                #expect(try await desk.get(path, token).status == 404, "\(path)")
            }
            // Decoded once: another way to write the same id.
            #expect(try await desk.get("/admin/subscriptions/person-%31", token).status == 200)
            #expect(try await desk.get("/admin/subscriptions/token:\(Desk.token(1))", token).status == 200)
            for (path, status) in [
                ("/admin/purchases/%00/move", 404), ("/admin/purchases/\(long)/move", 404),
                ("/admin/purchases/..%2f10001/move", 404), ("/admin/staff/1%2f2/remove", 404),
                ("/admin/staff/99999999999999999999/remove", 404), ("/admin/staff/\(long)/remove", 404),
            ] {
                let body =
                    path.hasSuffix("/move")
                    ? #"{"environment": "Production", "app": "com.example.app", "account": "person-3", "reason": "why"}"#
                    : #"{"reason": "why"}"#
                #expect(try await desk.post(path, token, body).status == status, "\(path.prefix(60))")
            }
            for query in [
                "actor=%00", "act=\(long)", "from=9999999999999", "account=\(String(repeating: "b", count: 1001))",
                "after=\(long)", "subject=:", "environment=production",
            ] {
                #expect(try await desk.get("/admin/audit?\(query)", token).status == 400, "\(query.prefix(60))")
            }
            #expect(try await desk.get("/admin/audit?actor=%27%3B%20drop%20table%20x", token).status == 200)
        }
    }

    @Test("Other methods are 405, and a body that is no JSON, repeats a member or holds U+0000 is 400")
    func bodies() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            for (method, path) in [
                ("PUT", "/admin/audit"), ("DELETE", "/admin/staff"), ("POST", "/admin/audit"),
                ("GET", "/admin/subscriptions/person-1/grant"), ("PATCH", "/admin/subscriptions/person-1"),
            ] {
                #expect(try await desk.send(method, path, token).status == 405, "\(method) \(path)")
            }
            let before = try await desk.audit.tail()
            for body in [
                #"{"tier": "pro", "days": 1, "reason": "a\u0000b"}"#, #"{"tier": "pro", "days": "1", "reason": "why"}"#,
                #"{"tier": "pro", "days": 1.5, "reason": "why"}"#, #"{"tier": ["pro"], "days": 1, "reason": "why"}"#,
                #"{"tier": "pro", "days": 1, "days": 2, "reason": "why"}"#, "null", "\u{FEFF}{}", #"{"tier": "pro""#,
                #"{"tier": "pro", "days": 99999999999999999999, "reason": "why"}"#,
            ] {
                let answer = try await desk.post("/admin/subscriptions/person-1/grant", token, body)
                #expect(answer.status == 400, "\(body): \(answer.status)")
            }
            #expect(try await desk.audit.tail() == before)
        }
    }

    @Test("An app that is not served cannot be given to a member")
    func apps() async throws {
        try await withDesk(apps: [Desk.app]) { desk in
            let token = try await desk.member(.admin).token
            func add(_ app: String) async throws -> Int {
                try await desk.post(
                    "/admin/staff", token,
                    #"{"mail": "new@example.com", "role": "viewer", "apps": ["\#(app)"], "reason": "why"}"#
                ).status
            }
            #expect(try await add(Desk.other) == 400)
            #expect(try await add(Desk.app) == 200)
        }
    }

    @Test("HEAD answers as GET does without a body, and health needs no token")
    func standing() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            #expect(try await desk.get("/healthz").status == 200)
            let file = try await desk.send("GET", "/admin/audit?format=csv", token)
            #expect(file.headers.first(name: "Content-Disposition") == #"attachment; filename="rows.csv""#)
            let names = desk.judge.paths.values.flatMap(\.values).compactMap { $0["operationId"] as? String }
            #expect(names.count == Set(names).count && names.count == 73)
        }
    }
}
