import EvidenceStore
import Foundation
import Postgres
import Schema
import Simulation
import TestSupport

/// The built programs.
enum Executable {
    static let path = find("storehook")
    /// The measurements, which also hold what faults are rehearsed with.
    static let bench = find("storehook-bench")
    /// The app that shows the client library.
    static let client = find("storehook-client-example")

    /// A program of a Debian package that tests need, which `deploy/test` installs.
    static func onPath(_ name: String, of package: String) throws -> String {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        guard let place = places.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }) else {
            throw NeverHappened("\(name) is on PATH: deploy/test installs it, with Debian's package \(package)")
        }
        return "\(place)/\(name)"
    }

    /// Beside the test bundle, where SwiftPM puts both.
    private static func find(_ name: String) -> String {
        // The runner's arguments name the bundle; the tests of a bundle and its programs share a directory.
        let places = CommandLine.arguments.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        let linked = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let candidates = (places + [URL(fileURLWithPath: linked).deletingLastPathComponent()])
            .map { $0.appending(path: name).path }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
    }
}

/// A migrated database, a stand-in for Apple, and the program to run on both.
struct Site: Sendable {
    static let authority = Task { try SimulatedAuthority.generate() }
    static let app = SimulatedApp.example
    /// 2026-02-01T00:00:00Z
    static let now: Milliseconds = 1_769_904_000_000

    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox
    let authority: SimulatedAuthority

    /// The environment of every program here.
    func environment(_ more: [String: String] = [:]) -> [String: String] {
        var environment = [
            "DATABASE_URL": database.url,
            "STOREHOOK_APPS": "\(Self.app.bundleId)=\(Self.app.appAppleId)",
            "STOREHOOK_TRUSTED_ROOTS": authority.rootFingerprint,
            "STOREHOOK_LOG_FORMAT": "json",
            // As deploy/run has it.
            "SWIFT_BACKTRACE": "threads=crashed,registers=none,images=none,symbolicate=fast",
            "PATH": "/usr/bin:/bin", "HOME": "/tmp",
        ]
        // Where a sanitizer or a shared libpq is found.
        for name in ["LD_LIBRARY_PATH", "LD_PRELOAD"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        return environment.merging(more) { _, own in own }
    }

    /// Starts the program; who starts it discards it.
    func start(
        _ arguments: [String], _ more: [String: String] = [:], input: String = "", of program: String = Executable.path,
        output: ChildProgram.Output = .kept, errors: Int32? = nil, ignoresPipe: Bool = false
    ) throws -> ChildProgram {
        try ChildProgram(
            program, arguments, environment: environment(more), input: Array(input.utf8), output: output,
            errors: errors, ignoresPipe: ignoresPipe)
    }

    /// Runs the program to its end.
    func run(
        _ arguments: String..., with more: [String: String] = [:], without: Set<String> = [], input: String = ""
    ) async throws -> Outcome {
        let program = try ChildProgram(
            Executable.path, arguments, environment: environment(more).filter { !without.contains($0.key) },
            input: Array(input.utf8))
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    /// Makes a catalog current.
    func apply(catalog: String, with more: [String: String] = [:]) async throws {
        let applied = try await run("catalog", "apply", "/dev/stdin", with: more, input: catalog)
        guard applied.ending == .exited(0) else { throw NeverHappened("the catalog is applied: \(applied.errors)") }
    }

    /// Runs the program while `body` lasts, from when it says it is under way.
    func with<T: Sendable>(
        _ arguments: [String], _ more: [String: String] = [:], _ body: (ChildProgram) async throws -> T
    ) async throws -> T {
        let program = try start(arguments, more)
        do {
            try await program.untilUnderWay()
            let value = try await body(program)
            await program.discard()
            return value
        } catch {
            print("what the program said before the test failed:\n\(program.errors)")
            await program.discard()
            throw error
        }
    }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// Waits until the queue is empty; connections cut in between do not matter.
    func untilDone() async throws {
        try await eventually("the queue is empty", within: .seconds(150)) {
            (try? await value("select count(*) from storehook.outbox_queue", as: Int64.self)) == 0
        }
    }

    /// Every subscription as it stands, without when it was written.
    func subscriptions() async throws -> [String] {
        try await pool.query(
            """
            select (to_jsonb(s) - array['first_stored_at', 'last_stored_at'])::text from storehook.subscriptions s
             order by environment, bundle_id, original_transaction_id
            """
        ).map { try $0.decode(0) }
    }
}

/// What became of a program that ran to its end.
struct Outcome: Sendable {
    let ending: ChildProgram.Ending
    let output: String
    let errors: String
    /// Standard output, byte for byte.
    let outputBytes: [UInt8]

    var errorLines: Int { errors.split(separator: "\n").count }

    /// Standard output as JSON.
    func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8)) }
}

