import TestSupport
import Testing

@testable import Postgres

/// Mute is an address that takes connections and never says a word, as a machine does that hangs.
@Suite("Where the first address is mute", .serialized)
struct FailoverTests {
    /// Long enough for a connection on a busy machine, so that one that took less did not wait for a mute address.
    private static let limit = Duration.milliseconds(600)

    /// A database, its port, and mute addresses: 127.0.0.1 on another port, 127.0.0.2 on the database's.
    private struct Scene {
        let database: TestDatabase
        let port: Int
        let mutePort: Int

        /// The rest of a string in keywords.
        var login: String {
            let host = database.configuration.hosts.first ?? [:]
            let password = host["password"].map { " password=\($0)" } ?? ""
            return "user=\(host["user"] ?? "storehook")\(password) dbname=\(database.name) sslmode=disable"
        }

        func configuration(_ places: String) throws -> PostgresConfiguration {
            let url =
                places.hasPrefix("postgresql:")
                ? places + "/?" + login.replacing(" ", with: "&") : "\(places) \(login)"
            var configuration = try PostgresConfiguration(url: url)
            configuration.connectTimeout = FailoverTests.limit
            // As if a name server said so: one name, two addresses; and one that it does not know.
            let resolve = configuration.resolve
            configuration.resolve = { $0 == "two.example" ? ["127.0.0.2", "127.0.0.1"] : resolve($0) }
            return configuration
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withTestDatabase { database in
            let proxy = try Proxy(to: database)
            defer { proxy.stop() }
            let (mute, mutePort) = try TCPSocket.listening(port: 0)
            let (other, _) = try TCPSocket.listening(port: Int(proxy.port), host: 2)
            defer {
                mute.close()
                other.close()
            }
            try await body(Scene(database: database, port: Int(proxy.port), mutePort: mutePort))
        }
    }

    private func connect(_ configuration: PostgresConfiguration) async throws -> Duration {
        let began = ContinuousClock.now
        let connection = try await PostgresConnection.connect(to: configuration, logger: quiet)
        let took = began.duration(to: .now)
        try await connection.query("select 1")
        await connection.close()
        return took
    }

    /// The forms in which libpq takes more than one place; M and P stand for the ports.
    private static let severalPlaces = [
        "postgresql://127.0.0.1:M,127.0.0.1:P", "host=127.0.0.1,127.0.0.1 port=M,P", "host=127.0.0.2,127.0.0.1 port=P",
        "hostaddr=127.0.0.1,127.0.0.1 port=M,P", "hostaddr=127.0.0.2,127.0.0.1 port=P",
        "host=one.example,two.example hostaddr=127.0.0.1,127.0.0.1 port=M,P", "host=two.example port=P",
        "postgresql://two.example:P", "host=127.0.0.1,two.example port=M,P", "host=,two.example port=M,P",
    ]

    @Test("the next one is taken, each within its own time, and at once the next time", arguments: severalPlaces)
    func forms(form: String) async throws {
        try await withScene { scene in
            let places = form.replacing("M", with: "\(scene.mutePort)").replacing("P", with: "\(scene.port)")
            var configuration = try scene.configuration(places)
            configuration.requiresWrites = form.hasPrefix("host=")
            let first = try await connect(configuration)
            // Where no host is named first, libpq's own socket directory is; there may be a server.
            if !form.hasPrefix("host=,") { #expect(first >= Self.limit, "\(form): \(first)") }
            #expect(first < .seconds(6), "\(form): \(first)")
            let next = try await connect(configuration)
            #expect(next < Self.limit, "\(form): \(next)")
        }
    }

    @Test("the next one is taken whatever kind of session is wanted", arguments: ["any", "read-write", "primary"])
    func sessions(kind: String) async throws {
        try await withScene { scene in
            let configuration = try scene.configuration(
                "host=two.example port=\(scene.port) target_session_attrs=\(kind)")
            #expect(try await connect(configuration) < .seconds(5))
        }
    }

    @Test("a pool serves its callers once the next one has answered")
    func pool() async throws {
        try await withScene { scene in
            var configuration = try scene.configuration("host=two.example port=\(scene.port)")
            // As a receiver has it: no caller waits for longer than one address may take.
            configuration.acquireTimeout = .milliseconds(250)
            let pool = PostgresPool(configuration: configuration, size: 2, logger: quiet)
            try await eventually("it serves") { await failure { try await pool.query("select 1") } == nil }
            await pool.close()
        }
    }

    @Test("all together have a limit, within which each of many gets its turn")
    func limit() async throws {
        try await withScene { scene in
            let mute = Array(repeating: "127.0.0.1", count: 9).joined(separator: ",")
            let ports = Array(repeating: "\(scene.mutePort)", count: 9).joined(separator: ",")
            var many = try scene.configuration("host=\(mute),127.0.0.1 port=\(ports),\(scene.port)")
            many.allAddressesTimeout = .milliseconds(1000)
            #expect(try await connect(many) < .seconds(3))
            var none = try scene.configuration("host=\(mute) port=\(ports)")
            none.allAddressesTimeout = .milliseconds(500)
            let began = ContinuousClock.now
            let error = await failure { [none] in _ = try await connect(none) }
            #expect(began.duration(to: .now) < .seconds(3))
            #expect(error?.message.contains("no answer") == true && error?.isAway == true)
            // As it is by default, and where one alone may take longer.
            #expect(try PostgresConfiguration(url: "host=a,b").connectTimeoutOfAll == .seconds(10))
            #expect(try PostgresConfiguration(url: "host=a,b connect_timeout=30").connectTimeoutOfAll == .seconds(30))
        }
    }

    @Test("what the next one refuses is the answer: a login, a database")
    func refusal() async throws {
        try await withScene { scene in
            for (more, state) in [("dbname=not_there_at_all", "3D"), ("user=nobody_here", "28")] {
                for places in ["\(scene.mutePort),\(scene.port)", "\(scene.port),\(scene.mutePort)"] {
                    let login = "\(scene.login) \(more)"
                    var configuration = try PostgresConfiguration(
                        url: "host=127.0.0.1,127.0.0.1 port=\(places) \(login)")
                    configuration.connectTimeout = .milliseconds(200)
                    let error = await failure { [configuration] in _ = try await connect(configuration) }
                    #expect(
                        error?.sqlState?.classCode == state && error?.isAway == false, "\(String(describing: error))")
                }
            }
        }
    }

    @Test("as many hosts as addresses are named, or it is refused as libpq refuses it")
    func counts() throws {
        #expect(throws: PostgresError.self) {
            try PostgresConfiguration(url: "host=a,b,c hostaddr=127.0.0.1,127.0.0.2")
        }
        #expect(throws: PostgresError.self) { try PostgresConfiguration(url: "service=there_is_no_such") }
    }
}
