import Accounts
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook accounts list, subscriptions list and find")
struct ListCommandTests {
    private static let catalog = """
        app: com.example.app
        tiers:
          - id: free
          - id: pro
        products:
          - {id: monthly, product_id: com.example.pro.monthly, tier: pro, period: month}
        """
    private static let token = "7f1de78e-0d4e-4c5e-9d3c-000000000001"

    private func apply(_ site: Site) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
        #expect(FileManager.default.createFile(atPath: path, contents: Data(Self.catalog.utf8)))
        let applied = try await site.run("catalog", "apply", path, "--patience", "30")
        #expect(applied.ending == .exited(0), "\(applied.errors)")
    }

    /// Two subscriptions as the ledger writes them: one with an account's token, and one without.
    private func write(_ site: Site) async throws {
        try await site.pool.query(
            """
            insert into storehook.subscriptions
                   (environment, bundle_id, original_transaction_id, app_account_token, phase_starts, phase_status, phase_product,
                    phase_expires, phase_trial, paid_until, phase_basis, phase_transaction, phase_period_ends, phase_grace_ends,
                    phase_will_renew, phase_renewal_product, phase_price_pending, phase_intent, phase_account)
            select 'Sandbox', 'com.example.app', t.id, t.token, array['2026-01-01Z'::timestamptz, '2126-01-01Z'],
                   array['cancelled', 'expired'], array['com.example.pro.monthly', 'com.example.pro.monthly'],
                   array['2126-01-01Z'::timestamptz, '2126-01-01Z'], array[false, false], '2126-01-01Z',
                   array['records', 'records'], array['20', '20'], array['2126-01-01Z'::timestamptz, '2126-01-01Z'],
                   array[null, null]::timestamptz[], array[false, false], array[null, null]::text[], array[false, false],
                   array[null, null]::smallint[], array[t.token, t.token]
              from (values ('1001', '7f1de78e-0d4e-4c5e-9d3c-000000000001'::uuid), ('1002', null)) t (id, token)
            """)
        try await site.pool.query(
            """
            insert into storehook.purchase_lines (environment, bundle_id, original_transaction_id)
            select environment, bundle_id, original_transaction_id from storehook.subscriptions
            """)
        try await site.pool.query(
            """
            insert into storehook.transactions
                   (environment, bundle_id, transaction_id, original_transaction_id, web_order_line_item_id, product_id,
                    purchased_at, is_upgraded, signed_at, digest, payload)
            values ('Sandbox', 'com.example.app', '20', '1001', '777', 'com.example.pro.monthly', '2026-01-01Z', false,
                    '2026-01-01Z', sha256('a'), '{}')
            """)
    }

    @Test("accounts list has pages, filters and three formats")
    func accounts() async throws {
        try await withSite { site in
            let early = try await site.run("accounts", "list")
            #expect(early.ending == .exited(1) && early.errors.contains("no catalog was applied yet"))
            try await apply(site)
            let none = try await site.run("accounts", "list", "--format", "table")
            #expect(none.ending == .exited(0) && none.output == "nothing is listed\n", "\(none)")
            for account in ["alice", "=cmd('x'),\u{1b}[2J", "carol"] {
                let granted = try await site.run("grant", account, "--tier", "pro", "--days", "9", "--why", "why")
                #expect(granted.ending == .exited(0), "\(granted.errors)")
            }
            #expect(try await site.run("revoke", "carol", "--why", "fraud").ending == .exited(0))
            let table = try await site.run("accounts", "list", "--format", "table")
            #expect(table.output.contains("\"=cmd('x'), [2J\"") && !table.output.contains("\u{1b}"), "\(table)")
            let csv = try await site.run("accounts", "list", "--status", "active", "--format", "csv")
            #expect(csv.output.hasPrefix("account,token,environment,tier,status,access,"), "\(csv)")
            #expect(csv.output.contains("\n\"'=cmd('x'), [2J\",") && !csv.output.contains("carol"), "\(csv)")
            #expect(csv.output.split(separator: "\n").count == 3 && csv.errors.isEmpty, "\(csv)")
            let first = try await site.run("accounts", "list", "--limit", "2", "--format", "json")
            let answer = try #require(try first.json() as? [String: Any])
            let next = try #require(answer["next"] as? String)
            #expect((answer["accounts"] as? [Any])?.count == 2)
            let rest = try await site.run("accounts", "list", "--after", next)
            let last = try #require(try rest.json() as? [String: Any])
            #expect((last["accounts"] as? [Any])?.count == 1 && last["next"] == nil, "\(rest)")
            let shown = try await site.run("accounts", "list", "--limit", "2", "--format", "table")
            #expect(shown.output.hasSuffix("\n\nthe list goes on: --after \(next)\n"), "\(shown)")
            let sheet = try await site.run("accounts", "list", "--limit", "2", "--format", "csv")
            #expect(sheet.errors == "storehook: the list goes on: --after \(next)\n", "\(sheet)")
            let blocked = try await site.run("accounts", "list", "--status", "revoked", "--format", "table")
            #expect(blocked.output.contains("carol") && !blocked.output.contains("alice"), "\(blocked)")
            let all = try await site.run("accounts", "list", "--all", "--ending-within", "10", "--tier", "pro")
            #expect(((try all.json() as? [String: Any])?["accounts"] as? [Any])?.count == 2, "\(all)")
            let unknown = try await site.run("accounts", "list", "--tier", "gold")
            #expect(unknown.ending == .exited(1) && unknown.errors.contains("it has free, pro"), "\(unknown)")
            let production = try await site.run("accounts", "list", "--environment", "production", "--format", "csv")
            #expect(production.output.split(separator: "\n").count == 4, "\(production)")
            let sandbox = try await site.run("accounts", "list", "--environment", "SANDBOX", "--format", "csv")
            #expect(sandbox.ending == .exited(0) && sandbox.output.split(separator: "\n").count == 1, "\(sandbox)")
            let wrong = try await site.run("accounts", "list", "--environment", "sandbx")
            #expect(wrong.ending == .exited(2) && wrong.errors.contains("it is one of Production, Sandbox"), "\(wrong)")
            let shownSmall = try await site.run("account", "show", "alice", "--environment", "production")
            let soon = try await site.run("account", "expiring", "--environment", "production")
            #expect(shownSmall.ending == .exited(0) && soon.ending == .exited(0), "\(shownSmall) \(soon)")
            let noPlace = try await site.run("account", "show", "alice", "--environment", "sandbx")
            let noneSoon = try await site.run("account", "expiring", "--environment", "sandbx")
            #expect(noPlace.ending == .exited(2) && noneSoon.ending == .exited(2), "\(noPlace) \(noneSoon)")
            for wrong in [["--after", "x"], ["--status", "lost"], ["--ending-within", "-1"], ["--limit", "0"]] {
                #expect(try await site.run("accounts", "list", wrong[0], wrong[1]).ending == .exited(2), "\(wrong)")
            }
        }
    }

    @Test("subscriptions list has those of no account, too")
    func subscriptions() async throws {
        try await withSite { site in
            try await write(site)
            let table = try await site.run("subscriptions", "list", "--format", "table")
            #expect(table.output.contains("1001") && table.output.contains("token:\(Self.token)"), "\(table)")
            let unowned = try await site.run("subscriptions", "list", "--unowned", "--format", "csv")
            #expect(unowned.output.contains("1002") && !unowned.output.contains("1001"), "\(unowned)")
            let small = try await site.run("subscriptions", "list", "--environment", "sandbox", "--format", "csv")
            #expect(small.output.contains("1001") && small.output.contains("1002"), "\(small)")
            #expect(try await site.run("subscriptions", "list", "--environment", "sandbx").ending == .exited(2))
            let early = try await site.run("subscriptions", "list", "--tier", "pro")
            #expect(early.ending == .exited(1) && early.errors.contains("no catalog was applied yet"))
            try await apply(site)
            let tier = try await site.run("subscriptions", "list", "--tier", "pro", "--limit", "1", "--all")
            let answer = try #require(try tier.json() as? [String: Any])
            let found = try #require(answer["subscriptions"] as? [[String: Any]])
            #expect(found.map { $0["original_transaction_id"] as? String } == ["1001"])
            #expect(found.first?["owner"] as? String == Self.token && found.first?["status"] as? String == "cancelled")
            #expect(answer["next"] as? String == "1001/com.example.app/Sandbox")
            let free = try await site.run("subscriptions", "list", "--tier", "free")
            #expect(((try free.json() as? [String: Any])?["subscriptions"] as? [Any])?.isEmpty == true, "\(free)")
            #expect(try await site.run("subscriptions", "list", "--after", "1001/x").ending == .exited(2))
        }
    }

    @Test("find says what an id is, and the command that shows it")
    func find() async throws {
        try await withSite { site in
            try await write(site)
            /// What is found, by kind, with the command.
            func found(_ text: String) async throws -> [String: String] {
                let outcome = try await site.run("find", text, "--format", "json")
                #expect(outcome.ending == .exited(0), "\(text): \(outcome.errors)")
                let list = try #require(try outcome.json() as? [[String: Any]])
                return list.reduce(into: [:]) { $0[$1["kind"] as? String ?? ""] = $1["command"] as? String }
            }
            #expect(try await found("1001") == ["purchase": "storehook subscription 1001"])
            #expect(try await found("20") == ["transaction": "storehook subscription 1001"])
            #expect(try await found("777") == ["order": "storehook subscription 1001"])
            #expect(try await found(Self.token.uppercased()) == ["token": "storehook subscription 1001"])
            let signed = try await site.run("find", Self.token, "--format", "table")
            #expect(
                signed.output.contains(
                    "an account that purchase 1001 in com.example.app, Sandbox belongs or belonged to"))
            try await apply(site)
            let granted = try await site.run("grant", "alice", "--tier", "pro", "--days", "9", "--why", "w")
            #expect(granted.ending == .exited(0), "\(granted.errors)")
            let alice = try #require(try await found("alice")["account"])
            // The command shows it.
            let words = alice.split(separator: " ").dropFirst().map(String.init)
            #expect(words.prefix(2) == ["account", "show"])
            let reference = try #require(words.last)
            let shown = try await site.run("account", "show", reference, "--format", "json")
            #expect(shown.output.contains("alice"), "\(shown)")
            let token = try #require(reference.split(separator: ":").last.map(String.init))
            #expect(try await found(token) == ["token": alice])
            #expect(try await found("token:\(token)") == ["token": alice])
            // Handed its token by the account API, and no more.
            let nora = UUID(AccountToken.of("nora"))
            try await site.pool.query(
                """
                insert into storehook.account_names (token, account)
                values (\(nora), 'nora')
                """)
            #expect(try await found("nora") == ["account": "storehook account show token:\(UniqueIdentifier(nora))"])
            #expect(
                try await found("\(nora)") == ["token": "storehook account show token:\(UniqueIdentifier(nora))"])
            let handed = try await site.run("find", "nora", "--format", "table")
            #expect(handed.output.contains("an account's id, handed to the app "), "\(handed)")
            // The command that it names answers, too.
            let free = try await site.run("account", "show", "nora", "--format", "json")
            let shownFree = try #require(try free.json() as? [String: Any])
            #expect(free.ending == .exited(0) && shownFree["tier"] as? String == "free", "\(free)")
            #expect(shownFree["account"] as? String == "nora" && shownFree["status"] as? String == "free", "\(free)")
            let table = try await site.run("account", "show", "token:\(UniqueIdentifier(nora))", "--format", "table")
            #expect(
                table.output.contains("account nora, ") && table.output.contains("has asked for its token"), "\(table)")
            let unknown = try await site.run("account", "show", "zoe")
            #expect(
                unknown.ending == .exited(1) && unknown.errors.contains("storehook accounts list has"), "\(unknown)")
            try await site.pool.query(
                "insert into storehook.accounts (token) values ('7f1de78e-0d4e-4c5e-9d3c-000000000001') on conflict do nothing"
            )
            let elsewhere = try await site.run("account", "show", "token:\(Self.token)")
            #expect(
                elsewhere.ending == .exited(1)
                    && elsewhere.errors.contains("it is known in Sandbox: --environment Sandbox"),
                "\(elsewhere)")
            #expect(try await site.run("account", "erase", "alice").ending == .exited(0))
            let erased = try await site.run("find", "alice", "--format", "table")
            #expect(erased.output.contains("an account's id, erased "), "\(erased)")
            let nothing = try await site.run("find", "MQ2XKL2XYZ")
            #expect(nothing.ending == .exited(1) && nothing.errors.contains("storehook apple lookup MQ2XKL2XYZ"))
            #expect(nothing.errors.contains("storehook accounts list and storehook subscriptions list"), "\(nothing)")
            let odd = try await site.run("find", "\u{1b}[2J")
            #expect(odd.ending == .exited(1) && !odd.errors.contains("\u{1b}"), "\(odd)")
        }
    }
}
