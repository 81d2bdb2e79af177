import AccountStore
import ArgumentParser
import Foundation
import Postgres
import Simulation

/// How fast the account API answers in a large database, beside bare routes that check the same token.
struct AccountAPIBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api",
        abstract: "What the account API answers a second, and how soon, among a million accounts.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, some gigabytes there, and the storehook program
            beside this one. The database is filled by statements of SQL, and a catalog is applied to it, which takes minutes
            for a million accounts. Then each kind of request is asked as fast as it is answered, in turn with bare
            routes of Hummingbird that check the same tokens and do nothing, or a select 1; then at a steady rate; then all
            kinds together, while the program's memory is watched.

            Example: storehook-bench api --accounts 1000000 --soak 300
            """)

    @Option(help: "Accounts in the database, at least.") var accounts = 1_000_000
    @Option(help: "Accounts that ask.") var callers = 2000
    @Option(help: "Seconds of each kind in a round.") var seconds = 4.0
    @Option(help: "Rounds, of each kind in turn.") var rounds = 5
    @Option(help: "Connections, each with one request under way.") var connections = 32
    @Option(help: "Seconds at each steady rate.") var steady = 30
    @Option(help: "Seconds of all kinds together, with an eye on memory; 0 for none.") var soak = 300
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1000...100_000_000).contains(accounts), (1...100_000).contains(callers), (0.5...600).contains(seconds),
            (1...100).contains(rounds), (1...1000).contains(connections), (1...600).contains(steady),
            (0...86_400).contains(soak)
        else {
            throw ValidationError("--accounts begins at 1000; --seconds, --rounds, --connections and --steady at 1")
        }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        let figures = try await BenchDatabase.with { database in
            try await database.requireDurableCommits()
            var figures = Figures("api")
            try await fill(database, &figures)
            let site = try await AccountAPISite.start(
                programs, database, workplace: workplace, connections: connections)
            do {
                try await measure(site, database, &figures)
                await site.stop()
            } catch {
                await site.stop()
                throw error
            }
            return figures
        }
        figures.print(json: json)
    }

    /// Purchases of so many accounts, and what the product itself makes of them.
    private func fill(_ database: BenchDatabase, _ figures: inout Figures) async throws {
        // One in eight purchases names no account, and one account in a few dozen has two.
        let state = SimulatedState(
            subscriptions: accounts * 6 / 5, oneTimePurchases: 0, accounts: accounts * 20)
        try await database.pool.withTransaction(TransactionOptions(name: "bench.fill")) { session in
            try session.executeScript(state.script, deadline: .seconds(7200))
        }
        try await database.pool.query("vacuum (analyze)", deadline: .seconds(3600))
        StandardError.line("filled; applying the catalog …")
        let start = ContinuousClock.now
        let applied = try await AccountStore(database.pool).apply(Self.catalog, by: "storehook-bench") { done in
            if done % 100_000 == 0 { StandardError.line("\(done) accounts …") }
        }
        figures.add("accounts", Double(applied.accounts), "accounts")
        figures.add(
            "apply_seconds", (ContinuousClock.now - start) / .seconds(1), "the catalog's first application, seconds")
        guard applied.accounts >= accounts else { throw NeverCameAbout(what: "\(accounts) accounts") }
        try await database.pool.query("vacuum (analyze)", deadline: .seconds(3600))
        figures.add("tables_mib", Double(try await database.tableBytes()) / 1_048_576, "tables with indexes, MiB")
    }

    private func measure(_ site: AccountAPISite, _ database: BenchDatabase, _ figures: inout Figures) async throws {
        let names: [String] = try await database.pool.query(
            // Those whose token is an id that has it.
            """
            select token::text from storehook.accounts where substr(token::text, 15, 1) <> '5'
             order by md5(token::text) limit \(callers)
            """
        ).map { try $0.decode(0) }
        let tokens = try await site.tokens.sign(names)
        let status = AccountAPIRequests.get("/v1/subscriptions/status", tokens: tokens)
        let feature = AccountAPIRequests.get("/v1/features/words", tokens: tokens)
        // Few enough that each is asked many times a second: out of memory.
        let guarded = AccountAPIRequests.get("/v1/guard?tier=free", tokens: Array(tokens.prefix(200)))
        let nothing = AccountAPIRequests.get("/nothing", tokens: tokens)
        let select = AccountAPIRequests.get("/select", tokens: tokens)
        // Warm up: the first request for a token, an account or a statement pays for all later ones.
        for requests in [status, feature, guarded] {
            _ = try await site.load(requests, isBare: false, .steady(perSecond: 1000, count: callers))
        }
        for requests in [nothing, select] {
            _ = try await site.load(requests, isBare: true, .steady(perSecond: 1000, count: callers))
        }
        try await compare(
            site, &figures,
            [
                ("nothing", nothing, true), ("guard", guarded, false), ("select", select, true),
                ("status", status, false),
            ])
        try await pace(site, status, perSecond: 1000, "status", "status at 1,000/s", &figures)
        let count = 200 * steady
        let buyers = try await site.tokens.sign((0..<count).map { "buyer-\($0)" })
        StandardError.line("signing \(count) purchases …")
        try await pace(
            site, .purchases(buyers, from: 1_000_000, by: site.programs.authority), perSecond: 200, "verify",
            "verify at 200/s", &figures)
        if soak > 0 { try await watchMemory(site, [status, feature, guarded], &figures) }
    }

    /// Each kind as fast as it is answered, in turn, so that what drifts favours none.
    private func compare(
        _ site: AccountAPISite, _ figures: inout Figures,
        _ kinds: [(name: String, requests: AccountAPIRequests, isBare: Bool)]
    ) async throws {
        var sums: [String: LoadGenerator.Outcome] = [:]
        var costs: [String: AccountAPISite.CPUSeconds] = [:]
        for round in 1...rounds {
            StandardError.line("round \(round) of \(rounds) …")
            for kind in kinds {
                let before = try await site.cpuSeconds()
                let outcome = try await site.load(
                    kind.requests, isBare: kind.isBare, .asFastAsAnswered(seconds: seconds))
                costs[kind.name, default: .init()].add(try await site.cpuSeconds(), since: before)
                guard outcome.refused == 0 else { throw NeverCameAbout(what: "a good answer to every \(kind.name)") }
                sums[kind.name, default: LoadGenerator.Outcome()].add(outcome)
            }
        }
        func rate(_ name: String) -> Double {
            sums[name].map { Double($0.accepted) / $0.seconds } ?? 0
        }
        figures.add("bare_per_second", rate("nothing"), "bare route that checks the token, answers a second")
        figures.add("guard_per_second", rate("guard"), "guard from memory, answers a second")
        figures.add("guard_ratio", rate("guard") / rate("nothing"), "guard over the bare route")
        figures.add("select_per_second", rate("select"), "bare route that checks the token and asks select 1, a second")
        figures.add("status_per_second", rate("status"), "status, answers a second")
        figures.add("status_ratio", rate("status") / rate("select"), "status over the bare route with select 1")
        for kind in kinds {
            guard let cost = costs[kind.name], let answers = sums[kind.name]?.accepted, answers > 0 else { continue }
            let each = 1_000_000 / Double(answers)
            figures.add(
                "\(kind.name)_cpu_us", cost.program * each, "\(kind.name): the program's CPU, microseconds an answer")
            figures.add(
                "\(kind.name)_server_cpu_us", cost.server * each,
                "\(kind.name): PostgreSQL's CPU, microseconds an answer")
        }
    }

    /// Requests at a steady rate, whatever becomes of those before.
    private func pace(
        _ site: AccountAPISite, _ requests: AccountAPIRequests, perSecond: Int, _ name: String, _ text: String,
        _ figures: inout Figures
    ) async throws {
        let outcome = try await site.load(
            requests, isBare: false, .steady(perSecond: Double(perSecond), count: perSecond * steady))
        figures.add("\(name)_refused", Double(outcome.refused), "\(text): answers that were none")
        outcome.latencies.add(to: &figures, name, text)
    }

    /// All kinds together at a rate that leaves room, and what the program holds after a minute and at the end.
    private func watchMemory(
        _ site: AccountAPISite, _ kinds: [AccountAPIRequests], _ figures: inout Figures
    ) async throws {
        StandardError.line("watching memory for \(soak) s …")
        let perSecond = 600
        var resident: [Double] = []
        for _ in 0..<max(1, soak / 10) {
            for kind in kinds {
                _ = try await site.load(
                    kind, isBare: false, .steady(perSecond: Double(perSecond), count: perSecond * 10 / kinds.count))
            }
            resident.append(Double(site.residentBytes ?? 0) / 1_048_576)
        }
        let early = resident[min(resident.count - 1, max(0, resident.count / 5 - 1))]
        figures.add("memory_early_mib", early, "memory after a fifth of \(soak) s, MiB")
        figures.add("memory_late_mib", resident.last ?? 0, "memory at the end, MiB")
        figures.add("memory_most_mib", resident.max() ?? 0, "the most of it, MiB")
    }

    /// What is sold in the filled database, and in the simulator.
    private static let catalog = """
        app: com.example.first
        language: en
        currency: USD
        tiers:
          - {id: free, name: Free}
          - {id: basic, name: Basic}
          - {id: plus, name: Plus}
        products:
          - {id: basic-month, product_id: basic.monthly, tier: basic, period: month, name: Basic}
          - {id: basic-year, product_id: basic.yearly, tier: basic, period: year, name: Basic}
          - {id: plus-month, product_id: plus.monthly, tier: plus, period: month, name: Plus}
          - {id: plus-year, product_id: plus.yearly, tier: plus, period: year, name: Plus}
          - {id: news, product_id: news.monthly, tier: basic, period: month, name: News}
          - {id: premium, app: com.example.storehook, product_id: com.example.storehook.premium.monthly, tier: plus, period: month, name: Premium}
        features:
          - {id: words, name: Words, limits: {free: 5 per day, basic: 100 per day, plus: unlimited}}
        """
}
