import Foundation
import Glibc
import TestSupport
import Testing

@Suite("All that lists something")
struct ListingTests {
    /// Lists, and what shows several lines of a kind.
    private static func isListing(_ words: [String], _ command: CommandHelp) -> Bool {
        let others: Set = ["queue", "apps", "doctor", "reconcile"]
        return command.isComplete && words.first != "apple"
            && (command.name == "list" || command.options.contains("--limit")
                || others.contains(words.joined(separator: " ")))
    }

    @Test("takes --format, and says the same of it, as does every command that has it")
    func option() async throws {
        let help = try await CommandHelp.of(Executable.path)
        let leaves = help.leaves()
        for (words, command) in leaves where Self.isListing(words, command) || command.options.contains("--limit") {
            #expect(command.options.contains("--format"), "\(words)")
        }
        let said = Set(leaves.compactMap { $0.command.explanations["--format"] })
        // Lists of accounts, subscriptions and acts go into spreadsheets, too; no person reads a whole export on a terminal.
        #expect(
            said == [
                "table or json; table on a terminal, json elsewhere.",
                "table, json or csv; table on a terminal, json elsewhere.", "json or csv.",
            ])
    }

    @Test("is JSON off a terminal and a table on one, and what --format says on both")
    func formats() async throws {
        let leaves = try await CommandHelp.of(Executable.path).leaves()
        // Keys for Apple's servers are another matter.
        let listings = leaves.filter { Self.isListing($0.words, $0.command) && $0.words != ["reconcile"] }.map(\.words)
        for known in [
            ["dead-letters", "list"], ["events", "list"], ["events", "deliveries"], ["endpoints", "list"],
            ["purchases", "list"], ["extensions", "list"], ["consumption", "list"], ["account", "expiring"], ["queue"],
            ["apps"], ["doctor"],
        ] {
            #expect(listings.contains(known), "\(listings)")
        }
        // By default half of them, chosen by chance.
        var generator = SeededGenerator()
        let some = sampled(listings + [["staff", "token", "--list"]], oneIn: 2, using: &generator)
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            for words in some {
                let plain = try await outcome(site, words)
                #expect(isJSON(plain), "\(words): \(plain)")
                let terminal = try await onTerminal(site, words)
                #expect(!terminal.isEmpty && !isJSON(terminal), "\(words): \(terminal)")
                #expect(isJSON(try await onTerminal(site, words + ["--format", "json"])), "\(words)")
                let table = try await outcome(site, words + ["--format", "table"])
                #expect(!table.isEmpty && !isJSON(table), "\(words): \(table)")
            }
        }
    }

    /// Every line is JSON; a feed without an event has none.
    private func isJSON(_ text: String) -> Bool {
        text.split(separator: "\n").allSatisfy { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)) != nil
        }
    }

    private func outcome(_ site: Site, _ words: [String]) async throws -> String {
        let program = try site.start(words)
        _ = await program.end()
        let output = program.output
        // 1 is an answer of the doctor's.
        #expect(program.ending == .exited(0) || words.first == "doctor", "\(words): \(program.errors)")
        await program.discard()
        return output
    }

    /// What a command prints on a terminal. It has to fit into the terminal's buffer.
    private func onTerminal(_ site: Site, _ words: [String]) async throws -> String {
        var (terminal, end) = (Int32(-1), Int32(-1))
        guard openpty(&terminal, &end, nil, nil, nil) == 0 else { throw NeverHappened("a terminal is there") }
        defer { close(terminal) }
        let program: ChildProgram
        do {
            program = try site.start(words, output: .descriptor(end))
        } catch {
            close(end)
            throw error
        }
        close(end)
        let reader = Task.detached { [terminal] in
            var said: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            // EIO once no process holds the other end.
            while case let count = read(terminal, &buffer, buffer.count), count > 0 { said += buffer[..<count] }
            return String(decoding: said, as: UTF8.self)
        }
        await program.end()
        let said = await reader.value
        #expect(program.ending == .exited(0) || words.first == "doctor", "\(words): \(program.errors)")
        await program.discard()
        return said.replacing("\r\n", with: "\n")
    }
}
