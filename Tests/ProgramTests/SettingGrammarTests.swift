import AppStoreVerification
import Foundation
import Postgres
import TestSupport
import Testing

@testable import storehook

@Suite("The grammar of settings, which is the same for all of them")
struct SettingGrammarTests {
    /// The value with what is ignored around it.
    private static func spellings(_ value: String) -> [String] {
        [
            value + "\n", value + "\r\n", value + "\r", " \t\(value)  ", "\n\n\(value)\n\n", "\u{FEFF}\(value)",
            "\(value)\u{A0}", "\"\(value)\"", "'\(value)'", " ' \(value)\n' \r\n",
        ]
    }

    /// Files in which a setting has that value.
    private static func files(_ name: String, _ value: String) -> [String] {
        [
            "\(name)=\(value)", "\u{FEFF}\(name)=\(value)\r\n", "export \(name)=\(value)\n",
            "export\t\(name) = \(value) \t\r\n", "\(name)=\"\(value)\"\r\n", "\(name)='\(value)'",
            "# a comment = '\r\n; another\r\n\r\nOTHER=x\r\n  \(name)=\(value)  \r\n", "\(name)=x\n\(name)=\(value)\n",
        ]
    }

    /// Values that one reader or another would take for something else.
    private static func mistakes(_ value: String) -> [String] {
        [
            "\(value) # a comment", "# \(value)", "\"\(value)", "'\(value)", "\(value)\"", "\(value)'",
            "\"\(value)\" # a comment", "\"\(value)\" x", "\u{201C}\(value)\u{201D}", "\"\(value)'",
            "\(value)\u{200B}\(value)", "\(value)\u{0}", "\(value)\u{7}\(value)",
        ]
    }

    @Test("every setting is read in every form that systemd, docker and editors give it")
    func forms() async throws {
        try await SettingCase.withAll { cases in
            let listed = try Document(Document.chapter("Configuration")).prose.filter { $0.hasPrefix("| `") }
                .flatMap { row in
                    row.split(separator: "|").first?.matches(of: /`([A-Z_]+)`/).map { String($0.output.1) } ?? []
                }
            #expect(Set(cases.map(\.name)) == Set(listed) && cases.count == listed.count)
            for one in cases {
                let plain = one.read(one.value)
                #expect(plain != "fault" && plain != one.read(nil), "\(one.name) makes a difference")
                for words in Self.spellings(one.value) {
                    #expect(one.read(words) == plain, "\(one.name)=\(words.debugDescription)")
                }
                for text in Self.files(one.name, one.value) {
                    let values = try SettingsFile.parse(Array(text.utf8))
                    #expect(one.read(values[one.name]) == plain, "\(text.debugDescription)")
                }
                // Nothing is nothing, however it is written, and leaves the word to the file.
                for nothing in ["", " \n", "\"\"", "''", "\u{FEFF}"] {
                    #expect(one.read(nothing) == one.read(nil), "\(one.name)=\(nothing.debugDescription)")
                }
            }
        }
    }

    @Test("what would be misread is refused with its variable, in a file with its line, and is not repeated")
    func mistakes() async throws {
        try await SettingCase.withAll { cases in
            for one in cases {
                for words in Self.mistakes(one.value) {
                    let settings = Settings(environment: one.beside.merging([one.name: words]) { $1 })
                    let failure = #expect(throws: CommandFailure.self, "\(one.name)=\(words.debugDescription)") {
                        _ = try one.reading(settings)
                    }
                    #expect(failure?.status == .usage && failure?.message.hasPrefix("\(one.name): ") == true)
                    if one.value.count > 9 { #expect(failure?.message.contains(one.value) == false) }
                    let text = "\u{FEFF}OTHER=1\r\n\(one.name)=\(words)\r\nLAST=1\r\n"
                    let fault = #expect(throws: SettingsFile.Fault.self, "\(text.debugDescription)") {
                        _ = try SettingsFile.parse(Array(text.utf8))
                    }
                    #expect(fault?.line == 2 && fault?.message.hasPrefix("\(one.name): ") == true)
                    if one.value.count > 9 { #expect(fault?.message.contains(one.value) == false) }
                }
            }
        }
    }

