import Foundation
import TestSupport
import Testing

@Suite("The documents")
struct DocumentTests {
    @Test("begin with a README of a few minutes")
    func sizes() throws {
        let text = try Document("README.md").text
        #expect(text.utf8.count <= 12_000)
        #expect(text.count { $0 == "\n" } <= 200)
    }

    @Test("close every fence, and leave nothing to be filled in")
    func whole() throws {
        for document in try Document.all() {
            #expect(!document.isOpen, "\(document.path)")
            #expect(document.text.firstMatch(of: /\{\{[A-Z_]+\}\}/) == nil, "\(document.path)")
        }
    }

    @Test("lead with each link to a file that is there, and to a heading of it")
    func links() throws {
        let documents = try Document.all()
        let byPath = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        #expect(documents.reduce(0) { $0 + $1.links.count } >= 50, "this test reads links wrongly")
        for document in documents {
            for link in document.links {
                let fault = document.fault(of: link, in: byPath)
                #expect(fault == nil, "\(document.path): \(link)")
            }
            #expect(document.strayLinkNames == [], "\(document.path)")
            #expect(document.missingFiles == [], "\(document.path)")
        }
    }

    @Test("lead from Apple's post to the committed effect through thirty files at most, each of them there")
    func way() throws {
        let text = try Document("Sources/ARCHITECTURE.md").text
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("From Apple's post") })
        let files = section.matches(of: /`(\w+\/[\w\/+]+\.swift)`/).map { String($0.1) }
        #expect((20...30).contains(files.count) && Set(files).count == files.count)
        let sources = packageRoot.appending(path: "Sources")
        let layers = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
        for file in files {
            let isThere = layers.contains { FileManager.default.fileExists(atPath: $0.appending(path: file).path) }
            #expect(isThere, "\(file)")
        }
    }

    @Test("say nothing to type that no test types, unless they say so and why")
    func typed() throws {
        let typed = Set(ChapterTests.documents + [AccountAPIChapterTests.document] + ConsoleTests.documents)
        // Another language would be a way past the tests: what is to be typed is in this one.
        let languages: Set = ["sh", "text", "json", "yaml", "sql", "python", "swift"]
        // ClientPackageTests type-checks its Swift.
        let compiled = "Sources/Programs/storehook/storehook.docc/Client.md"
        // Their commands are indented. RunbookTests runs the runbook's SQL.
        let indented: Set = ["Sources/ARCHITECTURE.md", "deploy/runbook.md"]
        for document in try Document.all() {
            for block in document.blocks {
                #expect(languages.contains(block.language), "\(document.path): \(block.language)")
                #expect(block.language != "swift" || document.path == compiled, "no test compiles \(document.path)")
                if block.isLeftOut {
                    #expect(
                        block.lines[0].wholeMatch(of: /# Our tests do not type this: .+\./) != nil,
                        "\(document.path): \(block.lines[0])")
                }
                #expect(
                    !["sh", "sql"].contains(block.language) || block.isLeftOut || typed.contains(document.path),
                    "no test types this block of \(document.path): \(block.lines)")
            }
            let apart = zip(document.prose, document.prose.dropFirst()).filter { $0.isEmpty && $1.hasPrefix("    ") }
            #expect(indented.contains(document.path) || apart.isEmpty, "\(document.path): \(apart)")
        }
    }

    @Test("name no command and no option that the programs do not have")
    func commands() async throws {
        let programs = [
            "storehook": try await CommandHelp.of(Executable.path),
            "storehook-bench": try await CommandHelp.of(Executable.bench),
        ]
        let scripts = try Self.scripts()
        let options = programs.values.reduce(into: Set<String>()) { $0.formUnion($1.allOptions) }
        let documents = try Document.all()
        let commands = documents.flatMap(\.commands)
        #expect(commands.count { $0.program == "storehook" } >= 100, "this test reads commands wrongly")
        #expect(commands.contains { $0.program == "deploy/run" && $0.options.contains("--demo") })
        #expect(commands.contains { $0.words.starts(with: ["account", "expiring"]) })
        for document in documents {
            for command in Set(document.commands) {
                let fault: String? =
                    if let program = programs[command.program] {
                        program.fault(of: command)
                    } else if let script = scripts[command.program] {
                        command.options.first { !Self.mentions(script, $0) }.map { "it has no \($0)" }
                    } else {
                        FileManager.default.fileExists(atPath: packageRoot.appending(path: command.program).path)
                            ? nil : "there is no \(command.program)"
                    }
                #expect(fault == nil, "\(document.path): \(command)")
            }
            let unknown = document.looseOptions.filter { option in
                !options.contains(option) && !scripts.values.contains { Self.mentions($0, option) }
            }
            #expect(unknown == [], "\(document.path)")
        }
    }

    /// The text of each script, by its path.
    private static func scripts() throws -> [String: String] {
        var scripts: [String: String] = [:]
        for folder in ["deploy", ".ci"] {
            let folderURL = packageRoot.appending(path: folder)
            for name in try FileManager.default.contentsOfDirectory(atPath: folderURL.path) {
                let text = try? String(contentsOf: folderURL.appending(path: name), encoding: .utf8)
                if let text, text.hasPrefix("#!") { scripts["\(folder)/\(name)"] = text }
            }
        }
        return scripts
    }

    /// Whether a script's text has an option, and not just a longer one that begins like it.
    private static func mentions(_ script: String, _ option: String) -> Bool {
        script.ranges(of: option).contains { range in
            let next = script[range.upperBound...].first
            return next.map { !$0.isLetter && $0 != "-" } ?? true
        }
    }

    @Test("have no table that a blank line tears, and no row of another width than its header")
    func tables() throws {
        let documents = try Document.all()
        #expect(
            documents.reduce(0) { $0 + $1.prose.count { $0.hasPrefix("|") } } >= 200, "this test reads tables wrongly")
        for document in documents { #expect(document.tornRows == [], "\(document.path)") }
    }

    @Test("name as proof of a promise only tests that exist")
    func promises() throws {
        var tests: [String: TestNames] = [:]
        var count = 0
        for document in try Document.all() {
            for line in document.prose where line.hasPrefix("|") {
                var target: String?
                for found in line.matches(of: /"([^"]+)"|\b([A-Z][A-Za-z]*Tests)\b/) {
                    if let named = found.output.2.map({ String($0) }) {
                        target = named
                        if tests[named] == nil { tests[named] = try TestNames(of: named) }
                        #expect(tests[named]?.isEmpty == false, "\(document.path): there is no target \(named)")
                    } else if let target, let title = found.output.1.map({ String($0) }) {
                        count += 1
                        #expect(
                            tests[target]?.have(title) == true, "\(document.path): \(target) has no test \"\(title)\"")
                    }
                }
            }
        }
        #expect(count >= 50, "this test reads promises wrongly")
    }

    /// What the tests and suites of a target are called.
    private struct TestNames {
        /// Titles, and the names of suites that have none.
        private var names: Set<String> = []

        var isEmpty: Bool { names.isEmpty }

        init(of target: String) throws {
            let folder = packageRoot.appending(path: "Tests/\(target)")
            let files = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
            for file in files where file.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                names.formUnion(
                    text.matches(of: /@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) })
                names.formUnion(text.matches(of: /func `([^`]+)`/).map { String($0.output.1) })
                names.formUnion(
                    text.matches(of: /\b(?:struct|class|actor) ([A-Za-z]+Tests)\b/).map { String($0.output.1) })
            }
        }

        /// Whether there is one of this name. Three dots at its end stand for the rest.
        func have(_ name: String) -> Bool {
            guard name.hasSuffix("…") else { return names.contains(name) }
            return names.contains { $0.hasPrefix(name.dropLast()) }
        }
    }
}
