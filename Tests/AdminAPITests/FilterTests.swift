import AppStorePayloads
import AuditStore
import Staff
import TestSupport
import Testing

/// Filters of lists that the staff shares.
struct FilterTests {
    private static func body(_ page: String, _ name: String, _ qualifiers: String) -> String {
        #"{"page": "\#(page)", "name": "\#(name)", "qualifiers": \#(qualifiers)}"#
    }

    private func names(_ answer: Answer) -> [String] {
        answer.object?["filters"]?.elements?.compactMap { $0.object?.string("name") } ?? []
    }

    @Test("One that support saves is seen by all, fits its list, and is removed for all")
    func life() async throws {
        try await withDesk { desk in
            var tokens: [StaffRole: String] = [:]
            for role in StaffRole.allCases { tokens[role] = try await desk.member(role).token }
            let body = Self.body("orders", "Refunds in euros", #"{"status": "refunded", "currency": "EUR"}"#)
            #expect(try await desk.post("/admin/filters", tokens[.viewer], body).status == 403)
            let saved = try await desk.post("/admin/filters", tokens[.support], body)
            #expect(saved.status == 201, "\(saved.body)")
            #expect(saved.object?.string("madeBy")?.hasPrefix("staff:") == true)
            let again = try await desk.post(
                "/admin/filters", tokens[.admin], body.replacing("Refunds", with: "refunds"))
            #expect(again.status == 409 && again.code == "filter_exists", "\(again.body)")
            let list = try await desk.get("/admin/filters?page=orders", tokens[.viewer])
            #expect(names(list) == ["Refunds in euros"] && list.body.contains(#""qualifiers":{"status":"refunded","#))
            #expect(names(try await desk.get("/admin/filters?page=audit", tokens[.viewer])).isEmpty)
            #expect(try await desk.get("/admin/filters?page=staff", tokens[.viewer]).status == 400)
            #expect(
                try await desk.get("/admin/orders?status=refunded&currency=EUR", tokens[.viewer]).status == 200,
                "its members are those of the list's query")
            let id = try #require(saved.object?.integer("id"))
            #expect(try await desk.send("POST", "/admin/filters/\(id)/remove", tokens[.viewer]).status == 403)
            #expect(try await desk.send("POST", "/admin/filters/\(id)/remove", tokens[.support]).status == 200)
            for path in ["\(id)", "x", "-1", "99999999999999999999"] {
                let gone = try await desk.send("POST", "/admin/filters/\(path)/remove", tokens[.support])
                #expect(gone.status == 404, "\(path): \(gone.body)")
            }
            #expect(names(try await desk.get("/admin/filters", tokens[.viewer])).isEmpty)
        }
    }

    @Test("It names no person: only codes and ids in members that are meant for it, and nothing that the list refuses")
    func bounds() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.support).token
            for (page, qualifiers) in [
                ("orders", #"{"search": "kim"}"#), ("orders", #"{"account": "person-1"}"#),
                ("orders", #"{"open": "true"}"#),
                ("orders", #"{"status": "gone"}"#), ("orders", #"{"currency": "EURO"}"#),
                ("orders", #"{"product": "kim@example.com"}"#), ("orders", #"{"product": "Kim Example"}"#),
                ("orders", #"{"product": ""}"#), ("orders", #"{"product": 7}"#), ("orders", "{}"), ("orders", "[]"),
                ("orders", #"{"product": "\#(String(repeating: "a", count: 256))"}"#),
                ("audit", #"{"actor": "cli:kim"}"#), ("audit", #"{"subject": "account:1"}"#),
                ("dead-letters", #"{"text": "kim"}"#), ("subscriptions", #"{"endingWithin": "soon"}"#),
                ("deliveries", #"{"account": "kim"}"#), ("consumption-requests", #"{"days": "0"}"#),
                ("staff", #"{"role": "admin"}"#), ("jobs", #"{"state": "done", "state": "failed"}"#),
            ] {
                let answer = try await desk.post("/admin/filters", token, Self.body(page, "a name", qualifiers))
                #expect(answer.status == 400, "\(page) \(qualifiers.prefix(60)): \(answer.body)")
                #expect(!answer.body.contains("kim"), "\(answer.body)")
            }
            for name in ["", "  ", "kim@example.com", "a\\nb", String(repeating: "n", count: 61)] {
                let body = Self.body("jobs", name, #"{"state": "done"}"#)
                let answer = try await desk.post("/admin/filters", token, body)
                #expect(answer.status == 400, "\(name): \(answer.body)")
            }
            for (page, qualifiers) in [
                ("subscriptions", #"{"endingWithin": "7", "status": "active", "erased": "false"}"#),
                ("dead-letters", #"{"type": "TEST", "reason": "malformed", "resolution": "open"}"#),
                ("refund-requests", #"{"state": "pending", "notRefunded": "true"}"#), ("audit", #"{"act": "grant"}"#),
                ("consumption-requests", #"{"state": "open", "sort": "due", "days": "7"}"#),
                ("deliveries", #"{"endpoint": "1", "outcome": "dead"}"#), ("endpoints", #"{"state": "paused"}"#),
                ("extensions", #"{"unfinished": "true"}"#),
            ] {
                let answer = try await desk.post("/admin/filters", token, Self.body(page, "名前", qualifiers))
                #expect(answer.status == 201, "\(page): \(answer.body)")
            }
        }
    }

    @Test("Staff of some apps see no filter that names another app, and save none")
    func scope() async throws {
        try await withDesk { desk in
            let all = try await desk.member(.support).token
            let some = try await desk.member(.support, of: [Desk.app]).token
            let theirs = try await desk.post(
                "/admin/filters", all, Self.body("orders", "theirs", #"{"app": "\#(Desk.other)"}"#))
            _ = try await desk.post("/admin/filters", some, Self.body("orders", "ours", #"{"app": "\#(Desk.app)"}"#))
            _ = try await desk.post("/admin/filters", all, Self.body("orders", "of all", #"{"tier": "pro"}"#))
            #expect(names(try await desk.get("/admin/filters", all)) == ["of all", "ours", "theirs"])
            #expect(names(try await desk.get("/admin/filters", some)) == ["of all", "ours"])
            let refused = try await desk.post(
                "/admin/filters", some, Self.body("orders", "mine", #"{"app": "\#(Desk.other)"}"#))
            #expect(refused.status == 400)
            let id = try #require(theirs.object?.integer("id"))
            #expect(try await desk.send("POST", "/admin/filters/\(id)/remove", some).status == 404)
            #expect(names(try await desk.get("/admin/filters", all)).contains("theirs"))
        }
    }
}
