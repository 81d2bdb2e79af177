import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import TestSupport
import Testing

@Suite("STOREHOOK_ACCOUNT_IDS and storehook account-ids")
struct AccountIDCommandTests {
    private static let four = "6f9619ff-8b86-4011-b42d-00cf4fc964ff"
    private static let five = "42ca334f-18cb-59e1-9616-a1dca64eb9b4"
    /// Of user-42, which is hashed.
    private static let hashed = five

    private func ids(_ rule: String) -> [String: String] { ["STOREHOOK_ACCOUNT_IDS": rule] }

    private func rule(_ site: Site) async throws -> String {
        try await site.value(
            "select coalesce(rule, 'none') || ' ' || (named_at is not null)::text from storehook.account_ids")
    }

    /// As a migration leaves a database in which an account's id is a version 5 UUID and its own token.
    private func undecide(_ site: Site) async throws {
        try await site.pool.query(
            "insert into storehook.accounts (token, account) values (\(UUID(uuidString: Self.five)), \(Self.five))")
        try await site.pool.query("update storehook.account_ids set rule = null, named_at = null, named_by = null")
    }

    @Test("is named by the first program, whichever: every later one whose setting differs does not start")
    func programs() async throws {
        try await withSite { site in
            try await withTokenKey { keys in
                #expect(try await rule(site) == "auto false")
                // What is only looked at names nothing.
                #expect(try await site.run("account-ids").output.contains(#""rule":"auto""#))
                #expect(try await rule(site) == "auto false")
                try await site.with(["serve", "--port", "0"], keys.merging(ids("uuid")) { $1 }) { serve in
                    #expect(try await rule(site) == "uuid true")
                    for arguments in [
                        ["serve", "--port", "0"], ["work"], ["account", "alice"], ["queue"], ["catalog", "show"],
                    ] {
                        let program = try site.start(arguments, keys.merging(ids("text")) { $1 })
                        try await eventually("\(arguments) ends") { program.ending != nil }
                        #expect(program.ending == .exited(2), "\(arguments)")
                        #expect(
                            program.errors.contains("STOREHOOK_ACCOUNT_IDS is text, and this database goes by uuid"),
                            "\(program.errors)")
                        await program.discard()
                    }
                    let odd = try await site.run("queue", with: ids("uuids"))
                    #expect(odd.ending == .exited(2) && odd.errors.contains("STOREHOOK_ACCOUNT_IDS is auto, uuid"))
                    for setting in [ids("uuid"), [:]] {
                        #expect(try await site.run("queue", with: setting).ending == .exited(0))
                        try await site.with(["work"], setting) { _ in }
                        try await site.with(["serve", "--port", "0"], keys.merging(setting) { $1 }) { _ in }
                    }
                    #expect(serve.ending == nil)
                }
            }
        }
    }

    @Test("is named by migrate where it is set; a service without a setting takes auto")
    func migrated() async throws {
        try await withSite { site in
            #expect(try await site.run("migrate").ending == .exited(0))
            #expect(try await rule(site) == "auto false")
            #expect(try await site.run("migrate", with: ids("text")).ending == .exited(0))
            #expect(try await rule(site) == "text true")
            let other = try await site.run("migrate", with: ids("auto"))
            #expect(other.ending == .exited(0) && other.errors.contains("this database goes by text"))
        }
        try await withSite { site in
            try await withTokenKey { keys in
                try await site.with(["serve", "--port", "0"], keys) { _ in }
                #expect(try await rule(site) == "auto true")
                #expect(try await site.run("queue", with: ids("uuid")).ending == .exited(2))
            }
        }
    }

    @Test("has to be named by the operator where an account of before is named by its own version 5 UUID")
    func undecided() async throws {
        try await withSite { site in
            try await withTokenKey { keys in
                try await undecide(site)
                for setting in [[:], ids("uuid"), ids("auto")] {
                    let program = try site.start(["serve", "--port", "0"], keys.merging(setting) { $1 })
                    #expect(await program.end() == .exited(2))
                    #expect(program.errors.contains("storehook account-ids set uuid"), "\(program.errors)")
                    await program.discard()
                }
                let migrated = try await site.run("migrate")
                #expect(migrated.ending == .exited(0) && migrated.errors.contains("storehook account-ids set uuid"))
                let doctor = try await site.run("doctor", "--format", "json")
                #expect(doctor.output.contains(#"{"check":"account ids","message":"this database has no rule"#))
                // Commands that name no account go on, and so do those that name a token.
                try await site.with(["work"], ids("uuid")) { _ in }
                #expect(try await site.run("queue").ending == .exited(0))
                #expect(try await site.run("consent", "token:\(Self.five)").ending == .exited(0))
                #expect(try await site.run("consent", Self.five).ending == .exited(2))
                let shown = try await site.run("account-ids")
                #expect(shown.ending == .exited(1) && shown.output == "{}\n", "\(shown.output)")

                // Real UUIDs: nothing changes.
                let looked = try await site.run("account-ids", "set", "uuid")
                #expect(looked.ending == .exited(1) && looked.output.contains(#""count":0"#))
                #expect(looked.errors.contains("account-ids set uuid --yes") && looked.errorLines == 1)
                #expect(try await rule(site) == "none false")
                #expect(try await site.run("account-ids", "set", "uuid", "--yes").ending == .exited(0))
                #expect(try await rule(site) == "uuid true")
                try await site.with(["serve", "--port", "0"], keys) { _ in }
                let ok = try await site.run("doctor", "--format", "json")
                #expect(ok.output.contains(#"{"check":"account ids","message":"uuid","status":"ok"}"#))
            }
        }
    }

    @Test("is changed with --yes alone, for programs that run too; doctor tells of who is named by a token until then")
    func changed() async throws {
        try await withSite { site in
            try await withTokenKey { keys in
                try await site.apply(catalog: shopCatalog)
                try await site.with(["serve", "--port", "0"], keys) { serve in
                    // A program of before took the token for an id.
                    try await site.pool.query(
                        "insert into storehook.accounts (token, account) values (\(UUID(uuidString: Self.five)), \(Self.five))"
                    )
                    #expect(
                        try await site.run("grant", "user-42", "--tier", "pro", "--days", "9", "--why", "test").ending
                            == .exited(0))
                    #expect(try await site.value("select account from storehook.accounts") == "user-42")
                    try await site.pool.query("update storehook.accounts set account = \(Self.five)")
                    let doctor = try await site.run("doctor", "--format", "json")
                    #expect(doctor.output.contains("\(Self.five): an id that looks like a token"), "\(doctor.output)")
                    let looked = try await site.run("account-ids", "set", "auto", "--format", "table")
                    #expect(
                        looked.ending == .exited(1) && looked.output.contains(Self.five)
                            && looked.output.contains("NEW TOKEN"))
                    let done = try await site.run("account-ids", "set", "auto", "--yes")
                    let answer = try #require(try done.json() as? [String: Any])
                    #expect(
                        done.ending == .exited(0) && answer["count"] as? Int == 1 && answer["is_done"] as? Bool == true)
                    #expect(try await site.value("select count(account) from storehook.accounts", as: Int64.self) == 0)
                    // What was given to the token stays with it.
                    let kept = try await site.run("account", "token:\(Self.five)", "--format", "json")
                    #expect(
                        kept.output.contains(#""tier":"pro""#) && !kept.output.contains(#""account":"4"#),
                        "\(kept.output)")
                    #expect(try await site.run("account-ids", "set", "auto", "--yes").output.contains(#""count":0"#))

                    #expect(try await site.run("account-ids", "set", "text", "--yes").ending == .exited(0))
                    let signed = try await site.run("demo", "token", Self.four, with: keys)
                    let token = signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
                    var request = HTTPClientRequest(url: "http://127.0.0.1:\(try #require(serve.port))/v1/account")
                    request.headers.add(name: "Authorization", value: "Bearer \(token)")
                    let asked = request
                    try await eventually("it names accounts by the new rule", within: .seconds(10)) {
                        let answer = try await client.execute(asked, timeout: .seconds(60))
                        let body = String(buffer: try await answer.body.collect(upTo: 1 << 20))
                        return body.contains(#""id":"\#(Self.four)""#)
                            && !body.contains(#""appAccountToken":"\#(Self.four)""#)
                    }
                }
            }
        }
    }

    @Test(
        "goes for every command: an id is never a token, and token: names one",
        arguments: sampled(["auto", "uuid", "text"]))
    func commands(rule: String) async throws {
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            let id = rule == "uuid" ? Self.four : "user-42"
            let token = rule == "uuid" ? Self.four : Self.hashed
            func run(_ arguments: String...) async throws -> Outcome {
                let program = try site.start(arguments + ["--format", "json"], ids(rule))
                let ending = await program.end()
                let outcome = Outcome(
                    ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
                await program.discard()
                return outcome
            }
            for (account, days) in [(id, "5"), ("token:\(token)", "7")] {
                let grant = try await run("grant", account, "--tier", "pro", "--days", days, "--why", "test")
                #expect(grant.ending == .exited(0), "\(grant.errors)")
                let shown = try await run("account", account)
                #expect(
                    shown.output.contains(#""account":"\#(id)""#)
                        && shown.output.contains(#""app_account_token":"\#(token)""#), "\(shown.output)")
                let consent = try await run("consent", account, "--grant", "--text", "I agree.")
                #expect(
                    consent.output.contains(#""account":"\#(id)""#)
                        && consent.output.contains(#""app_account_token":"\#(token)""#))
                #expect(try await run("events", "deliveries", "--account", account).ending == .exited(0))
                #expect(try await run("events", "resend", "--account", account).ending == .exited(0))
                let program = try site.start(["events", "list", "--account", account, "--format", "json"], ids(rule))
                #expect(await program.end() == .exited(0))
                await program.discard()
            }
            let acts: Int64 = try await site.value(
                "select count(*) from storehook.staff_acts where token = \(UUID(uuidString: token))")
            #expect(acts == 2)
            if rule == "uuid" {
                for arguments in [
                    ["account", "user-42"], ["consent", "user-42"], ["events", "list", "--account", "user-42"],
                ] {
                    let program = try site.start(arguments, ids(rule))
                    #expect(await program.end() == .exited(2), "\(arguments)")
                    #expect(program.errors.contains("is no id of an account"), "\(program.errors)")
                    await program.discard()
                }
            } else {
                // It is another account, and the operator is told so.
                let other = try await run("grant", token, "--tier", "premium", "--days", "5", "--why", "test")
                #expect(other.ending == .exited(0) && other.errors.contains("token:\(token)"), "\(other.errors)")
                #expect(try await run("account", "token:\(token)").output.contains(#""tier":"pro""#))
            }
            for none in ["00000000-0000-0000-0000-000000000000", "token:00000000-0000-0000-0000-000000000000"] {
                #expect(try await run("account", none).ending == .exited(2))
                #expect(try await run("consent", none).ending == .exited(2))
                let set = try await run("apple", "set-account-token", "2000000000000001", none)
                #expect(set.ending == .exited(2) && set.errors.contains("not the nil UUID"), "\(set)")
            }
            #expect(try await run("account", "erase", "token:\(token)").ending == .exited(0))
            #expect(try await run("account", id).output.contains("erased_at"))
        }
    }

    @Test("killed in the middle of a change, has changed nothing")
    func killed() async throws {
        try await withSite { site in
            for (token, id) in [(Self.five, Self.five), (Self.four, Self.four)] {
                try await site.pool.query(
                    "insert into storehook.accounts (token, account) values (\(UUID(uuidString: token)), \(id))")
                try await site.pool.query(
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, recorded_by)
                    values (\(id), \(UUID(uuidString: token)), false, 'test')
                    """)
            }
            let held = try await HeldTransaction(
                in: site.database,
                "select 1 from storehook.accounts where token = \(UUID(uuidString: Self.four)) for update")
            let program = try site.start(["account-ids", "set", "text", "--yes"])
            try await eventually("it is in the middle") {
                try await site.value(
                    "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'with held%'",
                    as: Int64.self) == 1
            }
            program.signal(SIGKILL)
            await program.end()
            await program.discard()
            try await held.release()
            try await eventually("its transaction is gone") {
                try await site.value(
                    "select count(*) from pg_stat_activity where datname = current_database() and query like 'with held%' and state <> 'idle'",
                    as: Int64.self) == 0
            }
            #expect(try await rule(site) == "auto false")
            let named =
                "select (select count(account) from storehook.accounts) + (select count(account) from storehook.consumption_consents)"
            #expect(try await site.value("\(unescaped: named)", as: Int64.self) == 4)
            #expect(try await site.run("account-ids", "set", "text", "--yes").output.contains(#""count":2"#))
            #expect(try await site.value("\(unescaped: named)", as: Int64.self) == 0)
        }
    }
}
