import AppStoreVerification
import ArgumentParser
import Base
import EvidenceStore
import Operations
import Postgres
import PurchaseStore
import Staff

struct DeadLettersReplay: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Put dead letters back on the queue.",
        discussion: """
            Mend the cause first: a letter that dies again comes back under a new number. --dry-run rehearses: it applies them
            in a transaction that is rolled back, and prints what the replay would change. It needs the workers' settings
            (STOREHOOK_APPS and so on). Exits with 1 where no such letter is there or it was settled before, where none is open
            with that reason, and where in a dry run each would die again.

            Example: storehook dead-letters replay --reason wrong_bundle --dry-run
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The letters' numbers.") var ids: [Int64] = []
    @Option(help: "All open letters with this reason code.") var reason: String?
    @Flag(help: "All open letters.") var all = false
    @Flag(help: "Tell what would change, and change nothing.") var dryRun = false
    @Option(help: "At most so many a second.") var rate: Double?
    @Option(help: "Why, for the record.") var why: String?
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        let ways = [!ids.isEmpty, reason != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("name letters by number, or --reason, or --all: one of them") }
        if let rate, !(rate > 0 && rate.isFinite) { throw ValidationError("--rate must be more than 0") }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let filter = DeadLetterFilter(ids: ids.isEmpty ? nil : ids, reason: reason)
        try await Database.with(settings) { pool in
            if dryRun {
                try await rehearse(filter, settings, pool)
                return
            }
            let replayed = try await Outbox(pool).replay(
                filter, perSecond: rate, by: try acting.actor(for: .replay), why: why)
            output.print(
                CommandAnswer(
                    ["replayed": replayed.count.json, "ids": replayed.json],
                    text: replayed.isEmpty
                        ? "replayed 0: no such letter is open"
                        : "replayed \(replayed.count): one that dies again comes back under a new number, see storehook dead-letters list; "
                            + "with --dry-run this command rehearses"))
            try await refuseUnknown(done: replayed, count: replayed.count, pool)
        }
    }

    /// - Parameter count: of the letters that the command found.
    private func refuseUnknown(done: [Int64], count: Int, _ pool: PostgresPool) async throws {
        let outbox = Outbox(pool)
        try await DeadLettersNamed.refuseUnknown(ids, done: done, outbox)
        if let reason, count == 0 { try await DeadLettersNamed.refuseUnknown(reason: reason, outbox) }
    }

    private func rehearse(_ filter: DeadLetterFilter, _ settings: Settings, _ pool: PostgresPool) async throws {
        let cache = try settings.checksRevocation() ? RevocationCache() : nil
        let verifier = Verifier(configuration: try settings.verifier(), revocation: cache, clock: WallClock.now)
        let dryRun = ReplayDryRun(pool: pool, verifier: verifier, ledger: Ledger(policy: try settings.statusPolicy()))
        try await OCSPRequester.settle(cache, logger: try settings.logger("replay")) {
            _ = try await dryRun.run(filter, at: WallClock.now())
        }
        let report = try await dryRun.run(filter, at: WallClock.now())
        output.print(CommandAnswer(report))
        if report.letters == ReplayDryRun.limit {
            StandardError.line("storehook: only the oldest \(ReplayDryRun.limit) letters were rehearsed")
        }
        try await refuseUnknown(done: [], count: report.letters, pool)
        if let why = Self.futility(of: report) { throw CommandFailure(why) }
    }

    /// Why the replay would be of no use: each letter would die again. Nil where one would not.
    private static func futility(of report: ReplayDryRun.Report) -> String? {
        guard report.letters > 0, report.stillDead.count == report.letters else { return nil }
        let reasons = Dictionary(grouping: report.stillDead, by: \.reason.rawValue).sorted {
            ($1.value.count, $0.key) < ($0.value.count, $1.key)
        }
        let causes = reasons.prefix(3).map { reason, letters in
            "\(letters.count) \(reason) (letter \(letters[0].id): \(letters[0].message))"
        }
        return "each would die again; mend first: \(causes.joined(separator: ", "))\(reasons.count > 3 ? ", …" : "")"
    }
}
