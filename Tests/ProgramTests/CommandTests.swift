import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Postgres
import Schema
import Simulation
import TestSupport
import Testing

@testable import storehook

@Suite("The program's commands")
struct CommandTests {
    private static let explained = [
        "migrate", "receive", "work", "queue", "dead-letters", "dead-letters list", "dead-letters show",
        "dead-letters replay", "dead-letters discard", "jobs", "jobs list", "jobs show", "jobs stop", "verify",
        "simulate", "maintain", "doctor", "subscription",
        "notification", "account", "account show", "account erase", "grant", "extend", "revoke", "unrevoke",
        "change-tier", "catalog", "catalog check", "catalog schema", "catalog diff", "catalog apply",
        "catalog show",
        "serve", "console", "staff token", "events", "events list", "",
    ].map { $0.split(separator: " ").map(String.init) }

    @Test("explain themselves, and leave with 0", arguments: sampled(explained))
    func help(command: [String]) async throws {
        let program = try ChildProgram(Executable.path, command + ["--help"], environment: [:])
        #expect(await program.end() == .exited(0))
        #expect(program.output == Self.help(of: command) + "\n")
        #expect(program.errors.isEmpty)
        await program.discard()
    }

    @Test("explain themselves within 80 columns, each of them, and with an example")
    func widths() async throws {
        let commands = try await CommandHelp.of(Executable.path).paths()
        #expect(commands.count >= 60, "this test reads the commands wrongly: \(commands)")
        for command in commands {
            let help = Self.help(of: command)
            #expect(help.contains("USAGE: storehook"), "\(command): \(help)")
            let wide = help.split(separator: "\n").filter { $0.count > 80 }
            #expect(wide.isEmpty, "\(command): \(wide)")
        }
        for command in Self.explained { #expect(Self.help(of: command).contains("Example:"), "\(command)") }
    }

    /// A command's help as the program prints it, but for the last line's end.
    private static func help(of command: [String]) -> String {
        do {
            var asked = try Storehook.parseAsRoot(command + ["--help"])
            try asked.run()
            return "\(command) asks for no help"
        } catch {
            return HelpText.folded(Storehook.fullMessage(for: error, columns: 80))
        }
    }

    private static let wrongUses = [
        "no-such-command", "queue --format xml", "queue --audit", "receive --port 70000", "work --batch 0",
        "dead-letters replay",
        "dead-letters replay 1 --all", "dead-letters discard 1", "dead-letters discard 1 --why  ",
        "dead-letters list --since yesterday", "dead-letters list --limit 0", "simulate", "simulate --to x --out y",
        "dead-letters show x", "verify /no/such/file", "queue --config /no/such/file",
        "dead-letters replay --all --rate 0", "subscription 1 --at yesterday", "notification x",
        "doctor --role owner", "doctor --port 0", "catalog check", "catalog check /no/such/file",
        "account a --at yesterday", "grant a --tier pro --days 0 --why w", "revoke a", "revoke a --why  ",
        "extend a --days 1", "events list --limit 0", "events list --after -1", "recieve", "dead-letters replya",
    ]

    @Test("used wrongly leave with 2 and one line that helps")
    func usage() async throws {
        try await withSite { site in
            for command in Self.wrongUses {
                let program = try site.start(command.split(separator: " ").map(String.init))
                #expect(await program.end() == .exited(2), "\(command): \(program.errors)")
                #expect(program.output.isEmpty, "\(command)")
                #expect(program.errors.split(separator: "\n").count == 1, "\(command): \(program.errors)")
                #expect(program.errors.hasPrefix("storehook: "), "\(command)")
                await program.discard()
            }
        }
    }

    private static let badSettings = [
        ("DATABASE_URL", ""), ("DATABASE_URL", "nonsense"), ("STOREHOOK_APPS", "a=b"), ("STOREHOOK_APPS", ""),
        ("STOREHOOK_TRUSTED_ROOTS", "abc"), ("STOREHOOK_LEASE_SECONDS", "0"), ("STOREHOOK_LEASE_SECONDS", "soon"),
        ("STOREHOOK_MAX_ATTEMPTS", "-1"), ("STOREHOOK_RETENTION_DAYS", "6"), ("STOREHOOK_LOG_LEVEL", "loud"),
        ("STOREHOOK_LOG_FORMAT", "xml"),
        ("STOREHOOK_LISTEN", "on"), ("STOREHOOK_REVOCATION", "yes"), ("STOREHOOK_GRACE_DAYS", "7"),
        ("STOREHOOK_MAX_PAYLOAD_AGE_DAYS", "0"), ("STOREHOOK_MAX_PAYLOAD_AGE_DAYS", "Moon=3"),
    ]

    @Test("with a bad setting leave with 2 and one line that names it")
    func settings() async throws {
        try await withSite { site in
            for (name, value) in Self.badSettings {
                let outcome = try await site.run("work", with: [name: value])
                #expect(outcome.ending == .exited(2), "\(name)=\(value)")
                #expect(outcome.errorLines == 1, "\(outcome.errors)")
                #expect(outcome.errors.contains(name), "\(outcome.errors)")
            }
        }
    }

    @Test("never repeat the password of DATABASE_URL, wherever they fail")
    func password() async throws {
        try await withSite { site in
            let secret = "s3cr3t-Pa55"
            let urls = [
                "postgresql://me:\(secret)@127.0.0.1:1/storehook", "postgresql://me:\(secret)@127.0.0.1:x/storehook",
                "host=127.0.0.1 port=1 password=\(secret)", "host=127.0.0.1 pasword=\(secret)",
                "postgresql://me:\(secret)",
                "postgresql://me:x@\(secret)@127.0.0.1:1/storehook",
                "postgresql://me:x/\(secret)@127.0.0.1:1/storehook",
                "\(secret)",
            ]
            for url in urls {
                for command in [["migrate"], ["queue"], ["work"]] {
                    let program = try site.start(command, ["DATABASE_URL": url, "STOREHOOK_LOG_LEVEL": "trace"])
                    // A worker waits for a server that cannot be reached.
                    try await eventually("it ends, or says that it waits") {
                        program.ending != nil || program.errors.contains("beginning once it is back")
                    }
                    let waits = program.ending == nil
                    #expect(!waits || command == ["work"])
                    if waits { program.signal(SIGKILL) }
                    let ending = await program.end()
                    #expect(waits || ending == .exited(1) || ending == .exited(2), "\(command)")
                    #expect(!program.errors.isEmpty)
                    #expect(!(program.errors + program.output).contains(secret), "\(command) \(program.errors)")
                    await program.discard()
                }
            }
        }
    }

    @Test("read a configuration file, and the environment wins over it")
    func configurationFile() async throws {
        try await withSite { site in
            let file = FileManager.default.temporaryDirectory.appending(path: "storehook-\(UUID().uuidString).env")
            try "DATABASE_URL=\(site.database.url)\nSTOREHOOK_LOG_LEVEL=loud\n".write(
                to: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(at: file) }
            let fromFile = try await site.run("queue", "--config", file.path, without: ["DATABASE_URL"])
            #expect(
                fromFile.ending == .exited(2) && fromFile.errors.contains("STOREHOOK_LOG_LEVEL"), "\(fromFile.errors)")
            let both = try await site.run("queue", "--config", file.path, with: ["STOREHOOK_LOG_LEVEL": "error"])
            #expect(both.ending == .exited(0), "\(both.errors)")
        }
    }

