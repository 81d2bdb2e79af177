import Foundation
import TestSupport
import Testing

@Suite("storehook catalog")
struct CatalogCommandTests {
    /// Runs the program without any setting.
    private func run(_ arguments: String...) async throws -> Outcome {
        let program = try ChildProgram(Executable.path, arguments, environment: [:])
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test("check needs no database, says what is in a good file, and leaves with 0, with warnings too")
    func good() async throws {
        let example = packageRoot.appending(path: "deploy/catalogs/tiers-and-limits.yaml").path
        let table = try await run("catalog", "check", example, "--format", "table")
        #expect(table.ending == .exited(0) && table.errors.isEmpty)
        #expect(table.output == "\(example) is good: 3 tiers, 4 products, 11 features\n")
        let path = try file(
            """
            tiers: [{id: free}, {id: pro}]
            features:
              - id: export
                limits: {free: 5 per day, pro: 4 per day}
            """)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let warned = try await run("catalog", "check", path, "--format", "table")
        #expect(warned.ending == .exited(0))
        #expect(
            warned.output.hasPrefix("\(path):4:31: warning: export falls from 5 per day in free to 4 per day in pro"),
            "\(warned)")
        let answer = try #require(try await run("catalog", "check", path).json() as? [String: Any])
        #expect(answer["valid"] as? Bool == true && (answer["catalog"] as? [String: Any])?["features"] as? Int == 1)
        let findings = try #require(answer["findings"] as? [[String: Any]])
        #expect(findings.count == 1 && findings[0]["line"] as? Int == 4 && findings[0]["column"] as? Int == 31)
        #expect(findings[0]["severity"] as? String == "warning")
    }

    @Test("check says all that is wrong, a line each with its place, and leaves with 1")
    func bad() async throws {
        let path = try file("tiers:\n  - id: free\n  - id: free\ncolour: red\nproducts:\n  - {id: a, tier: gold}\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let table = try await run("catalog", "check", path, "--format", "table")
        #expect(table.ending == .exited(1) && table.errors.isEmpty)
        let lines = table.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("\(path):") && $0.contains(": error: ") }, "\(table.output)")
        #expect(lines[0].hasPrefix("\(path):3:") && lines[1].hasPrefix("\(path):4:") && lines.count > 4)
        #expect(lines.contains { $0.hasPrefix("\(path):6:19: error: ") && $0.contains("gold") }, "\(table.output)")
        let json = try await run("catalog", "check", path)
        let answer = try #require(try json.json() as? [String: Any])
        #expect(json.ending == .exited(1) && answer["valid"] as? Bool == false)
        #expect((answer["findings"] as? [Any])?.count == lines.count)
    }

    @Test("check names the column and the value that cannot stand there")
    func values() async throws {
        let path = try file("tiers:\n  - id: free\nwarning_days: sevén\nproducts: all\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let table = try await run("catalog", "check", path, "--format", "table")
        #expect(table.output.contains("\(path):3:15: error: warning_days is a whole number"), "\(table.output)")
        #expect(table.output.contains(#"(here: "sevén")"#), "\(table.output)")
        let answer = try #require(try await run("catalog", "check", path).json() as? [String: Any])
        let findings = try #require(answer["findings"] as? [[String: Any]])
        #expect(findings.map { $0["line"] as? Int } == [3, 4] && findings.map { $0["column"] as? Int } == [15, 11])
        #expect(findings.map { $0["value"] as? String } == [#""sevén""#, #""all""#], "\(findings)")
        let broken = try file("tiers:\n  - id: [free\n")
        defer { try? FileManager.default.removeItem(atPath: broken) }
        let yaml = try await run("catalog", "check", broken, "--format", "table")
        #expect(yaml.output.wholeMatch(of: /.+:3:1: error: this is not YAML.+\n/) != nil, "\(yaml.output)")
    }

    @Test("check of what is no text, or too long, says so in a line")
    func noText() async throws {
        let path = try file("")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: path))
        let binary = try await run("catalog", "check", path)
        #expect(binary.ending == .exited(2) && binary.errorLines == 1 && binary.errors.contains("UTF-8"))
        try Data(repeating: 0x23, count: 8 << 20).write(to: URL(fileURLWithPath: path))
        let long = try await run("catalog", "check", path, "--format", "table")
        #expect(long.ending == .exited(1) && long.output.contains("at most 1 MiB"), "\(long)")
        let folder = try await run("catalog", "check", FileManager.default.temporaryDirectory.path)
        #expect(folder.ending == .exited(2) && folder.errorLines == 1, "\(folder)")
        #expect(folder.errors.contains("it is a directory"), "\(folder)")
    }

    @Test("schema prints what stands beside the examples")
    func schema() async throws {
        let printed = try await run("catalog", "schema")
        let file = packageRoot.appending(path: "deploy/catalogs/catalog.schema.json")
        #expect(printed.ending == .exited(0))
        #expect(try String(contentsOf: file, encoding: .utf8) == printed.output)
    }
}
