import AccountStore
import AppStorePayloads
import AuditStore
import Base
import Staff
import TestSupport
import Testing

/// Names and reasons, as each role sees them.
struct PersonalTextTests {
    private func prepared(_ body: (RunningDesk, [StaffRole: String]) async throws -> Void) async throws {
        try await withDesk { desk in
            var tokens: [StaffRole: String] = [:]
            for role in StaffRole.allCases { tokens[role] = try await desk.member(role).token }
            // An act names the account.
            let granted = try await desk.post(
                "/admin/subscriptions/person-1/grant", tokens[.admin],
                #"{"tier": "premium", "days": 5, "reason": "her card was stolen"}"#)
            #expect(granted.status == 200 && !granted.body.contains("person-1"), "\(granted.body)")
            try await body(desk, tokens)
        }
    }

    private static let reads = [
        "/admin/audit", "/admin/audit?format=csv", "/admin/audit?format=ndjson", "/admin/audit?account=person-1",
        "/admin/subscriptions", "/admin/subscriptions?format=csv", "/admin/subscriptions?format=ndjson",
        "/admin/subscriptions/person-1",
    ]

    @Test("Everybody sees them shortened, in every answer and file; nothing of that is on record")
    func shortened() async throws {
        try await prepared { desk, tokens in
            let before = try await desk.audit.tail()
            for role in StaffRole.allCases {
                for path in Self.reads {
                    let answer = try await desk.get(path, tokens[role])
                    #expect(answer.status == 200, "\(path)")
                    #expect(!answer.body.contains("person-1") && !answer.body.contains("stolen"), "\(role) \(path)")
                    #expect(answer.body.contains("pe…"), "\(role) \(path): \(answer.body)")
                }
            }
            for role in [StaffRole.viewer, .support] {
                let staff = try await desk.get("/admin/staff", tokens[role])
                #expect(!staff.body.contains("@example.com") && staff.body.contains("ad…"))
                let file = try await desk.get("/admin/staff?format=csv", tokens[role])
                #expect(!file.body.contains("@example.com") && file.body.contains("ad…"))
            }
            #expect(try await desk.get("/admin/staff", tokens[.admin]).body.contains("admin.0@example.com"))
            let one = try #require(try await desk.staff.list(withRemoved: false).first)
            for role in StaffRole.allCases {
                let shown = try await desk.get("/admin/staff/\(one.id)", tokens[role])
                #expect(shown.status == 200 && shown.object?.integer("id") == one.id, "\(shown.body)")
                #expect(shown.body.contains(one.mail) == (role == .admin), "\(role): \(shown.body)")
                #expect(shown.object?.elementCount("issued") == (role == .admin ? 1 : 0), "\(role): \(shown.body)")
                #expect(shown.object?["passwordSetAt"]?.isNull == true && shown.object?["lastLoginAt"]?.isNull == true)
            }
            #expect(try await desk.get("/admin/staff/4711", tokens[.admin]).status == 404)
            #expect(try await desk.audit.tail() == before)
        }
    }

    @Test(
        "Opening takes the role support, a file a reason as well, and each is on record with the count before anything is shown"
    )
    func opened() async throws {
        try await prepared { desk, tokens in
            for path in Self.reads {
                let opening = path + (path.contains("?") ? "&" : "?") + "open=true"
                #expect(try await desk.get(opening, tokens[.viewer]).status == 403, "\(path)")
                let isFile = path.contains("format=")
                if isFile {
                    for reason in ["", "&reason=%20"] {
                        let answer = try await desk.get(opening + reason, tokens[.support])
                        #expect(answer.status == 400 && answer.body.contains("reason"), "\(path): \(answer.body)")
                    }
                }
                let before = try await desk.audit.tail().place
                let answer = try await desk.get(opening + "&reason=a%20complaint", tokens[.support])
                #expect(answer.status == 200 && answer.body.contains("person-1"), "\(path): \(answer.body)")
                let rows = try await desk.rows(after: before)
                #expect(rows.map(\.act) == [isFile ? "export_personal_text" : "open_personal_text"], "\(path)")
                let row = try #require(rows.first)
                #expect(row.role == "support" && row.actor.hasPrefix("staff:"))
                #expect(row.text.members == ["why": "a complaint"])
                let count = row.after?.firstMatch(of: /"opened": (\d+)/).flatMap { Int($0.output.1) } ?? 0
                #expect(count >= 1, "\(path): \(row.after ?? "")")
                if path.hasSuffix("/person-1") {
                    #expect(row.subjectKind == "account" && row.subject == "\(Desk.token(1))" && count == 2)
                }
                if path.hasPrefix("/admin/subscriptions?") { #expect(count == 1) }
            }
            #expect(try await desk.audit.verify().fault == nil)
        }
    }
}
