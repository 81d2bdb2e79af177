import APIKit
import AccountStore
import AppStorePayloads
import HTTPKit
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

/// Valid and invalid tokens.
struct TokenTests {
    @Test(
        "Without a token, with another kind of secret, or with one that is made up, cut or changed, nothing is answered"
    )
    func wrong() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.admin).token
            for path in ["/admin/audit", "/admin/subscriptions", "/admin/staff", "/admin/subscriptions/person-1"] {
                let missing = try await desk.get(path)
                #expect(missing.status == 401 && missing.code == "token_missing")
                #expect(missing.headers.first(name: "WWW-Authenticate") == #"Bearer realm="storehook""#)
            }
            for bad in [
                StaffSecret().text, ServerKey().text, String(token.dropLast()), token + "a", token.uppercased(), "sht_",
                "sht_" + token, "x",
            ] {
                let answer = try await desk.get("/admin/audit", bad)
                #expect(answer.status == 401 && answer.code == "token_invalid", "\(bad)")
            }
            let twice = try await desk.send(
                "GET", "/admin/audit", token, headers: [("Authorization", "Bearer \(StaffSecret().text)")])
            #expect(twice.status == 401)
            let basic = try await desk.send("GET", "/admin/audit", headers: [("Authorization", "Basic \(token)")])
            #expect(basic.status == 401)
            #expect(try await desk.get("/admin/audit?token=\(token)").status == 401)
            #expect(try await desk.get("/admin/audit", token).status == 200)
        }
    }

    @Test("A token is refused from the moment on at which its member was removed, it was revoked, or it has expired")
    func replay() async throws {
        try await withDesk { desk in
            let (kim, kims) = try await desk.member(.admin, mail: "kim@example.com")
            let (sam, sams) = try await desk.member(.admin, mail: "sam@example.com")
            let (_, leas) = try await desk.member(.admin, mail: "lea@example.com")
            for token in [kims, sams, leas] { #expect(try await desk.get("/admin/audit", token).status == 200) }
            #expect(
                try await desk.post("/admin/staff/\(kim.id)/remove", sams, #"{"reason": "left"}"#).status == 200)
            // No reading of the table lies between.
            #expect(try await desk.get("/admin/audit", kims).status == 401)
            let revoked = try await desk.observer.query(
                "select id from storehook.staff_tokens where member_id = \(sam.id)"
            ).one().decode(0, as: Int64.self)
            _ = try await desk.staff.revokeToken(revoked, of: sam.mail, by: "cli:test")
            #expect(try await desk.get("/admin/audit", sams).status == 401)
            try await desk.observer.query(
                """
                update storehook.staff_tokens set created_at = now() - interval '2 days', expires_at = now() - interval '1 second'
                 where revoked_at is null
                """)
            let expired = try await desk.post(
                "/admin/subscriptions/person-1/grant", leas, #"{"tier": "pro", "days": 1, "reason": "why"}"#)
            #expect(expired.status == 401 && expired.code == "token_invalid")
            // Added again, the member is another one: the old token stays what it is.
            _ = try await desk.staff.add("kim@example.com", as: .admin, of: nil, by: "cli:test")
            #expect(try await desk.get("/admin/audit", kims).status == 401)
        }
    }

    @Test("Another role and other apps count for the next request of a token that was made before")
    func changed() async throws {
        try await withDesk { desk in
            let (_, token) = try await desk.member(.admin, mail: "kim@example.com")
            let body = #"{"tier": "premium", "days": 1, "reason": "why"}"#
            #expect(try await desk.post("/admin/subscriptions/person-1/grant", token, body).status == 200)
            _ = try await desk.staff.add("kim@example.com", as: .viewer, of: nil, by: "cli:test")
            #expect(try await desk.post("/admin/subscriptions/person-1/grant", token, body).status == 403)
            _ = try await desk.staff.add("kim@example.com", as: .admin, of: [Desk.other], by: "cli:test")
            #expect(try await desk.get("/admin/subscriptions/person-1", token).status == 404)
        }
    }

    @Test("A token that the API makes is shown once, works at once, and is in no other answer")
    func made() async throws {
        try await withDesk { desk in
            let (member, token) = try await desk.member(.admin)
            let made = try await desk.post(
                "/admin/staff/\(member.id)/tokens", token, #"{"days": 2, "reason": "a new laptop"}"#)
            let secret = try #require(made.object?.string("token"))
            #expect(made.status == 200 && made.headers.first(name: "Cache-Control") == "no-store")
            try await eventually("it is known") { try await desk.get("/admin/staff", secret).status == 200 }
            for path in ["/admin/staff", "/admin/audit", "/admin/audit?open=true&reason=x"] {
                #expect(!(try await desk.get(path, token).body.contains(secret)))
            }
        }
    }

    @Test("Floods of a member and of an address are bounded, and an address's guesses cost nearly no statements")
    func floods() async throws {
        try await withDesk(adjusting: {
            $0.callerRate = .init(perMinute: 1, burst: 5)
            $0.addressRate = .init(perMinute: 1, burst: 40)
            $0.http.trustedProxies = .init()
        }) { desk in
            let token = try await desk.member(.viewer).token
            var statuses: [Int] = []
            for _ in 0..<8 { statuses.append(try await desk.get("/admin/staff", token).status) }
            #expect(statuses == [200, 200, 200, 200, 200, 429, 429, 429])
            let limited = try await desk.get("/admin/staff", token)
            #expect(limited.code == "rate_limited" && limited.headers.first(name: "Retry-After") != nil)
            let guessed = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<60 {
                    group.addTask { try await desk.get("/admin/staff", StaffSecret().text).status }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(guessed[200] == nil && guessed[429, default: 0] >= 25, "\(guessed)")
        }
    }
}
