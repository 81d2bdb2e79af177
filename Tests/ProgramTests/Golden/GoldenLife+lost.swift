import ArgumentParser
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookSupport

@testable import storehook

/// How a command's output is lost.
enum OutputEnd: String, CaseIterable, Sendable {
    /// Standard output is closed.
    case closed
    /// The disk is full.
    case full
    /// The reader of a pipe is gone.
    case cut
}

/// Each command at the end of a life, with its answer lost.
extension GoldenLife {
    /// One call of each command. It can be repeated, and has something to say each time.
    private struct Call {
        /// The command, as it stands in the program's help.
        var command: String
        var words: [String]
        var input = ""

        init(_ command: String, _ words: String = "", list: [String] = [], input: String = "") {
            self.command = command
            self.words = (command + " " + words).split(separator: " ").map(String.init) + list
            self.input = input
        }

        /// Whether it changes something.
        func acts() throws -> Bool { try Storehook.parseAsRoot(words) is any ActingCommand }
    }

    /// Those that serve and say nothing on standard output; those that have tests of their own; and those that ask Apple for what it does
    /// once, and print as all that ask it.
    private static let others: Set<String> = [
        "receive", "work", "serve", "console", "app-store", "demo run", "demo life", "apple test", "apple consumption",
        "refunds create", "refunds approve", "refunds reject", "refunds cancel", "refunds record",
        "figures close", "figures reopen", "figures compare",
    ]

    /// Runs commands with their output lost: all of them in all of three ways (`--full`), or each that changes something, and one in three of
    /// those that only show something, in one of the ways, another one in each run.
    func loseOutputs(_ sales: [String: Sale]) async throws {
        var generator = SeededGenerator()
        let first = Int.random(in: 0..<OutputEnd.allCases.count)
        let rounds = takesAllSamples ? OutputEnd.allCases.count : 1
        let commands = try await CommandHelp.of(Executable.path).leaves
        for round in 0..<rounds {
            let calls = try await calls(sales, round: round)
            #expect(Set(calls.map(\.command)) == commands.subtracting(Self.others))
            let showing = try calls.indices.filter { try !calls[$0].acts() }
            let shown = Set(sampled(showing, oneIn: 3, using: &generator))
            for (place, call) in calls.enumerated() where try call.acts() || shown.contains(place) {
                try await lose(call, OutputEnd.allCases[(first + round + place) % OutputEnd.allCases.count])
            }
        }
    }

    private func lose(_ call: Call, _ end: OutputEnd) async throws {
        let output: ChildProgram.Output
        var pipe: LogPipe?
        switch end {
        case .closed: output = .closed
        case .full: output = .file("/dev/full")
        case .cut:
            let gone = try LogPipe(.gone)
            pipe = gone
            output = .descriptor(gone.writing)
        }
        let program = try site.start(call.words, settings, input: call.input, output: output)
        let ending = await program.end()
        let said = program.errors
        await program.discard()
        pipe?.closeWriting()
        let told = "\(end.rawValue) \(call.words.joined(separator: " ")): \(ending) \(said)"
        let isSecret = said.contains(" could not be shown, so it does not count")
        switch end {
        case .closed, .full:
            let why = end == .closed ? "Bad file descriptor" : "No space left on device"
            #expect(ending == .exited(1), "\(told)")
            #expect(isSecret || said.contains("standard output could not be written: \(why)"), "\(told)")
            #expect(said.contains(why), "\(told)")
        case .cut:
            // What goes to a file is not said to be done.
            if try call.acts(), call.command != "simulate" {
                #expect(ending == .exited(1), "\(told)")
            } else {
                // Quietly; a "no" stays one.
                #expect(ending == .signalled(SIGPIPE) || ending == .exited(1), "\(told)")
                #expect(!said.contains("could not be"), "\(told)")
            }
        }
    }

