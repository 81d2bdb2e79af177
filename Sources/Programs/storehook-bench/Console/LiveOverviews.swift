import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Synchronization

/// What it costs that people look on at the overview, while nothing else happens.
struct LiveOverviews: Sendable {
    private struct Use {
        /// CPU seconds of the console, and of PostgreSQL.
        var console = 0.0
        var server = 0.0
        /// What PostgreSQL has committed and rolled back.
        var transactions = 0.0
        var at = ContinuousClock.now

        func since(_ before: Use) -> Use {
            let seconds = (at - before.at) / .seconds(1)
            var use = Use()
            use.console = (console - before.console) / seconds
            use.server = (server - before.server) / seconds
            use.transactions = (transactions - before.transactions) / seconds
            return use
        }
    }

    /// The events that have come.
    private final class Heard: Sendable {
        let events = Atomic(0)
    }

    /// How many overviews one member of the staff may look at.
    private static let ofOneMember = 16

    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    let programs: ChaosPrograms
    let database: BenchDatabase
    /// How many look on.
    let count: Int
    /// How long each part is watched.
    let seconds: Int

    /// Watches a worker alone, then beside a console without readers, then with all overviews.
    func measure(_ figures: inout Figures) async throws {
        let port = try ChaosPrograms.freePort()
        let tokens = try tokens()
        let worker = try programs.supervised(["work"], database.url)
        do {
            try await patiently("a worker writes how the pipeline stands", within: .seconds(60)) {
                try await database.pool.query(
                    "select sampled_at is not null from storehook.overview_state"
                ).one().decode(0)
            }
            StandardError.line("a worker alone for \(seconds) s …")
            let alone = try await watch(nil)
            let console = try programs.supervised(
                ["console", "--port", "\(port)", "--metrics-port", "\(programs.metricsPort)"], database.url,
                with: [
                    "STOREHOOK_REQUESTS_PER_ADDRESS": "10000000", "STOREHOOK_REQUESTS_PER_ACCOUNT": "10000000",
                ])
            do {
                try await measure(console, port: port, tokens, alone, &figures)
                await console.stop()
            } catch {
                await console.stop()
                throw error
            }
            await worker.stop()
        } catch {
            await worker.stop()
            throw error
        }
    }

    private func measure(
        _ console: SupervisedProgram, port: Int, _ tokens: [String], _ alone: Use, _ figures: inout Figures
    ) async throws {
        try await patiently("the console is ready", within: .seconds(30)) { await programs.receiverIsReady() }
        StandardError.line("a console without readers for \(seconds) s …")
        let unseen = try await watch(console)
        let heard = Heard()
        let readers = (0..<count).map { number in
            Task { [token = tokens[number / Self.ofOneMember]] in
                try? await Self.follow(port: port, token: token, heard)
            }
        }
        defer { for reader in readers { reader.cancel() } }
        try await patiently("all overviews have begun", within: .seconds(30)) {
            heard.events.load(ordering: .relaxed) >= count
        }
        StandardError.line("\(count) overviews for \(seconds) s …")
        let before = heard.events.load(ordering: .relaxed)
        let seen = try await watch(console)
        let events = heard.events.load(ordering: .relaxed) - before
        figures.add("overviews", Double(count), "live overviews on an idle pipeline")
        figures.add("events", Double(events), "events that they got in \(seconds) s")
        figures.add("console_cpu_percent", seen.console * 100, "the console's CPU, % of a core")
        figures.add(
            "server_cpu_percent", (seen.server - alone.server) * 100,
            "PostgreSQL's CPU beyond that without a console, % of a core")
        figures.add(
            "cpu_percent", (seen.console + seen.server - alone.server) * 100, "both together, % of a core; bound: 2")
        figures.add("unseen_cpu_percent", unseen.console * 100, "the CPU of a console without readers, % of a core")
        figures.add(
            "transactions_per_second", seen.transactions - alone.transactions,
            "queries a second, all of the console's; bound: 1")
        figures.add(
            "unseen_transactions_per_second", unseen.transactions - alone.transactions,
            "queries a second of a console without readers")
    }

    /// Members of the staff, as many as it takes: a token of each.
    private func tokens() throws -> [String] {
        try (0...((count - 1) / Self.ofOneMember)).map { number in
            let mail = "viewer-\(number)@example.com"
            _ = try programs.succeed(["staff", "add", mail, "--role", "viewer"], database.url)
            return try programs.secret("token", of: ["staff", "token", mail], database.url)
        }
    }

    private func watch(_ console: SupervisedProgram?) async throws -> Use {
        let before = try await use(console)
        try await Task.sleep(for: .seconds(seconds))
        return try await use(console).since(before)
    }

    private func use(_ console: SupervisedProgram?) async throws -> Use {
        var use = Use()
        use.transactions = try await database.pool.query(
            """
            select (xact_commit + xact_rollback)::double precision from pg_stat_database
             where datname = current_database()
            """
        ).one().decode(0)
        use.console = console?.id.flatMap(ProcessTimes.cpuSeconds(of:)) ?? 0
        use.server = try await database.serverCPUSeconds() ?? 0
        use.at = .now
        return use
    }

    /// Reads one overview until it is cancelled.
    private static func follow(port: Int, token: String, _ heard: Heard) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/admin/overview/stream")
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        let answer = try await client.execute(request, timeout: .hours(2))
        guard answer.status.code == 200 else { throw NeverCameAbout(what: "a stream; instead: \(answer.status.code)") }
        for try await part in answer.body {
            let events = String(buffer: part).ranges(of: "event: overview\n").count
            heard.events.add(events, ordering: .relaxed)
        }
    }
}

extension ChaosPrograms {
    /// Runs the program to its end, which has to be a success.
    /// - Returns: what it printed.
    func succeed(_ arguments: [String], _ database: String) throws -> String {
        let (status, output) = try run(arguments, database)
        guard status == 0 else { throw NeverCameAbout(what: "storehook \(arguments.prefix(2).joined(separator: " "))") }
        return output
    }

    /// A secret that a command makes and prints.
    /// - Parameter name: the member of its answer.
    func secret(_ name: String, of command: [String], _ database: String) throws -> String {
        let output = try succeed(command + ["--format", "json"], database)
        let members = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        guard let secret = members?[name] as? String else { throw NeverCameAbout(what: "a \(name)") }
        return secret
    }
}
