import Foundation
import TestSupport
import Testing

/// Whoever reads the README types what stands there. What is replaced is what the README says is replaced: where it shows three dots
/// or a name of the reader's own, and what stands in brackets is there or not.
@Suite("The README's lines")
struct ReadmeTests {
    /// Something to be typed, and the answer that is shown below it.
    private struct Line {
        var text: String
        var answer: String?
    }

    /// What stands apart in a chapter. An answer of the API begins with a brace.
    private static func lines(of chapter: String) throws -> [Line] {
        let text = try String(contentsOf: packageRoot.appending(path: "README.md"), encoding: .utf8)
        let begin = try #require(text.firstRange(of: "\n## \(chapter)\n")).upperBound
        let end = text[begin...].firstRange(of: "\n## ")?.lowerBound ?? text.endIndex
        var lines: [Line] = []
        for line in text[begin..<end].split(separator: "\n") where line.hasPrefix("    ") {
            let typed = String(line.dropFirst(4))
            if typed.hasPrefix("{") {
                try #require(!lines.isEmpty)
                lines[lines.count - 1].answer = typed
            } else if let bracket = typed.wholeMatch(of: /(.*) \[(.*?)\](.*)/) {
                lines.append(Line(text: "\(bracket.1)\(bracket.3)"))
                lines.append(Line(text: "\(bracket.1) \(bracket.2)\(bracket.3)"))
            } else {
                lines.append(Line(text: typed))
            }
        }
        return lines
    }

    /// A terminal in a directory of the reader's: what one line sets stands for the next.
    private struct Terminal {
        let directory: String
        var environment: [String: String]

        /// Types a line; it has to succeed.
        func type(_ line: String) async throws -> String {
            try await ChildProgram.run(
                "/bin/bash",
                [
                    "-uec",
                    "cd '\(directory)'\nif [[ -e variables ]]; then . ./variables; fi\n\(line)\n"
                        + "declare -p token >variables 2>/dev/null || :",
                ], environment: environment)
        }
    }

    /// Whether an answer is the one that is shown, which has three dots for what it leaves out.
    private static func isShown(_ shown: String, _ answer: String) -> Bool {
        var rest = answer[...]
        for piece in shown.split(separator: "…") {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    @Test("about the account API are typed as they stand, and each does what is said")
    func accountAPI() async throws {
        let lines = try Self.lines(of: "Ask it from your app and your backend")
        #expect(lines.count >= 10, "the chapter's form has changed, or this test reads it wrongly")
        #expect(lines.count { $0.text.hasPrefix("curl ") } >= 2 && lines.contains { $0.answer != nil })
        try await withSite { site in
            try await withTokenKey { settings in
                try await withTemporaryDirectory { directory in
                    try await site.with(["serve", "--port", "0"], settings) { api in
                        let port = try #require(api.port)
                        let terminal = try Self.terminal(site, settings, directory, port: port)
                        try await Self.type(lines, in: terminal, port: port)
                    }
                }
            }
        }
    }

    /// Where `deploy/run` runs: its settings are where it writes them, and what it serves on 8081 is served elsewhere.
    private static func terminal(
        _ site: Site, _ settings: [String: String], _ directory: String, port: Int
    ) throws -> Terminal {
        func write(_ text: String, _ file: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory)/\(file)"))
        }
        try FileManager.default.createDirectory(atPath: directory + "/.storehook", withIntermediateDirectories: true)
        let all = site.environment(settings)
        try write(
            all.filter { $0.key.hasPrefix("STOREHOOK_") || $0.key == "DATABASE_URL" }
                .map { "\($0.key)=\($0.value)\n" }.sorted().joined(), ".storehook/storehook.env")
        try write(
            "connect-to = \"127.0.0.1:8081:127.0.0.1:\(port)\"\nfail-with-body\nsilent\nshow-error\nmax-time = 60\n",
            ".curlrc")
        try write(shopCatalog, "catalog.yaml")
        let programs = URL(fileURLWithPath: Executable.path).deletingLastPathComponent().path
        return Terminal(
            directory: directory,
            environment: all.merging([
                "HOME": directory, "PATH": "\(programs):/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            ]) { $1 })
    }

    private static func type(_ lines: [Line], in terminal: Terminal, port: Int) async throws {
        var terminal = terminal
        let api = ServedAPI(port: port)
        for line in lines {
            let said = try await terminal.type(line.text)
            if let answer = line.answer { #expect(isShown(answer, said), "\(line.text): \(said)") }
            // It is shown once, and whoever reads it keeps it; it counts after a while, and so does that it was revoked.
            if let key = said.firstMatch(of: /shk_[A-Za-z0-9_-]+/) {
                terminal.environment["KEY"] = String(key.output)
                try await eventually("the key counts") { try await status(api, String(key.output)) == 200 }
            }
            if line.text.contains("--revoke"), let key = terminal.environment["KEY"] {
                try await eventually("the key does not count any more") { try await status(api, key) == 401 }
            }
        }
    }

    private static func status(_ api: ServedAPI, _ key: String) async throws -> Int {
        try await api.send("/v1/account", [("X-Account-ID", "alice")], token: key).status
    }
}