extension ChildProgram {
    /// Waits until a receiver listens or a worker works.
    func untilUnderWay() async throws {
        try await eventually("the program is under way") {
            if let ending { throw NeverHappened("the program is under way; instead: \(ending) \(errors)") }
            return errors.contains(#""message":"Listening""#) || errors.contains(#""message":"Working""#)
        }
    }

    /// The port that a receiver said it listens on.
    var port: Int? { port(saying: "Listening") }

    /// The port on which a program says that it serves metrics; what it is for begins beside that.
    func metricsPort() async throws -> Int {
        try await eventually("it serves metrics") { port(saying: "Serving metrics") != nil }
        return port(saying: "Serving metrics") ?? 0
    }

    private func port(saying message: String) -> Int? {
        errors.split(separator: "\n").lazy
            .compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String] }
            .first { $0["message"] == message }.flatMap { $0["port"].flatMap(Int.init) }
    }
}

/// A port that was free a moment ago.
func freePort() throws -> Int {
    let (socket, port) = try TCPSocket.listening(port: 0)
    socket.close()
    return port
}

/// Runs `body` with a site of its own.
func withSite<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Site) async throws -> T
) async throws -> T {
    let authority = try await Site.authority.value
    return try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
        database in
        let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
        do {
            let value = try await body(
                Site(database: database, pool: pool, outbox: Outbox(pool), authority: authority))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}

/// A file of SQL, without the transaction that it is in, in whose place the test's own is, and without what it says to psql.
func sqlScript(_ file: String) throws -> String {
    try String(contentsOf: packageRoot.appending(path: file), encoding: .utf8)
        .replacing("\nbegin;\n", with: "\n").replacing("\ncommit;\n", with: "\n").replacing(/(?m)^\\.*$/, with: "")
}

/// A site whose database has the roles of sql/roles.sql. Roles are the whole server's, and other databases on it may use
/// them at this very moment: they are made if they are missing and stay.
func withRoles<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Site) async throws -> T
) async throws -> T {
    let script = try sqlScript("sql/roles.sql")
    return try await withSite { site in
        // Twice: it is made to be run again.
        for _ in 0..<2 { try await site.pool.withTransaction { try $0.executeScript(script) } }
        return try await body(site)
    }
}

/// What a program of this user gets as its environment; the user exists while `body` lasts.
func withUser<T>(
    in role: String, _ site: Site, isolation: isolated (any Actor)? = #isolation,
    _ body: ([String: String]) async throws -> T
) async throws -> T {
    let user = "\(site.database.name)_user"
    let password = "\(UInt64.random(in: .min ... .max))"
    try await site.pool.query(
        "create role \(unescaped: user) login password '\(unescaped: password)' in role \(unescaped: role)")
    let url = site.database.url
    let environment = [
        "DATABASE_URL": url.contains("://")
            ? "\(url)&user=\(user)&password=\(password)" : "\(url) user=\(user) password=\(password)"
    ]
    do {
        let value = try await body(environment)
        try await site.pool.query("drop role \(unescaped: user)")
        return value
    } catch {
        _ = try? await site.pool.query("drop role \(unescaped: user)")
        throw error
    }
}
