import Accounts
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook catalog, account and the acts of staff")
struct AccountCommandTests {
    private static let catalog = """
        app: com.example.app
        tiers:
          - id: free
          - id: pro
        products:
          - {id: monthly, product_id: com.example.pro.monthly, tier: pro, period: month}
        """

    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
        #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
        return path
    }

    @Test("account expiring lists whose access ends within so many days, the catalog's by default")
    func expiring() async throws {
        try await withSite { site in
            let early = try await site.run("account", "expiring")
            #expect(early.ending == .exited(1) && early.errors.contains("no catalog was applied yet"))
            let path = try file(Self.catalog + "\nwarning_days: 3\n")
            #expect(try await site.run("catalog", "apply", path, "--patience", "30").ending == .exited(0))
            for (account, days) in [("user-1", "2"), ("user-2", "5")] {
                let granted = try await site.run("grant", account, "--tier", "pro", "--days", days, "--why", "why")
                #expect(granted.ending == .exited(0), "\(granted.errors)")
            }
            let table = try await site.run("account", "expiring", "--format", "table")
            #expect(table.output.contains("user-1") && !table.output.contains("user-2"), "\(table)")
            let json = try await site.run("account", "expiring", "--days", "5", "--format", "json")
            let answer = try #require(try json.json() as? [String: Any])
            let accounts = try #require(answer["accounts"] as? [[String: Any]])
            #expect(accounts.map { $0["account"] as? String } == ["user-1", "user-2"])
            #expect(accounts.map { $0["days_left"] as? Int } == [2, 5] && answer["days"] as? Int == 5)
            let few = try await site.run("account", "expiring", "--days", "9", "--limit", "1", "--format", "table")
            #expect(few.output.contains("--limit") && !few.output.contains("user-2"))
            #expect(try await site.run("account", "expiring", "--days", "-1").ending == .exited(2))
        }
    }

    @Test("where a policy's file and the catalog both decide about refunds the catalog counts, and it is said")
    func twice() async throws {
        try await withSite { site in
            let rules = "  - answer: {delivery_status: DELIVERED, sample_content_provided: false}\n"
            let policy = ["STOREHOOK_CONSUMPTION_POLICY": try file("rules:\n" + rules)]
            let applied = try await site.run("catalog", "apply", try file(Self.catalog + "\nrefunds:\n" + rules))
            #expect(applied.ending == .exited(0), "\(applied.errors)")
            try await site.with(["work"], policy) { worker in
                let line = "The file of STOREHOOK_CONSUMPTION_POLICY does not count"
                try await eventually("it is said") { worker.errors.contains(line) }
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
                #expect(worker.errors.components(separatedBy: line).count == 2, "\(worker.errors)")
            }
            try await site.with(["work"]) { worker in
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
                #expect(!worker.errors.contains("STOREHOOK_CONSUMPTION_POLICY"), "\(worker.errors)")
            }
            let doctor = try await site.run("doctor", "--format", "json", with: policy)
            #expect(doctor.output.contains("the current catalog has refunds, which count alone"), "\(doctor.output)")
            let one = try await site.run("doctor", "--format", "json")
            #expect(one.output.contains("no key for"), "\(one.output)")
        }
    }

    private struct Shown: Decodable {
        struct Act: Decodable {
            var kind: String
            var why: String?
            var by: String?
        }

        var tier: String
        var status: String
        var access: Bool
        var acts: [Act]
    }

    private func shown(_ site: Site, _ account: String) async throws -> Shown {
        let outcome = try await site.run("account", account, "--format", "json")
        #expect(outcome.ending == .exited(0), "\(outcome.errors)")
        return try JSONDecoder().decode(Shown.self, from: Data(outcome.output.utf8))
    }

    @Test("a catalog is compared, applied and shown; an account is acted for on record, explained and erased")
    func whole() async throws {
        try await withSite { site in
            let early = try await site.run("grant", "user-42", "--tier", "pro", "--days", "3", "--why", "why")
            #expect(early.ending == .exited(1) && early.errors.contains("no catalog was applied yet"))
            #expect(try await site.run("catalog", "show").ending == .exited(1))
            let path = try file(Self.catalog)
            #expect(try await site.run("catalog", "diff", path).ending == .exited(1))
            let applied = try await site.run("catalog", "apply", path)
            #expect(applied.ending == .exited(0), "\(applied.errors)")
            let printed = try await site.run("catalog", "show")
            #expect(printed.output.hasPrefix("# catalog ") && printed.output.contains(Self.catalog))
            let broken = try await site.run("catalog", "apply", try file("tiers: 5"))
            #expect(broken.ending == .exited(1) && !broken.errors.contains("\n\n"))

            let steps: [(arguments: [String], tier: String, status: String)] = [
                (["grant", "user-42", "--tier", "pro", "--days", "30"], "pro", "active"),
                (["extend", "user-42", "--days", "7"], "pro", "active"),
                (["change-tier", "user-42", "--tier", "free"], "free", "free"),
                (["revoke", "user-42"], "free", "revoked"), (["unrevoke", "user-42"], "free", "free"),
            ]
            for step in steps {
                let program = try site.start(step.arguments + ["--why", "asked for it", "--format", "json"])
                let ending = await program.end()
                #expect(ending == .exited(0), "\(step.arguments): \(program.errors)")
                await program.discard()
                let account = try await shown(site, "user-42")
                #expect(account.tier == step.tier && account.status == step.status, "\(step.arguments)")
            }
            let account = try await shown(site, "user-42")
            #expect(account.acts.map(\.kind) == ["grant", "extend", "change_tier", "revoke", "unrevoke"])
            #expect(account.acts.allSatisfy { $0.why == "asked for it" && $0.by?.contains("@") == true })
            let table = try await site.run("account", "user-42", "--format", "table")
            #expect(table.output.contains("asked for it") && table.output.contains("tier free"))

            #expect(try await site.run("revoke", "user-42").ending == .exited(2))
            #expect(try await site.run("account", "nobody").ending == .exited(1))
            let erased = try await site.run("account", "erase", "user-42", "--format", "table")
            #expect(erased.ending == .exited(0), "\(erased.errors)")
            #expect(erased.output.contains("5  texts of staff") && erased.output.contains("5  without who and why"))
            let emptied = try await shown(site, "user-42").acts
            #expect(emptied.map(\.kind) == account.acts.map(\.kind))
            #expect(emptied.allSatisfy { $0.why == nil && $0.by == nil })
            #expect(try await shown(site, "user-42").status == "free")
        }
    }

    @Test(
        "an act leaves a line with the account's token, what it was and is, its end and why, and never the account's id"
    )
    func line() async throws {
        try await withSite { site in
            #expect(try await site.run("catalog", "apply", try file(Self.catalog)).ending == .exited(0))
            let id = "ann@example.com"
            let granted = try await site.run(
                "grant", id, "--tier", "pro", "--days", "30", "--why", "ann@example.com, not xann@example.com, wrote")
            #expect(granted.ending == .exited(0), "\(granted.errors)")
            let line = try #require(
                try JSONSerialization.jsonObject(with: Data(granted.errors.utf8)) as? [String: String])
            let token = AccountToken.of(id).description
            #expect(line["message"] == "Staff has acted for an account" && line["level"] == "info")
            #expect(line["app_account_token"] == token && line["act"] == "grant" && line["by"]?.contains("@") == true)
            #expect(
                line["tier_before"] == "free" && line["status_before"] == "free" && line["environment"] == "Production")
            #expect(line["tier"] == "pro" && line["status"] == "active" && line["ends"]?.hasPrefix("20") == true)
            #expect(line["reason"] == "\(token), not [e-mail address], wrote" && line["number"] != nil)
            let blocked = try await site.run("revoke", id, "--why", "why")
            #expect(blocked.errors.contains(token) && !blocked.errors.contains(id), "\(blocked.errors)")
        }
    }

    @Test("an account whose last event says something else than its status is found, and told by a rebuild")
    func untold() async throws {
        try await withSite { site in
            #expect(try await site.run("catalog", "apply", try file(Self.catalog)).ending == .exited(0))
            let granted = try await site.run("grant", "user-42", "--tier", "pro", "--days", "30", "--why", "a gift")
            #expect(granted.ending == .exited(0), "\(granted.errors)")
            try await site.pool.query(
                """
                update storehook.telling_walks w set catalog = c.current_version
                  from storehook.catalog_state c where w.what = 'accounts'
                """)
            let sound = try await site.run("rebuild", "--check")
            #expect(sound.ending == .exited(0), "\(sound.output)\(sound.errors)")
            #expect(try await !site.run("doctor").output.contains("says something else"))
            try await site.pool.query("update storehook.access_tellings set told = null, catalog = null, due_at = null")
            let found = try await site.run("rebuild", "--check")
            #expect(found.ending == .exited(1) && found.output.contains("access_tellings"), "\(found.output)")
            #expect(try await site.run("doctor").output.contains("the last event of 1 of 1 accounts"))
            #expect(try await site.run("rebuild").ending == .exited(0))
            #expect(try await site.run("rebuild", "--check").ending == .exited(0))
            let told: [String] = try await site.pool.query(
                "select sequence || ' ' || kind from storehook.events order by sequence"
            ).map { try $0.decode(0) }
            #expect(told == ["1 account.access_changed", "2 account.access_changed"])
            // The clock knows its end again.
            #expect(try await site.value("select due_at > now() from storehook.access_tellings"))
            // What it is to come is missing, too.
            try await site.pool.query("update storehook.access_tellings set due_at = null")
            let endless = try await site.run("rebuild", "--check")
            #expect(endless.ending == .exited(1) && endless.output.contains("due_at"), "\(endless.output)")
        }
    }
}