    @Test("go on working with a newer schema that leaves them their place, and store and apply under it")
    func newerSchema() async throws {
        try await withSite { site in
            try await site.pool.query(
                """
                insert into storehook.schema_expansions (version, name, checksum, compatible_from)
                values (9999, 'later', 'x', \(Int32(Schema.migrations.count)))
                """)
            for words in [["migrate"], ["migrate", "--check"]] {
                let program = try site.start(words)
                #expect(await program.end() == .exited(0), "\(program.errors)")
                #expect(program.output.contains("9999, newer than this program's"), "\(program.output)")
                await program.discard()
            }
            try await site.with(["receive", "--port", "0"]) { receiver in
                try await site.with(["work"]) { _ in
                    let url = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                    let posted = try await site.run("simulate", "--to", url, "--notifications", "10")
                    #expect(posted.ending == .exited(0), "\(posted.errors)")
                    try await site.untilDone()
                }
            }
            #expect(try await site.outbox.conservation().received == 10)
        }
    }

    @Test("migrate an empty database, tell how it stands, and refuse with 57 one that does not fit")
    func migrate() async throws {
        try await withSite { site in
            try await withTestDatabase { empty in
                let there = ["DATABASE_URL": empty.url]
                #expect(try await site.run("migrate", "--check", with: there).ending == .exited(57))
                #expect(try await site.run("queue", with: there).ending == .exited(57))
                let first = try await site.run("migrate", with: there)
                #expect(first.ending == .exited(0), "\(first.errors)")
                #expect(first.output.contains("applied 1 outbox"))
                let second = try await site.run("migrate", with: there)
                #expect(second.ending == .exited(0))
                #expect(!second.output.contains("applied"))
                #expect(try await site.run("migrate", "--check", with: there).ending == .exited(0))
            }
            for command in ["queue", "work", "receive", "migrate --check"] {
                let words = command.split(separator: " ").map(String.init)
                func ending(_ what: String) async throws {
                    let program = try site.start(words + (command == "receive" ? ["--port", "0"] : []))
                    #expect(await program.end() == .exited(57), "\(command), \(what): \(program.errors)")
                    #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
                    await program.discard()
                }
                try await site.pool.query(
                    "insert into storehook.schema_migrations (version, name, checksum) values (9999, 'later', 'x')")
                try await ending("newer")
                try await site.pool.query("delete from storehook.schema_migrations where version = 9999")
                let last = Schema.migrations.count
                let table = try await site.value(
                    """
                    select tableoid::regclass::text from storehook.schema_migrations where version = \(Int32(last))
                    union select tableoid::regclass::text from storehook.schema_expansions where version = \(Int32(last))
                    """, as: String.self)
                try await site.pool.query("create table kept as table \(unescaped: table)")
                try await site.pool.query("delete from \(unescaped: table) where version = \(Int32(last))")
                try await ending("older")
                try await site.pool.query(
                    "insert into \(unescaped: table) select * from kept where version = \(Int32(last))")
                try await site.pool.query(
                    "update \(unescaped: table) set checksum = 'other' where version = \(Int32(last))")
                try await ending("changed")
                try await site.pool.query(
                    "update \(unescaped: table) set checksum = kept.checksum from kept where kept.version = \(unescaped: table).version"
                )
                try await site.pool.query("drop table kept")
            }
        }
    }