    @Test("a line that is neither NAME=value nor a comment is refused with its number")
    func lines() throws {
        let bad = [
            "NAME", "NAME value", "=value", "export", "export NAME", "1NAME=x", "a b=c", "NAME=a\\", "source other.env",
            "<html>", "NAME='two\nlines'", "A=1\rB=2\rC=3", "set -a",
        ]
        for line in bad {
            let fault = #expect(throws: SettingsFile.Fault.self, "\(line)") {
                _ = try SettingsFile.parse(Array("A=1\n\n\(line)\n".utf8))
            }
            #expect(fault?.line == 3, "\(line)")
        }
        #expect(throws: SettingsFile.Fault.self) { _ = try SettingsFile.parse([UInt8]("A=M\n".utf8) + [0xFC, 0x0A]) }
        // UTF-16, as some editors write it.
        #expect(throws: SettingsFile.Fault.self) { _ = try SettingsFile.parse([0xFF, 0xFE, 0x41, 0, 0x3D, 0]) }
        #expect(try SettingsFile.parse([]).isEmpty)
    }

    @Test("quotes and backslashes inside a value are its own")
    func inside() throws {
        for (words, value) in [
            ("host=/tmp password='a b' dbname=x", "host=/tmp password='a b' dbname=x"), ("it's", "it's"),
            ("a#b", "a#b"), (#"a\b"#, #"a\b"#), (#""a \"b\" \\ \$c #d""#, #"a "b" \ $c #d"#),
            ("'a \"b #c'", "a \"b #c"),
            (#"'a\"b'"#, #"a\"b"#), (#""a\nb""#, #"a\nb"#), ("a=b", "a=b"), ("'a", nil), ("a b'", nil),
            ("\"a\"b\"", nil),
        ] as [(String, String?)] {
            #expect((try? SettingValue.read(words)) == value, "\(words)")
        }
    }

    @Test("a list, a keyword string and base64 may go over lines, and an element of a list may not")
    func overLines() throws {
        func settings(_ name: String, _ value: String) -> Settings { Settings(environment: [name: value]) }
        let apps = try settings("STOREHOOK_APPS", "com.example.a=1,\n  com.example.b=2\n").verifier().apps
        #expect(apps.keys.sorted() == ["com.example.a", "com.example.b"])
        let split = #expect(throws: CommandFailure.self) {
            _ = try settings("STOREHOOK_APPS", "com.example.a\ncom.example.b").verifier()
        }
        #expect(split?.message.hasPrefix("STOREHOOK_APPS: ") == true)
        let database = try settings("DATABASE_URL", "host=db.example\n  user=me\n  dbname=name\n").database()
        #expect("\(database)" == "me@db.example:5432/name")
        #expect(throws: CommandFailure.self) {
            _ = try settings("DATABASE_URL", "postgresql://db.example/na\nme").database()
        }
    }

    /// The settings that a program does not read.
    private static let unread: [String: Set<String>] = [
        "serve": [
            "STOREHOOK_JUNK_PER_MINUTE", "STOREHOOK_JUNK_MIB_PER_DAY", "STOREHOOK_MAX_ATTEMPTS",
            "STOREHOOK_LEASE_SECONDS", "STOREHOOK_RETENTION_DAYS", "STOREHOOK_JUNK_DAYS", "STOREHOOK_DELIVERY_DAYS",
            "STOREHOOK_HISTORY_DAYS", "STOREHOOK_CANARY_MINUTES", "STOREHOOK_CONSUMPTION_POLICY",
            "STOREHOOK_SECRET_KEY_FILE", "STOREHOOK_ENDPOINT_HTTP", "STOREHOOK_ENDPOINT_NETWORKS",
            "STOREHOOK_ENDPOINT_CERTIFICATES", "STOREHOOK_FOUR_EYES",
            "STOREHOOK_CONSOLE_AUTH", "STOREHOOK_CONSOLE_GROUPS", "STOREHOOK_CONSOLE_PATH",
        ],
        "work": [
            "STOREHOOK_FOUR_EYES", "STOREHOOK_CONSOLE_AUTH", "STOREHOOK_CONSOLE_GROUPS", "STOREHOOK_CONSOLE_PATH",
            "STOREHOOK_TLS_CERTIFICATE", "STOREHOOK_TLS_KEY", "STOREHOOK_TRUSTED_PROXIES",
            "STOREHOOK_CONNECTIONS_PER_ADDRESS", "STOREHOOK_JWT_KEYS", "STOREHOOK_JWT_SECRET_FILE",
            "STOREHOOK_JWT_ISSUER", "STOREHOOK_JWT_AUDIENCE", "STOREHOOK_JWT_ACCOUNT_CLAIM",
            "STOREHOOK_JWT_ROLE_CLAIM", "STOREHOOK_RESTORE", "STOREHOOK_SANDBOX_ACCESS", "STOREHOOK_TESTERS",
            "STOREHOOK_GUARD_OUTAGE", "STOREHOOK_CORS_ORIGINS", "STOREHOOK_REQUESTS_PER_ACCOUNT",
            "STOREHOOK_REQUESTS_PER_ADDRESS",
        ],
    ]

    /// What a receiver reads.
    private static let received: Set<String> = [
        "DATABASE_URL", "STOREHOOK_LOG_LEVEL", "STOREHOOK_LOG_FORMAT", "STOREHOOK_TLS_CERTIFICATE", "STOREHOOK_TLS_KEY",
        "STOREHOOK_TRUSTED_PROXIES", "STOREHOOK_CONNECTIONS_PER_ADDRESS",
    ]

    @Test("the doctor finds every setting that a program refuses to start with, by the program's own code")
    func doctor() async throws {
        try await SettingCase.withAll { cases in
            let base = SettingCase.tokens.merging([
                "DATABASE_URL": "postgresql://someone@db.example/name", "STOREHOOK_APPS": "com.example.app=1",
            ]) { $1 }
            let sound = Settings(environment: base)
            _ = try ServeSettings(sound)
            _ = try WorkSettings(sound)
            _ = try ReceiveSettings(sound)
            _ = try ConsoleSettings(sound)
            for role in [.api, .worker, .receiver, .console, nil] as [DatabaseRole?] {
                #expect(Doctor.faults(sound, role).isEmpty)
            }
            for one in cases {
                let settings = Settings(
                    environment: base.merging(one.beside) { $1 }.merging([one.name: one.unseen]) { $1 })
                func refuses(_ start: () throws -> Void) -> Bool {
                    do { try start() } catch {
                        #expect((error as? CommandFailure)?.message.hasPrefix("\(one.name): ") == true, "\(error)")
                        return true
                    }
                    return false
                }
                let serves = refuses { _ = try ServeSettings(settings) }
                #expect(serves != Self.unread["serve"]?.contains(one.name), "\(one.name)")
                #expect(
                    refuses { _ = try WorkSettings(settings) } != Self.unread["work"]?.contains(one.name),
                    "\(one.name)")
                #expect(
                    refuses { _ = try ReceiveSettings(settings) } == Self.received.contains(one.name), "\(one.name)")
                for role in [.api, .worker, .receiver, .console, .ops, nil] as [DatabaseRole?] {
                    #expect(
                        Doctor.faults(settings, role).filter { $0.hasPrefix("\(one.name): ") }.count == 1, "\(one.name)"
                    )
                }
            }
        }
    }

    @Test("the API takes tokens whose issuer, audience and claim were given with a line end, and in a file of Windows'")
    func tokens() async throws {
        try await withSite { site in
            try await withTokenKey { settings in
                try await withTemporaryDirectory { directory in
                    let token = try await site.run("demo", "token", "alice", with: settings).output
                        .trimmingCharacters(in: .whitespacesAndNewlines)
                    let loose = settings.mapValues { $0 + "\r\n" }
                        .merging(["STOREHOOK_JWT_ACCOUNT_CLAIM": "sub\n"]) { $1 }
                    try await site.with(["serve", "--port", "0"], loose) { program in
                        let api = ServedAPI(port: try #require(program.port))
                        #expect(try await api.send("/v1/account", token: token).status == 200)
                    }
                    let file = "\(directory)/api.env"
                    let lines = settings.map { "export \($0.key)=\"\($0.value)\"" }
                    try Data(("\u{FEFF}; of Windows\r\n" + lines.joined(separator: "\r\n") + "\r\n").utf8)
                        .write(to: URL(fileURLWithPath: file))
                    try await site.with(["serve", "--port", "0", "--config", file]) { program in
                        let api = ServedAPI(port: try #require(program.port))
                        #expect(try await api.send("/v1/account", token: token).status == 200)
                    }
                    try Data("A=1\r\nSTOREHOOK_JWT_ISSUER=hush-hush # mine\r\n".utf8).write(
                        to: URL(fileURLWithPath: file))
                    let refused = try await site.run("serve", "--port", "0", "--config", file, with: settings)
                    #expect(refused.ending == .exited(2) && refused.errorLines == 1, "\(refused.errors)")
                    #expect(refused.errors.hasPrefix("storehook: \(file):2: STOREHOOK_JWT_ISSUER: "))
                    #expect(!refused.errors.contains("hush"))
                    let wrong = settings.merging(["STOREHOOK_RESTORE": "both"]) { $1 }
                    let serve = try await site.run("serve", "--port", "0", with: wrong)
                    #expect(serve.ending == .exited(2) && serve.errors.contains("STOREHOOK_RESTORE"))
                    let doctor = try await site.run(
                        "doctor", "--role", "api", "--port", "\(freePort())", "--format", "table", with: wrong)
                    let line = doctor.output.split(separator: "\n").first { $0.contains("configuration") }
                    #expect(
                        doctor.ending == .exited(1) && line?.contains("STOREHOOK_RESTORE") == true, "\(doctor.output)")
                }
            }
        }
    }
}
