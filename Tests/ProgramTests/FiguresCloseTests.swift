import FigureStore
import Figures
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook figures close")
struct FiguresCloseTests {
    private func ask(_ site: Site, _ arguments: [String]) async throws -> Outcome {
        let program = try site.start(["figures"] + arguments)
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    private func elements(_ outcome: Outcome, _ name: String) throws -> [[String: Any]] {
        let value = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        return try #require(value?[name] as? [[String: Any]], "\(outcome)")
    }

    private let march = ["--from", "2026-03-01", "--to", "2026-03-31"]

    @Test("records a month, answers by it, lists the corrections, and opens it again on record")
    func life() async throws {
        try await withSite { site in
            try await FiguresCommandTests.write(site)
            while try await FigureStore(site.pool).sum(in: "UTC", commission: .standard) {}
            let unproven = try await ask(site, ["close", "2026-03"])
            #expect(unproven.ending == .exited(1) && unproven.errors.contains("--unproven"), "\(unproven)")
            let closed = try await ask(site, ["close", "2026-03", "--unproven", "no key", "--as", "anna"])
            #expect(closed.ending == .exited(0) && closed.output.contains("\"closed_by\":\"cli:anna\""), "\(closed)")
            let again = try await ask(site, ["close", "2026-03", "--unproven", "no key"])
            #expect(again.ending == .exited(1) && again.errors.contains("reopen 2026-03"), "\(again)")

            try await site.pool.query("update storehook.booked_transactions set price = 5990 where item = '1002'")
            while try await FigureStore(site.pool).sum(in: "UTC", commission: .standard) {}
            let was = try elements(await ask(site, ["gross", "--closed"] + march), "cells")
            #expect(was.map { $0["gross"] as? Int } == [14_970])
            let now = try elements(await ask(site, ["gross"] + march), "cells")
            #expect(now.map { $0["gross"] as? Int } == [15_970])
            let corrections = try elements(await ask(site, ["gross", "--closed", "--rows"] + march), "corrections")
            #expect(corrections.map { $0["change"] as? String } == ["changed"])
            #expect(corrections.map { $0["former_amount"] as? Int } == [4990])
            #expect(corrections.map { $0["amount"] as? Int } == [5990])
            let csv = try await ask(site, ["gross", "--closed", "--rows", "--format", "csv"] + march)
            #expect(csv.output.contains("'=sum"), "\(csv)")
            // As a release without proceeds has closed it.
            try await site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local session_replication_role = replica;
                    update storehook.closed_months set measures = array_remove(measures, 'proceeds');
                    """)
            }
            for arguments in [[], ["--rows"]] {
                let lacking = try await ask(site, ["proceeds", "--closed"] + arguments + march)
                #expect(lacking.output.contains(#""not_recorded":["2026-03"]"#), "\(lacking)")
                let table = try await ask(site, ["proceeds", "--closed", "--format", "table"] + arguments + march)
                #expect(table.output.contains("proceeds is not on record for 2026-03"), "\(table)")
                let recorded = try await ask(site, ["gross", "--closed"] + arguments + march)
                #expect(recorded.output.contains(#""not_recorded":[]"#), "\(recorded)")
            }
            let sandbox = try await ask(site, ["gross", "--closed", "--environment", "Sandbox"])
            #expect(sandbox.ending == .exited(2), "\(sandbox)")

            let opened = try await ask(site, ["reopen", "2026-03", "--why", "a test", "--as", "bert"])
            #expect(opened.ending == .exited(0), "\(opened)")
            #expect(try elements(await ask(site, ["gross", "--closed"] + march), "cells").isEmpty)
            let twice = try await ask(site, ["reopen", "2026-03", "--why", "a test"])
            #expect(twice.ending == .exited(1) && twice.errors.contains("not closed"), "\(twice)")
        }
    }
}
