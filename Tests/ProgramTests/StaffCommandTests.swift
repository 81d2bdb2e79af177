import AccountStore
import AuditStore
import Foundation
import Postgres
import Simulation
import Staff
import TestSupport
import Testing

@testable import storehook

@Suite("storehook staff")
struct StaffCommandTests {
    @Test("adds, lists and removes members, and shows a token once")
    func members() async throws {
        try await withSite { site in
            let none = try await site.run("staff", "list", "--format", "table")
            #expect(
                none.output == "there are no members of the staff yet: storehook staff add EMAIL --role viewer\n",
                "\(none)")
            let added = try await site.run(
                "staff", "add", "kim@example.com", "--role", "support", "--apps", Site.app.bundleId, "--as", "anna",
                "--format", "table")
            #expect(
                added.output == """
                    added staff 1 (kim@example.com): support of \(Site.app.bundleId)
                    for the console's pages they need a password: storehook staff password kim@example.com
                    for the admin API they need a token: storehook staff token kim@example.com

                    """, "\(added)")
            let made = try await site.run("staff", "token", "kim@example.com", "--days", "30", "--as", "anna")
            let token = try #require(try made.json() as? [String: Any])
            let secret = try #require(token["token"] as? String)
            #expect(secret.hasPrefix("sht_") && token["role"] as? String == "support", "\(made)")
            let listed = try await site.run("staff", "token", "kim@example.com", "--list")
            let tokens = try #require((try listed.json() as? [String: Any])?["tokens"] as? [[String: Any]])
            #expect(
                tokens.count == 1 && !listed.output.contains(secret) && tokens[0]["created_by"] as? String == "cli:anna"
            )
            let csv = try await site.run("staff", "list", "--format", "csv")
            #expect(
                csv.output.hasPrefix("id,mail,role,apps,tokens,") && csv.output.contains("kim@example.com,support"),
                "\(csv)")
            #expect(try await site.run("staff", "token", "kim@example.com", "--revoke", "1").ending == .exited(0))
            #expect(try await site.run("staff", "token", "kim@example.com", "--revoke", "9").ending == .exited(1))
            #expect(try await site.run("staff", "remove", "kim@example.com", "--as", "sam").ending == .exited(0))
            #expect(try await site.run("staff", "remove", "kim@example.com").ending == .exited(1))
            #expect(try await site.run("staff", "token", "kim@example.com").ending == .exited(1))
            let acts = try await AuditLog(site.pool).rows(after: 0, through: .max).map(\.act)
            #expect(acts == ["add_staff", "add_staff_token", "revoke_staff_token", "remove_staff"])
        }
    }

    @Test("gives members passwords, typed or made: stored as a hash, on record, and the end of sessions from before")
    func passwords() async throws {
        try await withSite { site in
            #expect(try await site.run("staff", "password", "kim@example.com", "--generate").ending == .exited(1))
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "admin").ending == .exited(0))
            let made = try await site.run("staff", "password", "kim@example.com", "--generate", "--format", "json")
            let password = try #require((try made.json() as? [String: Any])?["password"] as? String)
            #expect(password.wholeMatch(of: /([a-z2-9]{5}-){3}[a-z2-9]{5}/) != nil, "\(password)")
            let passwords = StaffPasswords(site.pool)
            let hash = try #require(try await passwords.find("KIM@example.com")).hash
            let typed = try #require(StaffPassword(typed: password))
            #expect(hash.matches(typed))
            #expect(!hash.text.contains(password) && hash.text.hasPrefix("$scrypt$ln=15,r=8,p=3$"))
            let secret = SessionSecret()
            #expect(try await ConsoleSessions(site.pool).begin(secret, for: 1, under: hash))
            for (typed, ending) in [
                ("short\n", 2), ("aaaaaaaaaaaaaaa\n", 2), ("kim@example.com\n", 2), ("", 1),
                ("a long enough sentence\n", 0),
            ] as [(String, Int32)] {
                let program = try site.start(["staff", "password", "kim@example.com", "--as", "anna"], input: typed)
                #expect(await program.end() == .exited(ending), "\(typed): \(program.errors)")
                #expect(!program.output.contains("sentence") && !program.errors.contains("sentence"))
                await program.discard()
            }
            #expect(try await ConsoleSessions(site.pool).holder(of: secret) == nil)
            let changed = try #require(try await passwords.find("kim@example.com")).hash
            // The password that was checked is another one's by now.
            #expect(!(try await ConsoleSessions(site.pool).begin(SessionSecret(), for: 1, under: hash)))
            let sentence = try #require(StaffPassword(typed: "a long enough sentence"))
            #expect(changed.matches(sentence) && !changed.matches(typed))
            let acts = try await AuditLog(site.pool).rows(after: 0, through: .max)
            #expect(acts.map(\.act) == ["add_staff", "set_staff_password", "set_staff_password"])
            #expect(acts.last?.actor == "cli:anna" && acts.last?.subject == "1")
            #expect(try await site.run("staff", "remove", "kim@example.com").ending == .exited(0))
            let left = try await site.pool.query("select count(*) from storehook.staff_passwords").one()
            #expect(try left.decode(0) == Int64(0))
        }
    }

    @Test("refuses what is no address, role, app or number of days, in one line")
    func refusals() async throws {
        try await withSite { site in
            for wrong in [
                ["add", "kim", "--role", "viewer"], ["add", "k@e.com", "--role", "owner"], ["add", "k@e.com"],
                ["add", "k@e.com", "--role", "viewer", "--apps", "com.example.unserved"],
                ["add", "k@e.com", "--role", "viewer", "--apps", "a,,b"], ["add", "k m@e.com", "--role", "viewer"],
                ["token", "k@e.com", "--days", "0"], ["token", "k@e.com", "--days", "367"],
                ["token", "k@e.com", "--account-api"], ["token", "--days", "3"], ["token"],
                ["token", "k@e.com", "--list", "--revoke", "1"],
            ] {
                let program = try site.start(["staff"] + wrong)
                #expect(await program.end() == .exited(2), "\(wrong): \(program.errors)")
                #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
                await program.discard()
            }
            #expect(try await AuditLog(site.pool).tail().place == 0)
        }
    }
}
