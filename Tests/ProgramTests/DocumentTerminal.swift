import Foundation
import TestSupport
import Testing

/// A terminal in a directory of a reader's: what one line sets stands for the next. What a document shows in the place of the
/// reader's own is replaced, and nothing else.
struct DocumentTerminal: Sendable {
    let directory: String
    var environment: [String: String]
    /// What documents show, and what it is here.
    var replaced: [(shown: String, own: String)] = []

    /// Where `deploy/run` runs: its settings are where it writes them, and what it serves on some ports is served on others.
    /// - Parameter ports: pairs of the port that documents name and the one that it is here.
    init(_ site: Site, _ settings: [String: String], _ directory: String, ports: [(shown: Int, own: Int)]) throws {
        let all = site.environment(settings)
        let programs = URL(fileURLWithPath: Executable.path).deletingLastPathComponent().path
        self.directory = directory
        environment = all.merging([
            "HOME": directory, "PATH": "\(programs):/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]) { $1 }
        try FileManager.default.createDirectory(atPath: directory + "/.storehook", withIntermediateDirectories: true)
        try write(
            all.filter { $0.key.hasPrefix("STOREHOOK_") || $0.key == "DATABASE_URL" }
                .map { "\($0.key)=\($0.value)\n" }.sorted().joined(), ".storehook/storehook.env")
        let connections = ports.map { "connect-to = \"127.0.0.1:\($0.shown):127.0.0.1:\($0.own)\"\n" }.joined()
        try write(connections + "fail-with-body\nsilent\nshow-error\nmax-time = 60\n", ".curlrc")
        try write(shopCatalog, "catalog.yaml")
    }

    /// Puts a file into the directory.
    func write(_ text: String, _ file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(file)"))
    }

    /// Types a line; it has to succeed.
    /// - Parameter mayAnswerNo: whether a status of 1 is an answer.
    /// - Returns: what it said.
    func type(_ line: String, mayAnswerNo: Bool = false) async throws -> String {
        var own = line
        for (shown, replacement) in replaced { own = own.replacing(shown, with: replacement) }
        if mayAnswerNo { own = "if \(own)\nthen :; else [[ $? == 1 ]]; fi" }
        return try await ChildProgram.run(
            "/usr/bin/timeout",
            [
                "--kill-after=5", "120", "/bin/bash", "-uec",
                "cd '\(directory)'\nif [[ -e variables ]]; then . ./variables; fi\n\(own)\n"
                    + "declare -p token >variables 2>/dev/null || :",
            ], environment: environment)
    }

    /// Types all that a document says to type, and runs its SQL. What stands right below must be the answer. Each line that fails is
    /// recorded, and the next one is typed all the same.
    /// - Parameter heard: what a reader does with a line's answer.
    mutating func type(
        _ document: Document,
        heard: (_ terminal: inout DocumentTerminal, _ line: String, _ said: String) async throws -> Void = {
            _, _, _ in
        }
    ) async throws {
        // What the block before said; nil where that was not typed.
        var said: String?
        for block in document.blocks {
            if let answer = said, block.isBelowTheOneBefore, ["json", "text"].contains(block.language) {
                #expect(block.isShown(in: answer), "\(document.path): \(block.lines): \(answer)")
            }
            said = nil
            if block.language == "sql" {
                let terminal = self
                try write(block.lines.joined(separator: "\n"), "statements.sql")
                await record(document, block.lines.first ?? "") {
                    try await terminal.type("psql \"$DATABASE_URL\" -qAt -v ON_ERROR_STOP=1 -f statements.sql")
                }
            } else if block.isTyped {
                var answers = ""
                for line in block.commands {
                    // The doctor says what is to be done, and there may be something; a catalog differs from the current one; what a dry
                    // run replays has to be mended first.
                    let isQuestion =
                        line.hasPrefix("storehook doctor") || line.hasPrefix("storehook catalog diff")
                        || line.hasSuffix("--dry-run")
                    let terminal = self
                    let answer = await record(document, line) {
                        try await terminal.type(line, mayAnswerNo: isQuestion)
                    }
                    answers += answer
                    try await heard(&self, line, answer)
                }
                said = answers
            }
        }
    }

    /// What a line said; nothing where it failed, which is recorded.
    @discardableResult
    private func record(_ document: Document, _ line: String, _ type: () async throws -> String) async -> String {
        do {
            return try await type()
        } catch {
            Issue.record("\(document.path): \(line): \(error)")
            return ""
        }
    }
}
