import EvidenceStore
import Foundation
import Postgres
import Schema
import Simulation
import TestSupport
import Testing

/// What `.ci/run` has run on each PostgreSQL that is served, beside the outputs of one life: on a database with settings as people
/// have them.
@Suite("On a PostgreSQL that is served")
struct ServedServerTests {
    /// Nothing may rely on what these usually are.
    private static let settings = [
        "standard_conforming_strings = off", "bytea_output = escape", "timezone = 'Asia/Kolkata'",
        "intervalstyle = sql_standard", "extra_float_digits = 0", "array_nulls = off", "transform_null_equals = on",
        "quote_all_identifiers = on", "default_transaction_isolation = 'repeatable read'",
    ]

    private func withOddSite<T>(_ body: (Site) async throws -> T) async throws -> T {
        let authority = try await Site.authority.value
        return try await withTestDatabase { database in
            let owner = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            for setting in Self.settings {
                try await owner.query("alter database \(unescaped: database.name) set \(unescaped: setting)")
            }
            await owner.close()
            let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
            do {
                let site = Site(database: database, pool: pool, outbox: Outbox(pool), authority: authority)
                let value = try await body(site)
                await pool.close()
                return value
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    private func succeed(
        _ site: Site, _ arguments: [String], saying words: String..., with more: [String: String] = [:],
        input: String = ""
    ) async throws {
        let program = try site.start(arguments, more, input: input)
        let ending = await program.end()
        #expect(ending == .exited(0), "\(arguments): \(program.output) \(program.errors)")
        for word in words { #expect(program.output.contains(word), "\(arguments): \(program.output)") }
        await program.discard()
    }

    /// Orders, requests for refunds, members of the staff, and the audit of all that.
    private func desk(_ site: Site) async throws {
        try await eventually("orders have their numbers") {
            try await site.value("select count(*) > 20 and count(*) = count(number) from storehook.orders")
        }
        let numbers = try await site.pool.query(
            """
            select o.number from storehook.orders o join storehook.order_totals t using (environment, bundle_id, order_key)
             where o.plan_type = 'auto_renewable' and o.status = 'completed' and t.paid > 0 and t.unpriced = 0
             order by o.number limit 3
            """
        ).map { try $0.decode(0, as: String.self) }
        try #require(numbers.count == 3)
        try await succeed(site, ["orders", "list", "--environment", "Sandbox"], saying: "ORD-")
        try await succeed(site, ["orders", "show", numbers[0]], saying: numbers[0], "initial_purchase")
        for number in numbers {
            try await succeed(site, ["refunds", "create", number, "--type", "full", "--why", "asked"], saying: "RF-00")
        }
        try await succeed(site, ["refunds", "approve", "RF-001"], saying: "approved")
        try await succeed(
            site,
            ["refunds", "record", "RF-001", "--reference", "R-1", "--amount", "10", "--at", Date.now.ISO8601Format()],
            saying: "R-1")
        try await succeed(site, ["refunds", "reject", "RF-002", "--note", "no"], saying: "rejected")
        try await succeed(site, ["refunds", "cancel", "RF-003", "--note", "no"], saying: "cancelled")
        try await succeed(site, ["refunds", "list", "--environment", "Sandbox"], saying: "RF-003")
        try await succeed(site, ["grant", "user-42", "--tier", "pro", "--days", "3", "--why", "asked"])
        try await succeed(site, ["notes", "add", "user-42", "--note", "called"], saying: #""id":1"#, "ca…")
        try await succeed(site, ["notes", "list", "--account", "user-42", "--open"], saying: "called")
        try await succeed(site, ["staff", "add", "kim@example.com", "--role", "viewer"])
        try await succeed(site, ["staff", "password", "kim@example.com", "--generate"], saying: "\"password\":")
        try await succeed(site, ["staff", "list"], saying: "kim@example.com")
        try await succeed(site, ["staff", "remove", "kim@example.com"])
        try await succeed(site, ["audit", "list"], saying: "record_refund", "remove_staff")
        try await succeed(site, ["audit", "export"], saying: "record_refund")
        try await succeed(site, ["audit", "verify"])
    }

    /// Figures and counts of the clocks; a month that is closed, and a report of Apple's that is compared.
    private func finance(_ site: Site) async throws {
        try await eventually("figures stand", within: .seconds(240)) {
            try await site.value("select zone is not null and next_zone is null from storehook.figure_state")
        }
        try await eventually("accounts are counted") {
            try await site.value("select counted_at is not null from storehook.account_count_state")
        }
        try await eventually("what is due is counted") {
            try await site.value("select bool_and(counted_at is not null) from storehook.due_count_state")
        }
        try await succeed(site, ["due"], saying: #""age":"older""#, #""alert":false"#)
        try await succeed(site, ["due", "list", "--age", "6h"], saying: #""ends":["#)
        try await succeed(site, ["figures", "users", "--by", "day"], saying: #""running":true"#)
        try await succeed(site, ["figures", "usage", "--by", "day"], saying: #""figure":"usage""#)
        try await succeed(site, ["figures", "net", "--by", "month,plan"], saying: #""split":"plan""#)
        try await succeed(site, ["figures", "close", "2020-01", "--unproven", "no key"], saying: "2020-01")
        try await succeed(site, ["figures", "net", "--closed", "--from", "2020-01-01"], saying: #""cells":[]"#)
        let corrections = ["figures", "net", "--closed", "--rows", "--from", "2020-01-01"]
        try await succeed(site, corrections, saying: "corrections")
        try await succeed(site, ["figures", "reopen", "2020-01", "--why", "a test"])
        let report = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: report) }
        try FiguresCompareTests.report([("1", "0.99")]).write(to: report, atomically: true, encoding: .utf8)
        try await succeed(
            site, ["figures", "compare", report.path, "--tolerance", "100%"], saying: #""only_theirs":1"#)
    }

    @Test("a thousand notifications are accounted for, what is too old is dropped, and a rebuild finds no difference")
    func thousand() async throws {
        try await withOddSite { site in
            try await succeed(site, ["migrate"], saying: "the schema is current (version \(Schema.oldestFitting))")
            try await succeed(site, ["account-ids", "set", "text", "--yes"])
            try await succeed(site, ["account-ids", "show"], saying: "text")
            let pki = FileManager.default.temporaryDirectory.appending(path: "storehook-pki-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: pki) }
            try site.authority.save(to: pki.path)
            try await site.with(["receive", "--port", "0"]) { receiver in
                let url = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                try await site.with(["work"]) { worker in
                    try await succeed(
                        site, ["demo", "--to", url, "--pki", pki.path, "--notifications", "1000"],
                        saying: "received 1000 = applied ", " + dead 0", "every notification is accounted for")
                    try await succeed(site, ["catalog", "apply", "/dev/stdin"], input: shopCatalog)
                    try await desk(site)
                    try await finance(site)
                    #expect(!worker.errors.contains("SQLSTATE"), "\(worker.errors)")
                }
            }
            try await site.pool.withTransaction { try $0.executeScript(agedOutbox) }
            try await succeed(
                site, ["maintain", "--format", "json"], saying: #""outcome":"dropped""#,
                with: ["STOREHOOK_RETENTION_DAYS": "7"])
            try await succeed(
                site, ["queue", "--conservation", "--audit", "--format", "table"], saying: "missing 0, doubled 0")
            try await succeed(site, ["rebuild", "--check"])
            let doctor = try site.start(["doctor", "--format", "json", "--port", "\(try freePort())"])
            await doctor.end()
            let lines = doctor.output
            await doctor.discard()
            // A root of the test's own is a fault, and no matter here.
            #expect(
                !lines.contains("SQLSTATE") && lines.contains(#""check":"server","message":"PostgreSQL "#), "\(lines)")
            #expect(lines.components(separatedBy: #""status":"failed""#).count <= 3, "\(lines)")
        }
    }

    /// Commands that ask no database.
    private static let withoutDatabase: Set = [
        "help", "simulate", "app-store", "apple notifications", "apple extend-all-status", "demo token",
    ]
    /// What the life of the goldens begins with, what is run above, and what AppleCommandTests, DemoLifeTests and
    /// JobsCommandTests run.
    private static let used: Set = [
        "migrate", "receive", "work", "serve", "console", "endpoints add", "catalog apply", "account-ids set",
        "account-ids show",
        "demo run", "demo life", "apple test", "orders list", "orders show", "figures show", "figures close",
        "due show", "due list", "notes add", "notes list", "jobs list", "jobs show", "jobs stop", "figures users",
        "figures usage", "figures reopen",
        "figures compare", "rates import", "rates list",
        "commission apply", "commission show", "fiscal-calendar apply", "fiscal-calendar show",
        "refunds create", "refunds approve",
        "refunds record", "refunds reject", "refunds cancel", "refunds list", "staff add", "staff list",
        "staff password",
        "staff remove",
        "audit list", "audit export", "audit verify",
    ]

    @Test("every command is run: it has an output among the goldens, or is run here")
    func commands() async throws {
        let outputs = packageRoot.appending(path: "Tests/ProgramTests/Golden/outputs/commands.txt")
        let questions = try String(contentsOf: outputs, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("=== storehook ") }.map { $0.dropFirst("=== storehook ".count) }
        func leaves(_ command: CommandHelp, _ path: [String]) -> [(path: String, isUsual: Bool)] {
            command.subcommands.flatMap { next -> [(path: String, isUsual: Bool)] in
                let path = path + [next.name]
                let usual = command.usual == next.name && path.count > 1
                return next.subcommands.isEmpty ? [(path.joined(separator: " "), usual)] : leaves(next, path)
            }
        }
        let all = leaves(try await CommandHelp.of(Executable.path), [])
        #expect(all.count > 50)
        for (path, isUsual) in all where !Self.withoutDatabase.contains(path) && !Self.used.contains(path) {
            let shown = isUsual ? String(path.prefix { $0 != " " }) : path
            #expect(questions.contains { "\($0) ".hasPrefix("\(shown) ") }, "\(path) has no output")
        }
    }
}