    /// By default from ten.
    @Test("migrate from twenty processes at once: one does it, and all succeed")
    func twentyMigrators() async throws {
        try await withSite { site in
            try await withTestDatabase { empty in
                let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
                    for _ in 0..<samples(of: 20, oneIn: 2) {
                        group.addTask { try await site.run("migrate", with: ["DATABASE_URL": empty.url]) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.allSatisfy { $0.ending == .exited(0) })
                #expect(outcomes.count { $0.output.contains("applied 1 outbox") } == 1)
            }
        }
    }

    @Test("verify prints what was signed, or why it is not trusted and leaves with 1")
    func verify() async throws {
        try await withSite { site in
            var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
            subscriber.buy(.premiumMonthly, at: Site.now)
            let notification = subscriber.takeNotifications()[0]
            let jws = notification.signed(by: site.authority)
            let good = try await site.run("verify", input: jws + "\n")
            #expect(good.ending == .exited(0), "\(good.errors)")
            let answer = try #require(try good.json() as? [String: Any])
            #expect(answer["valid"] as? Bool == true)
            #expect(answer["kind"] as? String == "notification")
            #expect((answer["payload"] as? [String: Any])?["notificationUUID"] as? String == notification.uuid)
            let transaction = answer["transaction"] as? [String: Any]
            #expect(transaction?["transactionId"] as? String == notification.transaction?.transactionId)
            #expect(answer["renewal"] is [String: Any])

            let nested = try #require(notification.transaction)
            let outer = try #require(
                JSONSerialization.jsonObject(with: Data(notification.json { _ in "x" })) as? [String: Any])
            #expect(outer["data"] != nil && nested.transactionId.isEmpty == false)

            for (input, code) in [("not a JWS", "malformed"), (jws.dropLast(8) + "AAAAAAAA", "invalid_signature")] {
                let bad = try await site.run("verify", "-", input: String(input))
                #expect(bad.ending == .exited(1))
                let refusal = try #require(try bad.json() as? [String: Any])
                #expect(refusal["valid"] as? Bool == false)
                #expect(refusal["code"] as? String == code)
                #expect((refusal["message"] as? String)?.isEmpty == false)
            }
            let stranger = try await site.run("verify", with: ["STOREHOOK_TRUSTED_ROOTS": ""], input: jws)
            #expect(stranger.ending == .exited(1) && stranger.output.contains(#""code":"untrusted_root""#))
        }
    }

