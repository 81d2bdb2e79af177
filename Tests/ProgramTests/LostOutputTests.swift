import EventStore
import EvidenceStore
import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@testable import storehook

/// Each command with its output lost is seen in `GoldenTests`, at the end of a life in which all of them have something to say.
@Suite("Output that is lost")
struct LostOutputTests {
    /// Runs a command to its end.
    private func run(
        _ site: Site, _ words: String, _ settings: [String: String] = [:], to output: ChildProgram.Output,
        ignoresPipe: Bool = false
    ) async throws -> (ending: ChildProgram.Ending, errors: String) {
        let program = try site.start(
            words.split(separator: " ").map(String.init), settings, output: output, ignoresPipe: ignoresPipe)
        do {
            try await eventually("\(words) ends") { program.ending != nil }
        } catch {
            await program.discard()
            throw error
        }
        let ending = await program.end()
        let errors = program.errors
        await program.discard()
        return (ending, errors)
    }

    /// Runs `body` with a key file, and an endpoint with its secret.
    private func withEndpoint(
        _ body: (Site, _ settings: [String: String], _ id: Int64) async throws -> Void
    ) async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                let settings = ["STOREHOOK_SECRET_KEY_FILE": try makeSecretKey(in: directory)]
                let added = try await site.run(
                    "endpoints", "add", "https://93.184.216.34/", "--format", "json", with: settings)
                let id = try #require((try added.json() as? [String: Any])?["id"] as? Int, "\(added.errors)")
                try await body(site, settings, Int64(id))
            }
        }
    }

    /// All that a secret is kept in.
    private func kept(_ site: Site) async throws -> [String] {
        try await site.pool.query(
            """
            select e::text from storehook.endpoints e union all select k::text from storehook.server_keys k order by 1
            """
        ).map { try $0.decode(0) }
    }

    private static let making = [
        "endpoints rotate 1", "endpoints add https://93.184.216.34/x", "staff token --account-api",
    ]

    @Test("a secret that was not shown is none: the endpoint keeps the one it has, and there is no new key or endpoint")
    func unseenSecret() async throws {
        try await withEndpoint { site, settings, id in
            #expect(id == 1)
            let before = try await kept(site)
            let gone = try LogPipe(.gone)
            defer { gone.closeWriting() }
            // A reader that is there, and reads nothing.
            let stuck = try LogPipe(.stuck)
            defer { stuck.closeWriting() }
            for words in Self.making {
                for (output, why) in [
                    (.file("/dev/full"), "No space left on device"), (.closed, "Bad file descriptor"),
                    (.descriptor(gone.writing), "Broken pipe"),
                ] as [(ChildProgram.Output, String)] {
                    for format in ["json", "table"] {
                        let (ending, errors) = try await run(site, "\(words) --format \(format)", settings, to: output)
                        #expect(ending == .exited(1), "\(words) \(why): \(errors)")
                        #expect(errors.split(separator: "\n").count == 1, "\(errors)")
                        #expect(
                            errors.hasPrefix("storehook: the new ")
                                && errors.hasSuffix("does not count and nothing is changed: \(why)\n"), "\(errors)")
                        #expect(!errors.contains("whsec_"))
                        #expect(try await kept(site) == before, "\(words) \(why)")
                    }
                }
            }
            let (ending, errors) = try await run(
                site, "endpoints rotate 1", settings, to: .descriptor(stuck.writing))
            #expect(ending == .exited(1) && errors.contains("nothing is changed: it was not read in time"), "\(errors)")
            #expect(try await kept(site) == before)
        }
    }

    @Test("a secret that was shown and could not be recorded is said not to be valid")
    func unrecordedSecret() async throws {
        try await withEndpoint { site, settings, _ in
            let before = try await kept(site)
            // At the commit, when the secret has been shown.
            for (action, said) in [
                ("raise exception 'no'", "that was printed is not valid, since it could not be recorded: "),
                ("perform pg_terminate_backend(pg_backend_pid())", "that was printed is "),
            ] {
                try await site.pool.withTransaction { session in
                    try session.executeScript(
                        """
                        create or replace function storehook.refuse() returns trigger language plpgsql as $$ begin
                            \(action); return null;
                        end $$;
                        drop trigger if exists refuse on storehook.endpoints;
                        drop trigger if exists refuse on storehook.server_keys;
                        create constraint trigger refuse after insert or update on storehook.endpoints
                            deferrable initially deferred for each row execute function storehook.refuse();
                        create constraint trigger refuse after insert or update on storehook.server_keys
                            deferrable initially deferred for each row execute function storehook.refuse();
                        """)
                }
                for words in Self.making {
                    let program = try site.start(words.split(separator: " ").map(String.init), settings)
                    let ending = await program.end()
                    let (output, errors) = (program.output, program.errors)
                    await program.discard()
                    #expect(ending == .exited(1), "\(words)")
                    #expect(output.contains("whsec_") || output.contains("\"key\""), "it was shown: \(output)")
                    #expect(errors.contains(said), "\(errors)")
                    #expect(try await kept(site) == before)
                }
            }
        }
    }

    @Test("a closed pipe ends the command without a word; one that was started with SIGPIPE ignored says so and fails")
    func head() async throws {
        try await withSite { site in
            let gone = try LogPipe(.gone)
            defer { gone.closeWriting() }
            let out = ChildProgram.Output.descriptor(gone.writing)
            let quiet = try await run(site, "queue", to: out)
            #expect(quiet.ending == .signalled(SIGPIPE) && quiet.errors.isEmpty, "\(quiet)")
            let told = try await run(site, "queue", to: out, ignoresPipe: true)
            #expect(told.ending == .exited(1))
            #expect(told.errors == "storehook: standard output could not be written: Broken pipe\n")
            let help = try await run(site, "queue --help", to: out)
            #expect(help.ending == .signalled(SIGPIPE) && help.errors.isEmpty)
            // What was done is said to be done.
            let act = try await run(site, "maintain", to: out)
            #expect(act.ending == .exited(1), "\(act)")
            #expect(act.errors.hasSuffix("Broken pipe; the command has done its work, and only its answer is lost\n"))
            // One that follows ends with its reader, although no event comes.
            let follow = try await run(site, "events list --follow", to: out)
            #expect(follow.ending == .signalled(SIGPIPE), "\(follow)")
            // In the middle of much.
            let line = try await ChildProgram.run(
                "/bin/bash",
                [
                    "-c",
                    "\"$0\" simulate --out - --notifications 3000 2>/dev/null | head -n 1 | wc -l; echo ${PIPESTATUS[0]}",
                    Executable.path,
                ])
            #expect(line.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == ["1", "141"])
        }
    }

    @Test("a command that changes something does so to its end, and says that only its answer is lost")
    func acts() async throws {
        try await withSite { site in
            try await withTestDatabase { empty in
                let there = ["DATABASE_URL": empty.url]
                let (ending, errors) = try await run(site, "migrate", there, to: .file("/dev/full"))
                #expect(ending == .exited(1))
                #expect(
                    errors.contains(
                        "standard output could not be written: No space left on device; the command has done its work, and only its "
                            + "answer is lost"), "\(errors)")
                #expect(try await site.run("migrate", "--check", with: there).ending == .exited(0))
            }
        }
    }

    @Test(
        "with the three descriptors closed no file takes their place: nothing is written into the database's connection"
    )
    func closed() async throws {
        try await withSite { site in
            var environment = site.environment()
            environment["STOREHOOK_LOG_LEVEL"] = "trace"
            for (redirection, status) in [
                ("<&- >&- 2>&-", "1"), ("<&- 2>&-", "0"), ("2>&-", "0"), ("<&-", "0"), (">&-", "1"),
            ] {
                let said = try await ChildProgram.run(
                    "/bin/bash",
                    [
                        "-c", "\"$0\" queue --conservation --format table >/dev/null \(redirection); echo $?",
                        Executable.path,
                    ],
                    environment: environment)
                #expect(said.split(separator: "\n").last.map(String.init) == status, "\(redirection): \(said)")
            }
            let verify = try await ChildProgram.run(
                "/bin/bash", ["-c", "\"$0\" verify <&- 2>&1; echo $?", Executable.path], environment: environment)
            #expect(verify.hasSuffix("\n1\n") && !verify.contains("\"valid\""), "\(verify)")
        }
    }

    @Test("a full disk ends commands that write files, too, and a stand-in whose announcement is lost")
    func files() async throws {
        try await withSite { site in
            let (ending, errors) = try await run(site, "simulate --out /dev/full --notifications 3", to: .kept)
            #expect(ending == .exited(1))
            #expect(errors.contains("storehook: cannot write /dev/full: No space left on device"), "\(errors)")
            try await withTemporaryDirectory { directory in
                let store = try await run(
                    site, "app-store --port 0 --pki \(directory)/pki", to: .file("/dev/full"))
                #expect(store.ending == .exited(1))
                #expect(store.errors.contains("standard output could not be written"), "\(store.errors)")
            }
        }
    }

    @Test("nothing but the one writer writes to standard output")
    func writer() throws {
        let folder = packageRoot.appending(path: "Sources/Programs/storehook")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            let found = text.matches(
                of: /(?:^|[^.\w])(?:Swift\.)?(?:print|debugPrint|dump|puts|putchar|printf)\(|standardOutput|\bstdout\b/
            )
            .filter { !text[..<$0.range.lowerBound].hasSuffix("func") }
            #expect(found.isEmpty, "\(file.lastPathComponent): \(found.map { String($0.output) })")
        }
        #expect(count > 100)
    }
}
