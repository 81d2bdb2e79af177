import Foundation
import Logging
public import Postgres
import Synchronization

/// A PostgreSQL server of a test's own, for what would disturb others on a shared one: settings of the whole server, standbys,
/// a promotion. Its programs are found as `deploy/test` finds them: those of `STOREHOOK_TEST_POSTGRES`, else the newest installed.
public final class PrivateServer: Sendable {
    private static let timeLimit = Duration.seconds(120)

    /// Where it listens on this machine.
    public let port: Int
    private let directory: String
    private let programs: String
    private let running: Mutex<ChildProgram>

    private var program: ChildProgram { running.withLock { $0 } }

    /// Whether it can encrypt connections: programs of some packages are built without.
    public var canEncrypt: Bool {
        let program = try? Data(contentsOf: URL(fileURLWithPath: "\(programs)/postgres"), options: .alwaysMapped)
        return program?.range(of: Data("libssl.so".utf8)) != nil
    }

    /// A connection string for its database `postgres`.
    public var url: String { "postgresql://storehook@127.0.0.1:\(port)/postgres" }

    private init(directory: String, programs: String, port: Int, program: ChildProgram) {
        self.directory = directory
        self.programs = programs
        self.port = port
        running = Mutex(program)
    }

    /// Starts an empty server, and stops it after `body`.
    /// - Parameters:
    ///   - settings: lines for postgresql.conf.
    ///   - files: to put into its data directory, by name.
    public static func with<T>(
        _ settings: [String] = [], files: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (PrivateServer) async throws -> T
    ) async throws -> T {
        let programs = try newestPrograms()
        return try await start(programs, settings, files, body) { directory in
            "'\(programs)/initdb' --pgdata='\(directory)/data' --username=storehook --encoding=UTF8 --locale=C.UTF-8 "
                + "--auth=trust --no-sync --no-instructions"
        }
    }

    /// Starts a standby of this server, which streams from it, and stops it after `body`.
    /// - Parameters:
    ///   - name: by which `synchronous_standby_names` knows it.
    ///   - settings: lines for postgresql.conf.
    public func withStandby<T>(
        _ name: String = "standby", _ settings: [String] = [], isolation: isolated (any Actor)? = #isolation,
        _ body: (PrivateServer) async throws -> T
    ) async throws -> T {
        let (programs, port) = (programs, port)
        return try await Self.start(programs, settings, [:], body) { directory in
            "'\(programs)/pg_basebackup' --pgdata='\(directory)/data' --checkpoint=fast --wal-method=stream --no-sync "
                + "--write-recovery-conf "
                + "--dbname='host=127.0.0.1 port=\(port) user=storehook application_name=\(name)'"
        }
    }

    /// Runs one statement on a connection of its own and returns the first column as text.
    @discardableResult
    public func run(_ statement: PostgresQuery) async throws -> [String?] {
        let connection = try await connect()
        do {
            let rows = try await connection.query(statement)
            await connection.close()
            return try rows.map { try $0.decode(0) }
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Changes a setting of the whole server, and returns once new sessions have it.
    public func set(_ name: String, _ value: String) async throws {
        try await run("alter system set \(unescaped: name) = '\(unescaped: value)'")
        try await run("select pg_reload_conf()::text")
        try await eventually("\(name) is \(value)") {
            try await run("select current_setting(\(name))") == [value]
        }
    }

    /// Makes a standby a primary, and returns once it is.
    public func promote() async throws { try await run("select pg_promote(true, 60)::text") }

    /// Ends it as a power failure would: no farewell, no checkpoint.
    public func crash() async {
        program.signal(SIGQUIT)
        await program.end()
    }

    /// Stops it as an operator does: what is under way is broken off, what was committed is written down.
    public func stop() async {
        program.signal(SIGINT)
        await program.end()
    }

    /// Starts it again after ``stop()`` or ``crash()``, with all that it held, and returns once it answers.
    public func startAgain() async throws {
        await program.discard()
        let again = try Self.launch(programs, directory)
        running.withLock { $0 = again }
        try await untilItAnswers()
    }

    private func untilItAnswers() async throws {
        try await eventually("the private server answers", within: Self.timeLimit) {
            if program.ending != nil { throw NeverHappened("the private server runs: \(program.errors)") }
            do {
                await (try connect()).close()
                return true
            } catch is PostgresError {
                return false
            }
        }
    }

    private static func launch(_ programs: String, _ directory: String) throws -> ChildProgram {
        // PostgreSQL refuses to be root.
        let account = geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        return try ChildProgram(
            "/bin/sh", ["-c", "cd '\(directory)' && exec \(account)'\(programs)/postgres' -D '\(directory)/data'"],
            environment: environment)
    }

    /// A connection to it.
    public func connect() async throws -> PostgresConnection {
        var logger = Logger(label: "test-private-server")
        logger.logLevel = .critical
        return try await PostgresConnection.connect(to: PostgresConfiguration(url: url), logger: logger)
    }

    private static func start<T>(
        _ programs: String, _ settings: [String], _ files: [String: String],
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PrivateServer) async throws -> T, making: (_ directory: String) -> String
    ) async throws -> T {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-pg-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let port = try freePort()
        // PostgreSQL refuses to be root.
        let account = geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""
        if geteuid() == 0 { try await shell("chown postgres: '\(directory)'", in: directory) }
        try await shell("umask 077; \(account)\(making(directory))", in: directory)
        let configuration =
            [
                "listen_addresses = '127.0.0.1'", "port = \(port)", "unix_socket_directories = ''", "fsync = off",
                "shared_buffers = 16MB", "max_connections = 60", "autovacuum = off",
            ] + settings
        let file = "\(directory)/data/postgresql.conf"
        var text = try String(contentsOfFile: file, encoding: .utf8)
        text += "\n" + configuration.joined(separator: "\n") + "\n"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        for (name, contents) in files {
            let place = "\(directory)/data/\(name)"
            try contents.write(toFile: place, atomically: false, encoding: .utf8)
            try await shell("chmod 600 '\(place)'; chown --reference='\(directory)/data' '\(place)'", in: directory)
        }
        let server = PrivateServer(
            directory: directory, programs: programs, port: port, program: try launch(programs, directory))
        let result: Result<T, any Error>
        do {
            try await server.untilItAnswers()
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        let program = server.program
        program.signal(SIGQUIT)
        await program.end()
        await program.discard()
        try? FileManager.default.removeItem(atPath: directory)
        return try result.get()
    }

    private static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"]

    private static func shell(_ command: String, in directory: String) async throws {
        _ = try await ChildProgram.run(
            "/bin/sh", ["-c", "cd '\(directory)' && \(command)"], environment: environment)
    }

    private static func newestPrograms() throws -> String {
        if let named = ProcessInfo.processInfo.environment["STOREHOOK_TEST_POSTGRES"], !named.isEmpty { return named }
        let versions = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql").compactMap { Int($0) }
        guard let newest = versions.max() else { throw NeverHappened("PostgreSQL's programs are found") }
        return "/usr/lib/postgresql/\(newest)/bin"
    }

    private static func freePort() throws -> Int {
        let (socket, port) = try TCPSocket.listening(port: 0)
        socket.close()
        return port
    }
}
