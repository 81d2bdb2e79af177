import AuditStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook audit")
struct AuditCommandTests {
    /// Six rows: a catalog, and acts for two accounts.
    private func acted(_ body: (Site) async throws -> Void) async throws {
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            for (account, days, why) in [
                ("=cmd|' /C calc'!A0", "3", "=1+1"), ("alice@example.org", "4", "lost a week"),
                ("alice@example.org", "5", "again"),
            ] {
                let done = try await site.run(
                    "grant", account, "--tier", "pro", "--days", days, "--why", why, "--as", "anna")
                #expect(done.ending == .exited(0), "\(done.errors)")
            }
            for command in [["revoke"], ["unrevoke"]] {
                let done = try await site.run(command[0], "alice@example.org", "--why", "by mistake")
                #expect(done.ending == .exited(0), "\(done.errors)")
            }
            try await body(site)
        }
    }

    private func rows(_ outcome: Outcome) throws -> [[String: Any]] {
        try #require((try outcome.json() as? [String: Any])?["rows"] as? [[String: Any]], "\(outcome.errors)")
    }

    @Test("list shows the latest first, by filters that add up, a page after the other")
    func list() async throws {
        try await acted { site in
            let all = try rows(try await site.run("audit", "list"))
            #expect(all.compactMap { $0["place"] as? Int } == [6, 5, 4, 3, 2, 1])
            #expect(
                all.compactMap { $0["act"] as? String } == [
                    "unrevoke", "revoke", "grant", "grant", "grant", "apply_catalog",
                ])
            #expect(all[2]["actor"] as? String == "cli:anna" && all[2]["proven"] as? Bool == false)
            #expect(
                (all[0]["actor"] as? String)?.hasPrefix("cli:") == true
                    && (all[0]["actor"] as? String)?.contains("@") == true)
            func places(_ options: String...) async throws -> [Int] {
                let run = try await runAll(site, ["audit", "list"] + options)
                return try rows(run).compactMap { $0["place"] as? Int }
            }
            #expect(try await places("--account", "alice@example.org") == [6, 5, 4, 3])
            #expect(try await places("--account", "alice@example.org", "--act", "grant") == [4, 3])
            #expect(try await places("--actor", "cli:anna") == [4, 3, 2])
            #expect(try await places("--subject", "catalog:1") == [1])
            #expect(try await places("--environment", "Production") == [6, 5, 4, 3, 2])
            #expect(try await places("--environment", "Sandbox") == [])
            #expect(try await places("--app", "com.example.other") == [])
            #expect(try await places("--from", "2020-01-01", "--limit", "2") == [6, 5])
            #expect(try await places("--from", "2120-01-01") == [])
            #expect(try await places("--to", "2020-01-01") == [])
            let first = try await site.run("audit", "list", "--limit", "4")
            let next = try #require((try first.json() as? [String: Any])?["next"] as? String)
            #expect(try await places("--limit", "4", "--after", next) == [2, 1])
            #expect(
                (try await site.run("audit", "list", "--limit", "4", "--after", next).json() as? [String: Any])?["next"]
                    == nil)
            for wrong in [["--after", "x"], ["--subject", "x"], ["--from", "soon"], ["--why", "x"]] {
                #expect(try await runAll(site, ["audit", "list"] + wrong).ending == .exited(2), "\(wrong)")
            }
        }
    }

    private func runAll(_ site: Site, _ arguments: [String]) async throws -> Outcome {
        let program = try site.start(arguments)
        let outcome = Outcome(
            ending: await program.end(), output: program.output, errors: program.errors,
            outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    @Test("shortens personal texts; opening them is on record, and nothing of them is a formula in a spreadsheet")
    func texts() async throws {
        try await acted { site in
            for command in [
                ["list"], ["list", "--format", "table"], ["list", "--format", "csv"], ["export"],
                ["export", "--format", "csv"],
            ] {
                let shown = try await runAll(site, ["audit"] + command)
                #expect(shown.ending == .exited(0), "\(shown.errors)")
                for text in ["alice@", "lost a week", "by mistake", "calc"] {
                    #expect(!shown.output.contains(text), "\(command): \(shown.output)")
                }
            }
            #expect(try await AuditLog(site.pool).tail().place == 6)
            let shortened = try rows(try await site.run("audit", "list", "--account", "alice@example.org"))
            #expect(shortened[3]["account"] as? String == "al…" && shortened[3]["why"] as? String == "lo…")
            let opened = try await site.run(
                "audit", "list", "--open", "--as", "kim", "--why", "she called", "--format", "csv")
            #expect(opened.output.contains("alice@example.org") && opened.output.contains("lost a week"))
            #expect(opened.output.contains(#""'=cmd|"#) && opened.output.contains("'=1+1"), "\(opened.output)")
            #expect(!opened.output.contains(",=") && !opened.output.contains(#","="#))
            let noted = try #require(try await AuditLog(site.pool).rows(after: 6, through: .max).first)
            #expect(noted.act == "open_personal_text" && noted.actor == "cli:kim" && noted.after == #"{"opened": 10}"#)
            #expect(noted.text.members == ["why": "she called"])
            #expect(try await site.run("audit", "export", "--open").ending == .exited(2), "a reason is needed")
            let exported = try await site.run("audit", "export", "--open", "--why", "the court", "--format", "csv")
            #expect(exported.output.contains("alice@example.org") && exported.output.contains(#""'=cmd|"#))
            let last = try #require(try await AuditLog(site.pool).rows(after: 7, through: .max).first)
            #expect(last.act == "export_personal_text" && last.after == #"{"opened": 6}"#)
        }
    }

    @Test(
        "export ends with count and hash, which verify holds the audit against", arguments: sampled(["json", "csv"]))
    func export(format: String) async throws {
        try await acted { site in
            let exported = try await site.run("audit", "export", "--format", format)
            let lines = exported.output.split(separator: "\n").map(String.init)
            let tail = try await AuditLog(site.pool).tail()
            #expect(lines.count == (format == "json" ? 7 : 8))
            #expect(
                lines.last
                    == (format == "json" ? #"{"count":6,"hash":"\#(tail.hexHash)"}"# : "count,6,hash,\(tail.hexHash)"))
            if format == "csv" {
                #expect(lines[0].hasPrefix("place,at,actor,") && lines[0].hasSuffix(",previous,hash"))
            }
            let file = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            func verify(_ text: String) async throws -> Outcome {
                try Data(text.utf8).write(to: file)
                return try await site.run("audit", "verify", "--since", file.path)
            }
            let whole = try await verify(exported.output)
            #expect(whole.ending == .exited(0), "\(whole)")
            let answer = try #require(try whole.json() as? [String: Any])
            #expect(answer["valid"] as? Bool == true && answer["rows"] as? Int == 6 && answer["exported"] as? Int == 6)
            for part in [
                lines.dropLast().joined(separator: "\n"),
                lines.dropLast(3).joined(separator: "\n") + "\n" + lines.last!, "x",
            ] {
                let cut = try await verify(part)
                #expect(cut.ending == .exited(2) && cut.errorLines == 1, "\(cut)")
            }
            #expect(try await site.run("audit", "verify", "--since", "/nowhere").ending == .exited(2))
            try await site.pool.query("delete from storehook.audit where place = 6")
            try await site.pool.query(
                "update storehook.audit_tail t set place = 5, hash = a.hash from storehook.audit a where a.place = 5")
            #expect(try await site.run("audit", "verify").ending == .exited(0))
            let short = try await verify(exported.output)
            #expect(short.ending == .exited(1))
            let named = try #require(try short.json() as? [String: Any])
            #expect(
                named["fault"] as? String == "cut" && named["place"] as? Int == 6 && named["valid"] as? Bool == false)
        }
    }

    @Test("verify names the first row that was changed, and doctor does too")
    func verify() async throws {
        try await acted { site in
            _ = try await site.run("account", "erase", "alice@example.org", "--as", "kim")
            let whole = try await site.run("audit", "verify", "--format", "table")
            #expect(
                whole.output == """
                    all 7 rows are what was written, each after the one before
                    an erasure took the texts of 4: rows 3-6

                    """, "\(whole)")
            let sound = try await site.run("doctor", "--format", "table")
            #expect(sound.output.contains("the last 7 of 7 rows are what was written"), "\(sound.output)")
            try await site.pool.query("update storehook.audit set after = '{}' where place = 3")
            let changed = try await site.run("audit", "verify", "--format", "table")
            #expect(changed.ending == .exited(1))
            #expect(
                changed.output == """
                    the audit is not what was written: row 3 was changed: it does not have the hash of what it says
                    rows 1 to 2 are as they were written

                    """, "\(changed)")
            let ill = try await site.run("doctor", "--format", "table")
            #expect(ill.output.contains("row 3 was changed"), "\(ill.output)")
        }
    }

    @Test("has what operators do to dead letters, endpoints, keys and the rule of account ids")
    func operators() async throws {
        try await withSite { site in
            try await site.pool.query(
                """
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                select n, now(), 'unverified', 'malformed', 'x', 1 from generate_series(1, 3) n
                """)
            let ids = try await site.pool.query("select id from storehook.dead_letters order by id")
                .map { "\(try $0.decode(0, as: Int64.self))" }
            for command in [
                ["dead-letters", "replay", ids[0], "--why", "mended"],
                ["dead-letters", "discard", ids[1], ids[2], "--why", "probes"],
                ["staff", "token", "--account-api", "--name", "shop"], ["staff", "token", "--revoke", "1"],
                ["account-ids", "set", "uuid", "--yes"], ["consent", UUID().uuidString, "--withdraw"],
            ] {
                let done = try await runAll(site, command + ["--as", "anna"])
                #expect(done.ending == .exited(0), "\(command): \(done.errors)")
            }
            let rows = try await AuditLog(site.pool).rows(after: 0, through: .max)
            #expect(
                rows.map(\.act) == [
                    "replay_dead_letters", "discard_dead_letters", "add_server_key", "revoke_server_key",
                    "change_account_ids",
                    "withdraw_consent",
                ])
            #expect(rows.allSatisfy { $0.actor == "cli:anna" })
            #expect(rows[0].text.members == ["why": "mended"] && rows[0].subject == ids[0])
            #expect(rows[1].subject == "\(ids[1]) and 1 more")
            #expect(
                rows[1].after == #"{"letters": 2, "first_ids": [\#(ids[1]), \#(ids[2])], "resolution": "discarded"}"#)
            #expect(rows[2].after == #"{"valid": true}"# && rows[3].after == #"{"valid": false}"#)
            #expect(rows[2].text.members == ["name": "shop"])
        }
    }

    @Test("--as takes a name on one line")
    func names() async throws {
        try await withSite { site in
            for name in ["", " ", "a\nb", String(repeating: "x", count: 191)] {
                let refused = try await site.run("staff", "token", "--account-api", "--as", name)
                #expect(refused.ending == .exited(2))
            }
        }
    }
}
