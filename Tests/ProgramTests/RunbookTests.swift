import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

/// An operator types it at three in the morning: whatever SQL the runbook says is run here, as the user that it says.
@Suite("The runbook's SQL")
struct RunbookTests {
    /// A statement, and the database and user that it is to be run with.
    private struct Statement {
        var sql: String
        /// About the server's databases, where no session is connected to the one in question.
        var isAboutDatabases = false
        /// As PostgreSQL's administrator; else as an operator.
        var isAdministrators = false
    }

    private static func statements() throws -> [Statement] {
        let text = try String(contentsOf: packageRoot.appending(path: "deploy/runbook.md"), encoding: .utf8)
        var statements: [Statement] = []
        for block in codeBlocks(text) {
            let first = block.prefix { $0.isLetter }.lowercased()
            if ["select", "insert", "with", "update", "delete"].contains(first) {
                statements += block.split(separator: ";").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
                    .filter { !$0.isEmpty }.map { Statement(sql: $0) }
            }
            for found in block.matches(
                of: #/(?<command>[^\n]*psql[^"'\n]*)-c (?:"(?<double>[^"]*)"|'(?<single>[^']*)')/#)
            {
                let sql = found.output.double ?? found.output.single ?? ""
                statements.append(
                    Statement(
                        sql: String(sql), isAboutDatabases: found.output.command.contains("-d postgres"),
                        isAdministrators: found.output.command.contains("-u postgres")))
            }
        }
        // Beside the text, where nothing has to be put in for a name.
        for found in text.matches(of: /`(select [^`]*)`/) where !found.output.1.contains(/[A-Z]{3}/) {
            statements.append(Statement(sql: String(found.output.1)))
        }
        return statements
    }

    /// Lines indented by four or more; list items indent their text by three.
    private static func codeBlocks(_ text: String) -> [String] {
        var blocks: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("    ") {
                blocks[blocks.count - 1].append(line.drop { $0 == " " })
            } else if blocks.last?.isEmpty == false {
                blocks.append([])
            }
        }
        return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
    }

    private struct RolledBack: Error {}

    @Test("runs as it stands, each statement by whoever is to run it")
    func runs() async throws {
        let statements = try Self.statements()
        #expect(statements.count >= 12, "the runbook's form has changed, or this test reads it wrongly")
        try await withRoles { site in
            _ = try await packed(in: site, count: 3)
            for statement in statements where !statement.isAboutDatabases {
                do {
                    try await site.pool.withTransaction { session in
                        if !statement.isAdministrators { try session.executeScript("set local role storehook_ops") }
                        try session.executeScript(statement.sql)
                        throw RolledBack()
                    }
                } catch is RolledBack {
                } catch {
                    Issue.record("\(statement.sql): \(error)")
                }
                // What is stored is packed: an operator who reads it by SQL reads nothing.
                #expect(!statement.sql.contains(/\bbody\b/), "\(statement.sql)")
            }
        }
    }

    @Test("puts another database in the place of one, the clients of which are sent away")
    func databases() async throws {
        let statements = try Self.statements().filter(\.isAboutDatabases)
        #expect(statements.count >= 4)
        try await withSite { site in
            let name = "\(site.database.name)_swap"
            for made in [name, "\(name)_restored"] {
                try await site.pool.query("create database \(unescaped: made)")
            }
            do {
                for statement in statements {
                    let sql = statement.sql.replacing("storehook", with: name)
                    try await site.pool.withTransaction { try $0.executeScript(sql) }
                }
                let names = try await site.pool.query(
                    "select datname::text from pg_database where datname like \("\(name)%") order by 1"
                ).map { try $0.decode(0, as: String.self) }
                #expect(names == [name, "\(name)_lost"])
            } catch {
                Issue.record("\(error)")
            }
            for made in [name, "\(name)_restored", "\(name)_lost"] {
                try await site.pool.query("drop database if exists \(unescaped: made)")
            }
        }
    }

    @Test(
        "puts a notification that is missing back on the queue, and a letter's bytes are read by the command that it says"
    )
    func packedBodies() async throws {
        try await withRoles { site in
            let texts = try await packed(in: site, count: 2)
            try await site.pool.query("delete from storehook.outbox_queue")
            #expect(try await site.outbox.conservation().missing == 2)
            for statement in try Self.statements() where statement.sql.hasPrefix("insert") {
                try await site.pool.withTransaction { session in
                    try session.executeScript("set local role storehook_ops")
                    try session.executeScript(statement.sql)
                }
            }
            #expect(try await site.outbox.conservation().pending == 2)
            try await site.with(["work"], ["STOREHOOK_APPS": "com.example.other"]) { _ in try await site.untilDone() }
            for (id, text) in zip(1..., texts) {
                #expect(try await site.run("dead-letters", "show", "\(id)", "--raw").output == text)
            }
        }
    }

    /// Stores notifications whose headers are known, so that they are packed.
    private func packed(in site: Site, count: Int) async throws -> [String] {
        let texts = (1...count).map { lane in
            var subscriber = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
            subscriber.buy(.premiumMonthly, at: Site.now)
            return subscriber.takeNotifications()[0].signed(by: site.authority)
        }
        try await site.outbox.keepHeaders(of: [Array(texts[0].utf8)])
        try await site.outbox.store(texts.map { Array($0.utf8) })
        #expect(
            try await site.value("select count(*) from storehook.outbox where packing = 1", as: Int64.self)
                == Int64(count))
        return texts
    }
}
