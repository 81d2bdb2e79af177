import Foundation
import TestSupport
import Testing

@testable import storehook

@Suite("The names of settings")
struct SettingNameTests {
    private func unknown(_ names: String..., file: [String] = []) -> [String] {
        SettingNames.unknown(environment: names, file: file).map { "\($0.name) \($0.nearest ?? "-")" }
    }

    @Test("are those of the chapter Configuration, and every setting that is read is one")
    func known() async throws {
        let chapter = try Document.all().first { $0.path.hasSuffix("Configuration.md") }
        let text = try #require(chapter).text
        let tables = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.prefix { $0 != "|" || false } }
        #expect(!tables.isEmpty)
        let names = Set(
            text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
                line.split(separator: "|").first.map { cell in
                    cell.matches(of: /`([A-Z][A-Z_]+)`/).map { String($0.1) }
                } ?? []
            })
        #expect(names == SettingNames.known)
        try await SettingCase.withAll { cases in
            #expect(Set(cases.map(\.name)).subtracting(SettingNames.known).isEmpty)
        }
        // What the files of deploy name beside them is no misspelt setting.
        for file in ["systemd/storehook.conf", "compose.env.example", "compose.yaml", "kubernetes/config.yaml", "run"] {
            let text = try String(contentsOf: packageRoot.appending(path: "deploy/\(file)"), encoding: .utf8)
            let named = text.matches(of: /\bSTOREHOOK_[A-Z_]+[A-Z]\b/).map { String($0.0) }
            #expect(SettingNames.unknown(environment: named, file: []).isEmpty, "\(file)")
        }
    }

    @Test("that nobody reads are named with the setting that was meant, and others' names are let alone")
    func misspelt() {
        #expect(unknown("STOREHOOK_TESTER") == ["STOREHOOK_TESTER STOREHOOK_TESTERS"])
        #expect(unknown("STOREHOOK_SANDBOX_ACESS") == ["STOREHOOK_SANDBOX_ACESS STOREHOOK_SANDBOX_ACCESS"])
        #expect(unknown("STOREHOOK_RETSORE") == ["STOREHOOK_RETSORE STOREHOOK_RESTORE"])
        #expect(unknown("STOREHOOK_APP") == ["STOREHOOK_APP STOREHOOK_APPS"])
        #expect(unknown("STOREHOOK_SOMETHING_ELSE_ENTIRELY") == ["STOREHOOK_SOMETHING_ELSE_ENTIRELY -"])
        #expect(unknown("STOREHOOK_") == ["STOREHOOK_ -"])
        #expect(unknown("STOREHOOK_APPS", "PATH", "DATABASE_URI", "STOREHOOK_PORT").isEmpty)
        // Of a file, which is storehook's own, also what begins otherwise.
        #expect(
            unknown(file: ["DATABASE_URI", "APPLE_KEYID", "PGHOST"]) == [
                "APPLE_KEYID APPLE_KEY_ID", "DATABASE_URI DATABASE_URL",
            ])
        // What Kubernetes sets in each container beside a service called storehook-receiver.
        #expect(
            unknown(
                "STOREHOOK_RECEIVER_SERVICE_HOST", "STOREHOOK_RECEIVER_SERVICE_PORT_HTTP", "STOREHOOK_RECEIVER_PORT",
                "STOREHOOK_RECEIVER_PORT_8080_TCP", "STOREHOOK_RECEIVER_PORT_8080_TCP_ADDR"
            ).isEmpty)
    }

    @Test("are named where a program does not start for want of one, and once in the log of one that starts")
    func atStart() async throws {
        try await withSite { site in
            for (command, names, wants) in [
                (["work"], ["STOREHOOK_APP": "com.example.app=1"], ["STOREHOOK_APPS names no app"]),
                (
                    ["serve", "--port", "0"],
                    ["STOREHOOK_JWT_KEYS": "/nowhere", "STOREHOOK_JWT_ISUER": "https://login.example.com"],
                    ["STOREHOOK_JWT_ISSUER is not set"]
                ),
                (
                    ["serve", "--port", "0"], ["STOREHOOK_JWT_KEY": "/nowhere", "STOREHOOK_X": "1"],
                    ["STOREHOOK_X is no"]
                ),
                (["receive", "--port", "0"], ["STOREHOOK_DATABASE_URL": "x"], ["DATABASE_URL is not set"]),
            ] as [([String], [String: String], [String])] {
                let all = site.environment(names).filter { $0.key != "STOREHOOK_APPS" }
                    .filter { command[0] != "receive" || $0.key != "DATABASE_URL" }
                let program = try ChildProgram(Executable.path, command, environment: all)
                #expect(await program.end() == .exited(2), "\(command): \(program.errors)")
                #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
                let named = SettingNames.unknown(environment: names.keys, file: []).map(\.description)
                #expect(!named.isEmpty)
                for words in wants + named { #expect(program.errors.contains(words), "\(program.errors)") }
                await program.discard()
            }
            let more = ["STOREHOOK_APP": "com.example.app=1", "STOREHOOK_X": "secret"]
            for command in [["receive", "--port", "0"], ["work"]] {
                try await site.with(command, more) { program in
                    let lines = program.errors.split(separator: "\n").filter { $0.contains("are no settings") }
                    #expect(lines.count == 1 && !program.errors.contains("secret"), "\(program.errors)")
                    let line = lines.first ?? ""
                    #expect(line.contains("STOREHOOK_APP is no setting; did you mean STOREHOOK_APPS?"), "\(line)")
                    #expect(line.contains("STOREHOOK_X is no setting"), "\(line)")
                }
            }
        }
    }

    private func lines(_ site: Site, _ more: [String: String], _ arguments: [String] = []) async throws -> [String:
        String]
    {
        struct Line: Decodable {
            var check: String
            var status: String
            var message: String
        }
        let program = try site.start(["doctor", "--format", "json", "--port", "1"] + arguments, more)
        _ = await program.end()
        let output = program.output
        await program.discard()
        return Dictionary(
            try JSONDecoder().decode([Line].self, from: Data(output.utf8)).map {
                ($0.check, "\($0.status): \($0.message)")
            }
        ) { first, _ in first }
    }

    @Test("the doctor names a misspelt one in the environment and in a file, and says what App Review gets in Sandbox")
    func doctor() async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let plain = try await lines(site, [:])
                #expect(plain["setting names"]?.hasPrefix("ok: ") == true, "\(plain)")
                #expect(plain["sandbox"]?.hasPrefix("skipped: purchases in Sandbox open nothing") == true)
                #expect(plain["sandbox"]?.contains("App Review, which buys in Sandbox") == true)

                let file = directory + "/storehook.env"
                try "STOREHOOK_SANDBOX_ACCES=all\n".write(toFile: file, atomically: true, encoding: .utf8)
                let wrong = try await lines(
                    site, ["STOREHOOK_TESTER": "alice", "STOREHOOK_TESTERS": "alice"], ["--config", file])
                let names = wrong["setting names"] ?? ""
                #expect(
                    names.hasPrefix("failed: ")
                        && names.contains("STOREHOOK_TESTER is no setting; did you mean STOREHOOK_TESTERS?"))
                #expect(
                    names.contains("STOREHOOK_SANDBOX_ACCES is no setting; did you mean STOREHOOK_SANDBOX_ACCESS?"),
                    "\(names)")
                // What it says is not shown.
                #expect(!names.contains("alice"))
                #expect(wrong["sandbox"]?.contains("the account of STOREHOOK_TESTERS alone") == true, "\(wrong)")
                let all = try await lines(site, ["STOREHOOK_SANDBOX_ACCESS": "all"])
                #expect(all["sandbox"]?.hasPrefix("ok: ") == true && all["sandbox"]?.contains("App Review") == true)
                let none = try await lines(site, ["STOREHOOK_ENVIRONMENTS": "Production"])
                #expect(none["sandbox"]?.contains("App Review, which buys in Sandbox") == true, "\(none)")
                #expect(none["sandbox"]?.contains("cannot buy") == true)
                let bad = try await lines(site, ["STOREHOOK_SANDBOX_ACCESS": "some"])
                #expect(
                    bad["sandbox"] == "skipped: see configuration" && bad["configuration"]?.hasPrefix("failed") == true)
            }
        }
    }
}