    /// In this order: some make what others need.
    private func calls(_ sales: [String: Sale], round: Int) async throws -> [Call] {
        func original(_ name: String) throws -> String { try #require(sales[name]).originalTransactionID }
        func transaction(_ name: String) throws -> String { try #require(sales[name]).transactionID }
        let catalog = "\(directory)/lost-catalog.yaml"
        try Data(Self.catalog.utf8).write(to: URL(fileURLWithPath: catalog))
        let policy = "\(directory)/policy.yaml"
        let commission = "\(directory)/lost-commission.yaml"
        try Data("rates: [{from: 2008-07-10, first_year: 30%}]\n".utf8).write(to: URL(fileURLWithPath: commission))
        let fiscal = "\(directory)/lost-fiscal-calendar.yaml"
        try Data("years: [{year: 2026, from: 2025-09-28}]\n".utf8).write(to: URL(fileURLWithPath: fiscal))
        let notification = try await site.value(
            "select notification_uuid::text from storehook.notifications order by received_at limit 1", as: String.self)
        let letter = try await site.value("select min(id) from storehook.dead_letters", as: Int64.self)
        let extending = try await site.value(
            """
            insert into storehook.extensions
                   (bundle_id, environment, request_identifier, original_transaction_id, days, reason_code, requested_by)
            values ('org.example', 'Sandbox', 'lost-\(unescaped: "\(round)")', '1', 1, 0, 'somebody')
            returning id
            """, as: Int64.self)
        let job = try await site.value(
            """
            insert into storehook.jobs (act, filter, up_to, total, actor) values ('rehearse', '{}', \(letter), 1, 'cli:somebody')
            returning id
            """, as: Int64.self)
        // That of the life's own outputs.
        let request = try await site.value(
            """
            select request_identifier from storehook.extensions where product_id = 'com.example.storehook.premium.monthly'
            """, as: String.self)
        // One that is not finished refuses others.
        let open = try await site.pool.query("select id from storehook.extensions where settled_at is null").map {
            try $0.decode(0, as: Int64.self)
        }
        for id in open where id != extending {
            _ = try await site.run("extensions", "close", "\(id)", "--why", "another one", with: settings)
        }
        let unextended = ["basic.monthly", "premium.yearly", "basic.weekly"]
        let recently = Date(timeIntervalSince1970: Double(start / 1000)).ISO8601Format().prefix(10)
        var endpoints: [Int] = []
        for _ in 0..<2 {
            let added = try await site.run(
                "endpoints", "add", "http://127.0.0.1:\(endpoint.port)/hook", "--format", "json", with: settings)
            endpoints.append(try #require((try added.json() as? [String: Any])?["id"] as? Int))
        }
        let here = endpoints[0]
        let somebody = "lost-\(round)"
        let why = ["--why", "it was lost"]
        let sale = try #require(sales["alice"])
        return [
            Call("migrate"), Call("apps"), Call("queue"), Call("queue", "--conservation --format table"),
            Call("subscription", try original("alice")), Call("notification", notification),
            Call("notification", "\(notification) --raw"), Call("dead-letters list"),
            Call("dead-letters show", "\(letter)"), Call("dead-letters show", "\(letter) --raw"),
            Call("dead-letters replay", "--all --dry-run"), Call("dead-letters replay", "\(letter)", list: why),
            Call("dead-letters discard", "999999", list: why), Call("jobs list"), Call("jobs show", "\(job)"),
            Call("jobs stop", "\(job)", list: why), Call("rebuild", "--check"), Call("maintain"),
            Call("maintain", "--dry-run"), Call("catalog check", catalog), Call("catalog diff", catalog),
            Call("catalog apply", catalog), Call("catalog show"), Call("catalog schema"),
            Call("consumption check", policy), Call("consumption list", "--days 365"), Call("consent", "erin"),
            Call("verify", "--kind transaction", input: sale.signedTransaction),
            Call("verify", input: "forged"), Call("simulate", "--out - --notifications 2"),
            Call("demo token", "alice"), Call("apple status", try original("frank")),
            Call("apple history", try original("alice")), Call("apple transaction", try original("dave")),
            Call("apple refunds", try original("alice")), Call("apple app-transaction", try original("alice")),
            Call("apple lookup", "M\(try transaction("dave"))"), Call("apple finish", try transaction("erin")),
            Call(
                "apple set-account-token", "\(try original("mallory")) 7f1de78e-0d4e-4c5e-9d3c-000000000001"),
            Call(
                "apple extend", "\(try original("ivan")) --days 3 --reason other --request-id lost-apple-\(round)"),
            Call(
                "apple extend-all",
                "--product com.example.storehook.\(unextended[round]) --days 2 --reason outage --environment Production"
            ),
            Call("apple extend-all-status", "com.example.storehook.premium.monthly \(request)"),
            Call("apple notifications", "--environment Production --since \(recently)"), Call("extensions list"),
            Call("extensions show", "1"), Call("extensions close", "\(extending)", list: why),
            Call("refresh", try original("frank")), Call("refresh", "--account bob"), Call("reconcile", "--check"),
            Call("doctor", "--port \(receiver)"), Call("doctor", "--port \(receiver) --format json"),
            Call("grant", "\(somebody) --tier pro --days 30", list: why),
            Call("extend", "\(somebody) --days 7", list: why),
            Call("change-tier", "\(somebody) --tier premium", list: why), Call("revoke", somebody, list: why),
            Call("unrevoke", somebody, list: why),
            Call("notes add", somebody, list: ["--note", "called about the invoice"]), Call("notes list", "--open"),
            Call("account show", somebody),
            Call("account expiring", "--days 30"), Call("account erase", somebody), Call("account-ids show"),
            Call("purchases list"), Call("accounts list"), Call("subscriptions list"), Call("find", somebody),
            Call("account-ids set", "auto"), Call("staff token", "--account-api --name lost"),
            Call("staff token", "--list"), Call("staff add", "\(somebody)@example.com --role viewer"),
            Call("staff token", "\(somebody)@example.com"),
            Call("staff password", "\(somebody)@example.com --generate"), Call("staff list"), Call("audit list"),
            Call("orders list", "--environment Production"), Call("orders show", try original("alice")),
            Call("figures show", "net"), Call("figures users"), Call("figures usage"),
            Call("due show"), Call("due list"),
            Call("rates import", "-", input: "date,currency,rate\n2026-03-02,USD,1.25\n"), Call("rates list"),
            Call("commission apply", list: [commission]), Call("commission show"),
            Call("fiscal-calendar apply", list: [fiscal]), Call("fiscal-calendar show"),
            Call("refunds list"), Call("audit list", "--open --format table"), Call("audit verify"),
            Call("audit export"),
            Call("staff remove", "\(somebody)@example.com"),
            Call("endpoints add", "http://127.0.0.1:\(endpoint.port)/lost"),
            Call("endpoints list"), Call("endpoints test", "\(here)"), Call("endpoints rotate", "\(here)"),
            Call("endpoints disable", "\(here)"), Call("endpoints enable", "\(here)"),
            Call("events list"), Call("events list", "--follow --format table"), Call("events deliveries"),
            Call("events resend", "--account alice"), Call("endpoints remove", "\(here)"),
            Call("endpoints remove", "\(endpoints[1])"),
        ]
    }
}

extension CommandHelp {
    /// The commands that do something, each by its words.
    var leaves: Set<String> {
        Set(
            subcommands.filter { $0.name != "help" }.flatMap { command in
                command.subcommands.isEmpty
                    ? [command.name] : command.leaves.map { "\(command.name) \($0)" }
            })
    }
}