    @Test("show and replay what failed, in JSON that parses, the dry run included")
    func deadLetters() async throws {
        try await withSite { site in
            var subscriber = SimulatedSubscriber(
                appAccountToken: "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10", lane: 1, seed: 1)
            subscriber.buy(.premiumMonthly, at: Int64(Date().timeIntervalSince1970 * 1000))
            let jws = subscriber.takeNotifications()[0].signed(by: site.authority)
            try await site.outbox.store([Array(jws.utf8), Array("junk".utf8)])
            let other = ["STOREHOOK_APPS": "com.example.other"]
            try await site.with(["work"], other) { worker in
                try await site.untilDone()
                let app = #""detail":"bundleId \#(Site.app.bundleId) is none of the apps served"#
                try await eventually("the log names the app") { worker.errors.contains(app) }
            }

            let queue = try #require(
                try await site.run("queue", "--format", "json", "--conservation").json() as? [String: Any])
            let depth = try #require(queue["depth"] as? [[String: Any]])
            #expect(depth.compactMap { $0["state"] as? String } == ["ready", "scheduled", "leased", "dead"])
            #expect(depth.compactMap { $0["count"] as? Int } == [0, 0, 0, 2])
            #expect((queue["conservation"] as? [String: Any])?["missing"] as? Int == 0)

            let list = try await site.run("dead-letters", "list", "--format", "json")
            let letters = try #require(try list.json() as? [[String: Any]])
            #expect(Set(letters.compactMap { $0["reason"] as? String }) == ["wrong_bundle", "malformed"])
            var id = try #require(letters.first { $0["reason"] as? String == "wrong_bundle" }?["id"] as? Int)
            #expect(try await site.run("dead-letters", "show", "\(id)", "--raw").output == jws)
            #expect(try await site.run("dead-letters", "show", "\(id)", "--format", "json").json() is [String: Any])
            #expect(try await site.run("dead-letters", "show", "4711").ending == .exited(1))

            let wrong = try #require(letters.first { $0["reason"] as? String == "wrong_bundle" }?["message"] as? String)
            #expect(wrong.hasPrefix("bundleId \(Site.app.bundleId) is none of the apps served"), "\(wrong)")
            let again = try await site.run("dead-letters", "replay", "\(id)", "--dry-run", with: other)
            #expect(again.output.contains("bundleId \(Site.app.bundleId) is none"), "\(again.output)")
            #expect(again.ending == .exited(1) && again.errorLines == 1, "\(again)")
            #expect(
                again.errors.contains("each would die again; mend first: 1 wrong_bundle (letter \(id): bundleId "),
                "\(again.errors)")
            // It dies again, and comes back under another number.
            let early = try await site.run("dead-letters", "replay", "\(id)", "--format", "table", with: other)
            #expect(
                early.ending == .exited(0) && early.output.contains("comes back under a new number, see")
                    && early.output.contains("--dry-run"), "\(early)")
            try await site.with(["work"], other) { _ in try await site.untilDone() }
            let former = id
            let back = try #require(
                try await site.run("dead-letters", "list", "--reason", "wrong_bundle", "--format", "json").json()
                    as? [[String: Any]])
            id = try #require(back.first?["id"] as? Int)
            let late = try await site.run("dead-letters", "replay", "\(former)")
            #expect(late.ending == .exited(1) && late.errorLines == 1, "\(late)")
            #expect(
                late.errors.contains("\(former) was replayed before (20")
                    && late.errors.hasSuffix(" and is dead again as \(id), see storehook dead-letters show \(id)\n"),
                "\(late.errors)")

            let dryRun = try await site.run("dead-letters", "replay", "--all", "--dry-run", "--format", "json")
            #expect(dryRun.ending == .exited(0), "one of two would be applied: \(dryRun.errors)")
            let report = try #require(try dryRun.json() as? [String: Any])
            #expect(report["applied"] as? Int == 1)
            #expect((report["changes"] as? [[String: Any]])?.first?["to"] as? String == "active")
            #expect((report["still_dead"] as? [[String: Any]])?.first?["reason"] as? String == "malformed")
            let first = try await site.run("dead-letters", "list", "--limit", "1", "--format", "table")
            let table = first.output
            #expect(table.contains("2 open: 1 malformed, 1 wrong_bundle; shown are the oldest 1"), "\(table)")
            let place = try #require(first.errors.firstMatch(of: /the list goes on: --after ([0-9]+)\n/)).output.1
            let second = try await site.run("dead-letters", "list", "--after", String(place), "--format", "json")
            #expect((try second.json() as? [[String: Any]])?.count == 1 && second.errorLines == 0, "\(second)")
            let found = try await site.run("dead-letters", "list", "--text", "WRONG_B", "--format", "json")
            #expect((try found.json() as? [[String: Any]])?.count == 1 && found.errorLines == 0, "\(found)")
            #expect(try await site.run("dead-letters", "list", "--after", "x").ending == .exited(2))
            let whole = try await site.run("dead-letters", "list", "--at", "2126-01-01", "--format", "table")
            #expect(whole.output.contains("2 open: 1 malformed, 1 wrong_bundle") && whole.errorLines == 0, "\(whole)")
            let latest = try await site.run(
                "dead-letters", "list", "--at", "2126-01-01", "--limit", "1", "--format", "table")
            #expect(!latest.output.contains("2 open") && latest.errors.contains("goes on: --after"), "\(latest)")
            let before = try await site.run("dead-letters", "list", "--at", "2020-01-01", "--format", "json")
            #expect((try before.json() as? [[String: Any]])?.isEmpty == true && before.errorLines == 0, "\(before)")

            let replay = try await site.run("dead-letters", "replay", "\(id)", "--format", "json")
            #expect((try replay.json() as? [String: Any])?["replayed"] as? Int == 1)
            try await site.with(["work"]) { _ in try await site.untilDone() }
            let rest = try #require(
                try await site.run("dead-letters", "list", "--format", "json").json() as? [[String: Any]])
            #expect(rest.compactMap { $0["reason"] as? String } == ["malformed"])
            let junk = try #require(rest.first?["id"] as? Int)
            #expect(try await site.run("dead-letters", "discard", "\(junk)", "--why", "a probe").ending == .exited(0))
            for (words, said) in [
                ("discard \(junk) --why again", "\(junk) was discarded before"),
                ("discard \(id) --why again", "\(id) was replayed before"),
                ("replay \(id)", "\(id) was replayed before (20"),
                ("replay \(id) --dry-run", "\(id) was replayed before (20"),
                ("replay \(id) \(former)", "were replayed before, see storehook dead-letters show"),
                ("discard 4711 --why again", "no dead letter 4711"), ("replay \(junk)", "\(junk) was discarded before"),
                ("replay 4711 4712", "no dead letter 4711, 4712; see storehook dead-letters list"),
                ("replay 4711 --dry-run", "no dead letter 4711"),
                ("replay --reason wrong_bundel", "reason wrong_bundel; open are: none"),
                ("replay --reason wrong_bundel --dry-run", "reason wrong_bundel; open are: none"),
            ] {
                let program = try site.start(["dead-letters"] + words.split(separator: " ").map(String.init))
                #expect(await program.end() == .exited(1), "\(words)")
                #expect(
                    program.errors.contains(said) && program.errors.split(separator: "\n").count == 1,
                    "\(program.errors)")
                await program.discard()
            }
            #expect(try await site.run("dead-letters", "replay", "--all").ending == .exited(0))
            #expect(try await site.run("queue", "--conservation").ending == .exited(0))
            #expect(try await site.run("queue", "--conservation", "--audit").ending == .exited(0))

            try await site.pool.query("delete from storehook.dead_letters where id = \(Int64(junk))")
            let loss = try await site.run("queue", "--conservation", "--format", "table")
            #expect(loss.ending == .exited(1) && loss.output.contains("missing 1"))
        }
    }
}
