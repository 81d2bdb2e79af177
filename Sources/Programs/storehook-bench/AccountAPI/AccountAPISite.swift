import Foundation

/// The account API and the bare routes, running side by side.
struct AccountAPISite {
    let programs: ChaosPrograms
    let tokens: BenchTokens
    private let database: BenchDatabase
    private let api: SupervisedProgram
    private let bare: SupervisedProgram
    private let barePort: Int
    private let connections: Int

    /// Starts both and waits for them.
    static func start(
        _ programs: ChaosPrograms, _ database: BenchDatabase, workplace: URL, connections: Int
    ) async throws -> AccountAPISite {
        let key = workplace.appending(path: "jwt-key.pem")
        let made = try programs.run(["demo", "token", "--key-only", "--key", key.path], database.url)
        guard made.status == 0 else { throw NeverCameAbout(what: "a key to sign tokens with") }
        let barePort = try ChaosPrograms.freePort()
        let settings = [
            "STOREHOOK_JWT_KEYS": workplace.appending(path: "jwt.json").path,
            "STOREHOOK_JWT_ISSUER": BenchTokens.issuer, "STOREHOOK_JWT_AUDIENCE": BenchTokens.issuer,
            // All of them come from one address.
            "STOREHOOK_REQUESTS_PER_ADDRESS": "10000000", "STOREHOOK_REQUESTS_PER_ACCOUNT": "10000000",
        ]
        let site = AccountAPISite(
            programs: programs, tokens: try await BenchTokens(keyFile: key), database: database,
            api: try programs.supervised(
                ["serve", "--port", "\(programs.port)", "--metrics-port", "\(programs.metricsPort)"], database.url,
                with: settings),
            bare: try SupervisedProgram(
                ChaosPrograms.beside("storehook-bench"),
                [
                    "bare-api", "--port", "\(barePort)", "--issuer", BenchTokens.issuer, "--audience",
                    BenchTokens.issuer,
                ],
                environment: programs.environment(database.url).merging(settings) { _, own in own }, log: programs.log),
            barePort: barePort, connections: connections)
        do {
            let token = try await site.tokens.sign(["probe"])
            try await patiently("the account API answers", within: .seconds(20)) { await programs.receiverIsReady() }
            try await patiently("the bare routes answer", within: .seconds(20)) {
                let outcome = try? await site.load(
                    .get("/select", tokens: token), isBare: true, .steady(perSecond: 1, count: 1))
                return outcome?.accepted == 1
            }
        } catch {
            await site.stop()
            throw error
        }
        return site
    }

    /// Asks the account API, or the bare routes.
    func load(
        _ requests: AccountAPIRequests, isBare: Bool, _ pace: LoadGenerator.Pace
    ) async throws -> LoadGenerator.Outcome {
        try await LoadGenerator(port: isBare ? barePort : programs.port, connections: connections, pace: pace)
            .run { requests.next() }
    }

    /// CPU seconds of PostgreSQL, and of the account API and the bare routes together; one of these two is always idle.
    struct CPUSeconds {
        var program = 0.0
        var server = 0.0

        mutating func add(_ now: CPUSeconds, since before: CPUSeconds) {
            program += now.program - before.program
            server += now.server - before.server
        }
    }

    /// So far.
    func cpuSeconds() async throws -> CPUSeconds {
        CPUSeconds(
            program: [api.id, bare.id].compactMap { $0.flatMap(ProcessTimes.cpuSeconds(of:)) }.reduce(0, +),
            server: try await database.serverCPUSeconds() ?? 0)
    }

    /// What the account API holds now.
    var residentBytes: Int64? { api.id.flatMap(ProcessMemory.resident) }

    func stop() async {
        await api.stop()
        await bare.stop()
    }
}
