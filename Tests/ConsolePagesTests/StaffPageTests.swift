import AccountStore
import AuditStore
import Base
import Postgres
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// The staff, as its members see it.
@Suite("Pages of the staff")
struct StaffPageTests {
    @Test("The list says who has a password and who logged in when, and leads to each member with their tokens")
    func members() async throws {
        try await withPages { pages in
            let (kim, _) = try await pages.staff.add("kim@example.com", as: .support, of: [Shop.app], by: "cli:test")
            let admin = try await pages.browser(.admin)
            let list = try await admin.get("/staff")
            expectWhole(list, "staff")
            for part in ["Password set", "Last login", "kim@example.com", "Support", Shop.app] {
                #expect(list.body.contains(part), "\(part): \(list.body)")
            }
            #expect(HTMLJudge(list.body).links.contains("/staff/\(kim.id)"))
            let page = try await admin.get("/staff/\(kim.id)")
            expectWhole(page, "kim")
            #expect(page.body.contains("Without a password there is no login"), "\(page.body)")
            #expect(page.body.contains("storehook staff password kim@example.com") && page.body.contains("No tokens."))
            try await pages.setPassword(RunningPages.password, of: kim.mail)
            #expect(try await Browser(pages).logIn(kim.mail).status == 303)
            let known = try #require(try await pages.staff.member(kim.id))
            let (set, login) = (try #require(known.passwordSetAt), try #require(known.lastLoginAt))
            #expect(login >= set)
            let after = try await admin.get("/staff/\(kim.id)")
            #expect(!after.body.contains("Without a password"), "\(after.body)")
            for instant in [set, login] {
                #expect(after.body.contains(ZonedTime.text(Timestamp(instant), in: PageView.utc)), "\(after.body)")
            }
            // The last login stays known when the session has ended.
            try await pages.observer.query(
                "delete from storehook.console_sessions where member_id = \(kim.id)")
            #expect(try await pages.staff.member(kim.id)?.lastLoginAt == login)
            #expect(try await admin.get("/staff/4711").status == 404)
            #expect(try await admin.get("/staff/x").status == 404)
        }
    }

    @Test("An admin changes a member from their page; others see no tokens and no whole address, and change nothing")
    func acts() async throws {
        try await withPages { pages in
            let (kim, _) = try await pages.staff.add("kim@example.com", as: .support, of: nil, by: "cli:test")
            let admin = try await pages.browser(.admin)
            let page = try await admin.get("/staff/\(kim.id)")
            let place = try await pages.place()
            var change = try #require(HTMLJudge(page.body).sent(to: "/staff"))
            #expect(change["mail"] == kim.mail)
            change.merge(["role": "viewer", "apps": Shop.app, "reason": "moved"]) { _, own in own }
            #expect(try await admin.post("/staff", change).location == "/staff?done=add")
            var token = try #require(HTMLJudge(page.body).sent(to: "/staff/tokens"))
            token.merge(["days": "3", "reason": "for a script"]) { _, own in own }
            #expect(try await admin.post("/staff/tokens", token).status == 200)
            let changed = try await admin.get("/staff/\(kim.id)")
            expectWhole(changed, "changed")
            #expect(changed.body.contains("Viewer") && changed.body.contains(Shop.app))
            let number = try #require(try await pages.staff.tokens(of: kim.mail).first?.id)
            var revoke = try #require(HTMLJudge(changed.body).sent(to: "/staff/tokens/revoke"))
            revoke.merge(["token": "\(number)", "reason": "done"]) { _, own in own }
            #expect(try await admin.post("/staff/tokens/revoke", revoke).location == "/staff?done=revoke")
            let revoked = try await admin.get("/staff/\(kim.id)")
            #expect(HTMLJudge(revoked.body).sent(to: "/staff/tokens/revoke") == nil, "no token is valid")
            let viewer = try await pages.browser(.viewer)
            let seen = try await viewer.get("/staff/\(kim.id)")
            expectWhole(seen, "seen")
            #expect(!seen.body.contains(kim.mail) && !seen.body.contains("Number of the token"), "\(seen.body)")
            #expect(HTMLJudge(seen.body).sent(to: "/staff") == nil)
            var remove = try #require(HTMLJudge(revoked.body).sent(to: "/staff/remove"))
            remove["reason"] = "left"
            #expect(try await admin.post("/staff/remove", remove).status == 303)
            let gone = try await admin.get("/staff/\(kim.id)")
            expectWhole(gone, "gone")
            #expect(gone.status == 200 && HTMLJudge(gone.body).sent(to: "/staff/remove") == nil)
            let acts = try await pages.rows(after: place).map(\.act)
            // The viewer became one in between.
            let viewers: Set = ["add_staff", "set_staff_password"]
            #expect(
                acts.filter { !viewers.contains($0) } == [
                    "change_staff", "add_staff_token", "revoke_staff_token", "remove_staff",
                ])
        }
    }
}
