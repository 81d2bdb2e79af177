import AppStorePayloads
import EventStore
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook events")
struct EventCommandTests {
    private func tell(_ site: Site, _ count: Int, of account: UUID? = nil) async throws {
        try await site.pool.query(writingEvents(count, of: account))
        try await EventStore(site.pool).place()
    }

    private func cursors(_ output: String) throws -> [Int64] {
        try output.split(separator: "\n").map { line in
            let event = try #require(try JSONDocument(Array(line.utf8)).object)
            #expect(event.string("id")?.hasPrefix("evt_") == true && event.string("type") == "test")
            return try #require(event.integer("cursor"))
        }
    }

    @Test("list tells the last ones, those after a cursor and those of an account, for people and for scripts")
    func list() async throws {
        try await withSite { site in
            let nothing = try await site.run("events", "list")
            #expect(nothing.ending == .exited(0) && nothing.output.isEmpty, "\(nothing)")
            let ann = try #require(UUID(uuidString: "7f1de78e-0d4e-4c5e-9d3c-000000000001"))
            try await tell(site, 4)
            try await tell(site, 2, of: ann)
            try await tell(site, 3)
            func listed(_ arguments: String...) async throws -> [Int64] {
                let program = try site.start(["events", "list"] + arguments)
                let ending = await program.end()
                let (output, errors) = (program.output, program.errors)
                await program.discard()
                #expect(ending == .exited(0), "\(errors)")
                return try cursors(output)
            }
            #expect(try await listed() == Array(1...9))
            #expect(try await listed("--limit", "2") == [8, 9])
            #expect(try await listed("--after", "3", "--limit", "2") == [4, 5])
            #expect(try await listed("--account", "\(ann)".lowercased()) == [5, 6])
            #expect(try await listed("--account", "\(ann)", "--after", "5") == [6])
            #expect(try await listed("--account", "bob") == [])
            let table = try await site.run("events", "list", "--limit", "1", "--format", "table")
            let lines = table.output.split(separator: "\n")
            #expect(lines.count == 2 && lines[0].contains("CURSOR") && lines[1].contains("test"), "\(table.output)")
            let ahead = try await site.run("events", "list", "--after", "10")
            #expect(ahead.ending == .exited(1) && ahead.errors.contains("no event 10"), "\(ahead)")
            try await site.pool.query("delete from storehook.event_places where position <= 3")
            let gone = try await site.run("events", "list", "--after", "2")
            #expect(gone.ending == .exited(1) && gone.errors.contains("--after 3"), "\(gone)")
            #expect(try await site.run("events", "list", "--limit", "0").ending == .exited(2))
        }
    }

    @Test("list --follow goes on with what comes")
    func follow() async throws {
        try await withSite { site in
            try await tell(site, 3)
            let program = try site.start(["events", "list", "--limit", "2", "--follow"])
            do {
                try await eventually("it tells what is there") { try cursors(program.output) == [2, 3] }
                try await tell(site, 2)
                try await eventually("it tells what comes") { try cursors(program.output) == [2, 3, 4, 5] }
            } catch {
                print(program.errors)
                await program.discard()
                throw error
            }
            await program.discard()
        }
    }
}
