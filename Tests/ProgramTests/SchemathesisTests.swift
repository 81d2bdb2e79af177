import Base
import Crypto
import EventStore
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@testable import storehook

@Suite("schemathesis, which reads the descriptions of the account API and of the admin API", .serialized)
struct SchemathesisTests {
    enum Asker: String, CaseIterable { case app, server }

    /// By this chance operations are divided where not all of them are tried.
    private static let seed = TestSupport.SeededGenerator().seed

    @Test(
        "finds no answer that is not described and no fault of the server's, whatever it sends to any path, as an app and as a server",
        arguments: Asker.allCases)
    func everyPath(asker: Asker) async throws {
        let place = try await pythonPackage("schemathesis")
        try await withSite { site in
            let apple = try await Self.apple(site)
            defer { apple.stop() }
            // By it an account has more than refusals.
            try await site.apply(catalog: shopCatalog)
            #expect(
                try await site.run("grant", "alice", "--tier", "pro", "--days", "30", "--why", "test").ending
                    == .exited(0))
            try await withTokenKey { settings in
                let more = settings.merging([
                    "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(apple.port)", "APPLE_ISSUER_ID": "issuer",
                    "APPLE_KEY_ID": "KEYID12345", "STOREHOOK_REQUESTS_PER_ACCOUNT": "10000000",
                    "APPLE_PRIVATE_KEY": Data(P256.Signing.PrivateKey().pemRepresentation.utf8).base64EncodedString(),
                    "STOREHOOK_REQUESTS_PER_ADDRESS": "10000000",
                ]) { $1 }
                // A caller that asks for events without a cursor is not kept waiting.
                try await site.pool.query(writingEvents(50))
                try await site.pool.query(
                    """
                    update storehook.events set content = '"cause":{"kind":"staff"},"late":false,"correction":false'
                     where kind = 'test'
                    """)
                try await EventStore(site.pool).place()
                let headers: [String]
                switch asker {
                case .app:
                    let signed = try await site.run("demo", "token", "alice", with: settings)
                    let token = signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
                    headers = ["Authorization: Bearer \(token)"]
                case .server:
                    let made = try await site.run("staff", "token", "--account-api", "--format", "json")
                    let key = try #require((try made.json() as? [String: Any])?["key"] as? String)
                    headers = ["Authorization: Bearer \(key)", "X-Account-ID: alice"]
                }
                try await site.with(["serve", "--port", "0"], more) { program in
                    let port = try #require(program.port)
                    try await eventually("whoever asks is known") {
                        try await Self.status(port, headers) == 200
                    }
                    // Proving, counting, the trial, a test notification, the feed: what else is refused has to be described.
                    let verdict = try await Self.judge(
                        place, port, headers, "/openapi.json",
                        without: try await Self.untried(port, "/openapi.json", asker == .app ? 0 : 1),
                        try await Self.settings(
                            port, "/openapi.json", argued: 12, #""path.feature" = ["ai", "words", "nothing"]"#))
                    // It has tried, and not only looked.
                    let count = verdict.firstMatch(of: /([0-9]+) generated/).flatMap { Int($0.1) } ?? 0
                    #expect(count > (takesAllSamples ? 500 : 100))
                }
            }
        }
    }

    @Test("finds none of either in the admin API, as an admin")
    func adminAPI() async throws {
        let place = try await pythonPackage("schemathesis")
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            #expect(
                try await site.run("grant", "alice", "--tier", "pro", "--days", "30", "--why", "test").ending
                    == .exited(0))
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "admin").ending == .exited(0))
            let made = try await site.run("staff", "token", "kim@example.com", "--format", "json")
            let token = try #require((try made.json() as? [String: Any])?["token"] as? String)
            // It also removes members of the staff: this one stays.
            let keeping = """
                create function public.keep() returns trigger language plpgsql as $$ begin
                    return case when new.id = 1 then old else new end; end $$;
                create trigger keep before update on storehook.staff_members for each row execute function public.keep();
                create trigger keep before update on storehook.staff_tokens for each row execute function public.keep();
                """
            try await site.pool.withTransaction { try $0.executeScript(keeping) }
            let rates = ["STOREHOOK_REQUESTS_PER_ACCOUNT": "10000000", "STOREHOOK_REQUESTS_PER_ADDRESS": "10000000"]
            try await site.with(["console", "--port", "0"], rates) { program in
                let port = try #require(program.port)
                let headers = ["Authorization: Bearer \(token)"]
                try await eventually("the caller is known") {
                    try await Self.status(port, headers, "/admin/staff") == 200
                }
                let verdict = try await Self.judge(
                    place, port, headers, "/admin/openapi.json",
                    without: try await Self.untried(port, "/admin/openapi.json", 0),
                    try await Self.settings(
                        port, "/admin/openapi.json", argued: 57,
                        #"""
                        "path.account" = ["alice", "nobody"]
                        "path.member" = ["1", "2", "9"]
                        """#))
                let count = verdict.firstMatch(of: /([0-9]+) generated/).flatMap { Int($0.1) } ?? 0
                #expect(count > (takesAllSamples ? 200 : 40))
            }
        }
    }

    /// The only settings: features that the catalog has, and the operations whose description says why what fits it may be answered 400. They
    /// are subject to all of schemathesis's checks, like every other one.
    private static func settings(
        _ port: Int, _ path: String, argued count: Int, _ parameters: String
    ) async throws -> String {
        let refusing = try await operations(port, path).filter { $0["x-refuses-fitting"] as? Bool == true }
        let argued = try refusing.map { operation in
            #expect((operation["description"] as? String ?? "").contains("may be answered 400: "))
            return try #require(operation["operationId"] as? String)
        }
        #expect(argued.count == count, "\(argued.sorted())")
        return "[parameters]\n\(parameters)\n\n"
            + argued.sorted().map { name in
                """
                [[operations]]
                include-operation-id = "\(name)"
                checks.positive_data_acceptance.expected-statuses = ["2xx", "3xx", "400", "401", "403", "404", "409", "422", "429", "5xx"]

                """
            }.joined()
    }

    /// The operations of a description.
    private static func operations(_ port: Int, _ path: String) async throws -> [[String: Any]] {
        let description = try #require(try await ServedAPI(port: port).send(path).object)
        return try #require(description["paths"] as? [String: [String: [String: Any]]]).values.flatMap(\.values)
    }

    /// The operations that are not tried, by their ids: the one that goes on until the token ends, and by default every second one, by chance.
    /// - Parameter half: 0 or 1. What is not tried with the one is tried with the other.
    private static func untried(_ port: Int, _ path: String, _ half: Int) async throws -> [String] {
        let endless = "streamOverview"
        guard !takesAllSamples else { return [endless] }
        var generator = TestSupport.SeededGenerator(seed: seed)
        let names = try await operations(port, path).map { try #require($0["operationId"] as? String) }
            .filter { $0 != endless }.sorted().shuffled(using: &generator)
        return [endless] + names.enumerated().filter { $0.offset % 2 != half }.map(\.element)
    }

    /// Tries paths, a bounded number of times, by the same chance each time; talks to this machine alone.
    /// - Parameter untried: the ids of the operations that it leaves out.
    private static func judge(
        _ place: String, _ port: Int, _ headers: [String], _ path: String, without untried: [String], _ given: String
    ) async throws -> String {
        let settings = FileManager.default.temporaryDirectory.appending(path: "schemathesis-\(UUID().uuidString).toml")
        try Data(given.utf8).write(to: settings)
        defer { try? FileManager.default.removeItem(at: settings) }
        let arguments =
            [
                "--config-file", settings.path, "run", "http://127.0.0.1:\(port)\(path)", "--workers", "1",
                "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", "\(samples(of: 30))", "--seed",
                "20261122",
                // PostgreSQL keeps no U+0000, which the description says.
                "--generation-allow-x00", "false",
                // Who asks is said here. Of its own it would name another account beside this one.
                "--generation-with-security-parameters", "false", "--generation-database", "none",
                "--continue-on-failure",
                "--request-timeout", "60", "--no-color",
            ] + untried.flatMap { ["--exclude-operation-id", $0] } + headers.flatMap { ["--header", $0] }
        // It leaves directories where it stands.
        return try await ChildProgram.run(
            "/bin/sh",
            [
                "-c",
                #"place=$(mktemp -d) && trap 'rm -rf "$place"' EXIT && cd "$place" && timeout --kill-after=5 300 "$@""#,
                "sh", place + "/bin/schemathesis",
            ] + arguments,
            environment: [
                "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "NO_PROXY": "*",
                "TMPDIR": FileManager.default.temporaryDirectory.path, "LC_ALL": "C.UTF-8",
            ])
    }

    private static func status(
        _ port: Int, _ headers: [String], _ path: String = "/v1/account"
    ) async throws -> Int {
        let pairs = headers.map { header in
            let colon = header.firstIndex(of: ":") ?? header.endIndex
            return (String(header[..<colon]), String(header[colon...].dropFirst(2)))
        }
        return try await ServedAPI(port: port).send(path, pairs).status
    }

    /// Apple, as far as it is asked: a test notification that has come through already, and purchases that it does not know.
    private static func apple(_ site: Site) async throws -> ScriptedServer {
        let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
        var signed: [String] = []
        for (lane, environment) in [SimulatedApp.Environment.production, .sandbox].enumerated() {
            var customer = SimulatedSubscriber(app: .example.in(environment), lane: lane + 1, seed: UInt64(lane))
            customer.test(at: now - 60_000)
            signed.append(try #require(customer.takeNotifications().first).signed(by: site.authority))
        }
        try await site.outbox.store(signed.map { Array($0.utf8) })
        try await site.with(["work"]) { _ in try await site.untilDone() }
        return try ScriptedServer { [signed] request in
            if request.line.hasPrefix("POST") { return .json(200, #"{"testNotificationToken":"T"}"#) }
            guard request.line.contains("/notifications/test") else {
                return .json(404, #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#)
            }
            let jws = signed[request.line.contains("environment=Sandbox") ? 1 : 0]
            return .json(
                200,
                #"{"signedPayload":"\#(jws)","sendAttempts":[{"attemptDate":\#(now),"sendAttemptResult":"SUCCESS"}]}"#)
        }
    }
}
