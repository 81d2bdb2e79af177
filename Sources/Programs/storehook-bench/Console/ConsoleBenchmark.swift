import AccountStore
import ArgumentParser
import Base
import EvidenceStore
import FigureStore
import Foundation
import Postgres

/// How soon the console's pages are there in a large database, and what it costs that many look on at the overview.
struct ConsoleBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Every page of the console among millions of transactions, and a hundred live overviews.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, ten gigabytes there, and the storehook program beside
            this one. First an empty database with one worker: what a console costs without readers, and with live overviews. Then
            a database that is filled as the bench orders does, with a catalog and summed figures, which takes many minutes: one
            browser that is logged in loads every page, one after the other, with random orders and customers. Bounds: a
            median of 100 ms for each page; 2 % of a core and a query a second for a hundred overviews.

            Example: storehook-bench console --orders 1000000
            """)

    @Option(help: "Orders, and as many accounts; five to six times as many transactions. 0 for overviews alone.")
    var orders = 1_000_000
    @Option(help: "How often each page is loaded.") var loads = 100
    @Option(help: "Live overviews; 0 for pages alone.") var overviews = 100
    @Option(help: "Seconds that overviews are watched.") var seconds = 60
    @Option(help: "Only pages with this in their names.") var only: String?
    @Flag(help: "DATABASE_URL names a migrated database: fill it where it is empty, and leave it.") var keep = false

    private static let bound = 100.0
    private static let mail = "bench@example.com"
    /// How many refund requests there are.
    private static let requests = 20

    func validate() throws {
        guard orders == 0 || (1000...20_000_000).contains(orders), (5...100_000).contains(loads),
            (0...250).contains(overviews), (5...3600).contains(seconds)
        else {
            throw ValidationError(
                "--orders begins at 1000, --loads and --seconds at 5; --overviews goes from 0 to 250")
        }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        if overviews > 0, !keep {
            try await BenchDatabase.with(named: "idle") { database in
                var figures = Figures("console")
                try await LiveOverviews(programs: programs, database: database, count: overviews, seconds: seconds)
                    .measure(&figures)
                figures.print(json: false)
            }
        }
        guard orders > 0 else { return }
        try await OrdersFilling(orders: orders, accounts: orders).filled(isKept: keep) { pool, url in
            try await prepare(pool)
            try await measure(programs, pool, url)
        }
    }

    // MARK: Filling

    /// What workers and operators would have made of the orders: a catalog, sums, counts, and a ring without gaps.
    private func prepare(_ pool: PostgresPool) async throws {
        let accounts = AccountStore(pool)
        if try await accounts.current() == nil {
            StandardError.line("applying the catalog …")
            _ = try await accounts.apply(OrdersFilling.catalog, by: "storehook-bench") { done in
                if done % 100_000 == 0 { StandardError.line("\(done) accounts …") }
            }
        }
        StandardError.line("summing figures and counting accounts …")
        let figures = FigureStore(pool)
        while try await figures.isDue(in: "UTC"), try await figures.sum(in: "UTC") {}
        _ = try await accounts.count()
        _ = try await OverviewStore(pool).note(WorkTally.Count())
        for (length, slots) in [(Int32(5), Int32(720)), (300, 288)] { try await fillRing(pool, length, slots) }
        try await pool.query("vacuum (analyze)", deadline: .seconds(3600))
    }

    /// The row that is there, in all slots before.
    private func fillRing(_ pool: PostgresPool, _ length: Int32, _ slots: Int32) async throws {
        try await pool.query(
            """
            insert into storehook.overview_ring
            select (jsonb_populate_record(
                   r, jsonb_build_object('seconds', \(length)::integer, 'at', t.at,
                                         'slot', floor(extract(epoch from t.at) / \(length)::integer)::bigint % \(slots)::integer))).*
              from storehook.overview_ring r
             cross join generate_series(1, \(slots)::integer - 2) n
             cross join lateral (select r.at - make_interval(secs => n * \(length)::integer) as at) t
             where r.at = (select max(at) from storehook.overview_ring) and r.seconds = 5
                on conflict do nothing
            """, deadline: .seconds(60))
    }

    // MARK: Pages

    private func measure(_ programs: ChaosPrograms, _ pool: PostgresPool, _ url: String) async throws {
        let values = try await OrdersValues(pool)
        _ = try programs.succeed(["staff", "add", Self.mail, "--role", "admin"], url)
        let password = try programs.secret("password", of: ["staff", "password", Self.mail, "--generate"], url)
        let requests = try await requests(programs, pool, url)
        let port = try ChaosPrograms.freePort()
        let console = try programs.supervised(
            ["console", "--port", "\(port)", "--metrics-port", "\(programs.metricsPort)"], url,
            with: ["STOREHOOK_REQUESTS_PER_ADDRESS": "10000000", "STOREHOOK_REQUESTS_PER_ACCOUNT": "10000000"])
        do {
            try await patiently("the console is ready", within: .seconds(30)) { await programs.receiverIsReady() }
            let visitor = DeskVisitor(port: port)
            try await visitor.logIn(Self.mail, password)
            try await load(DeskPage.all(values, requests: requests), visitor)
            try await search(values, visitor)
            await console.stop()
        } catch {
            await console.stop()
            throw error
        }
    }

    /// Requests for the latest orders that were paid for.
    private func requests(_ programs: ChaosPrograms, _ pool: PostgresPool, _ url: String) async throws -> [String] {
        let there = try await pool.query("select count(*) from storehook.staff_refund_requests").one()
            .decode(0, as: Int64.self)
        if there == 0 {
            let numbers = try await pool.query(
                """
                select storehook.order_number(day, number) from storehook.booked_orders
                 where class_id is not null and number is not null and status = 'completed'
                 order by day desc, id desc limit \(Int64(Self.requests))
                """
            ).map { try $0.decode(0, as: String.self) }
            for number in numbers {
                _ = try programs.run(["refunds", "create", number, "--type", "full", "--why", "bench"], url)
            }
        }
        return try await pool.query("select id from storehook.staff_refund_requests order by id limit 100").map {
            let id = try $0.decode(0, as: Int64.self)
            return "RF-" + String(repeating: "0", count: max(0, 3 - "\(id)".count)) + "\(id)"
        }
    }

    private func load(_ pages: [DeskPage], _ visitor: DeskVisitor) async throws {
        print("\(loads) loads each, milliseconds")
        var worst = (median: 0.0, name: "")
        for page in pages where only.map({ page.name.contains($0) }) ?? true {
            let (latencies, refusal) = try await latencies { try await visitor.get(page.path()).status }
            let median = latencies.milliseconds(percentile: 50)
            if median > worst.median { worst = (median, page.name) }
            report(page.name, latencies, refusal)
        }
        print("slowest median \(worst.median), \(worst.name)")
    }

    /// A search is a form that leads to what it found.
    private func search(_ values: OrdersValues, _ visitor: DeskVisitor) async throws {
        let searches: [(String, @Sendable () -> String?)] = [
            ("search, an order", { values.numbers.randomElement() }),
            ("search, a transaction", { values.transactions.randomElement()?.id }),
            ("search, an account", { values.accounts.randomElement()?.description }),
            ("search, nothing", { "unknown-\(Int.random(in: 0..<1_000_000))" }),
        ]
        for (name, text) in searches where only.map({ name.contains($0) }) ?? true {
            let (latencies, refusal) = try await latencies {
                let answer = try await visitor.post("/search", ["text": text() ?? "-"])
                return answer.status == 303 ? 200 : answer.status
            }
            report(name, latencies, refusal)
        }
    }

    /// - Returns: how long the answers took, and a status other than 200 that came instead.
    private func latencies(_ body: () async throws -> Int) async throws -> (Latencies, refusal: Int?) {
        var (latencies, refusal) = (Latencies(), Int?.none)
        // The first ones warm up.
        for number in -3..<loads {
            let start = ContinuousClock.now
            let status = try await body()
            if number >= 0 { latencies.record(ContinuousClock.now - start) }
            if status != 200 { refusal = status }
        }
        return (latencies, refusal)
    }

    private func report(_ name: String, _ latencies: Latencies, _ refusal: Int?) {
        let median = latencies.milliseconds(percentile: 50)
        print(
            name + String(repeating: " ", count: max(1, 46 - name.count))
                + "\(median) (p99 \(latencies.milliseconds(percentile: 99)))" + (median > Self.bound ? " !" : "")
                + (refusal.map { ", answered \($0)" } ?? ""))
    }
}
