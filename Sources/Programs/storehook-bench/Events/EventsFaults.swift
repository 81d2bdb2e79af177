import AccountStore
import ArgumentParser
import EventStore
import EvidenceStore
import Foundation
import Postgres

/// Whether every event is delivered, once and in order, whatever is lost, repeated or killed on the way.
struct EventsFaults: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "faults",
        abstract: "Reports many lives under faults, and judges what a receiver got.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, and the storehook program beside this one. The
            simulator's lives come in random order, with repeats; a fifth of what Apple says is lost and later reconciled with a
            stand-in for Apple, and a tenth of that is posted after all. Of the workers one is killed every two seconds until all of it
            is applied. The endpoint fails a third of its calls, is slow, and closes connections.

            Exits with 1 where anything is missing, was reported twice or out of order, or says something else than the status.

            Example: storehook-bench events faults --lives 10000 --workers 4 --seed 7
            """)

    @Option(help: "Customers.") var lives = 10_000
    @Option(help: "Worker processes.") var workers = 4
    @Option(help: "Seed of the simulation, of what is lost, and of what fails.") var seed: UInt64 = 1
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (100...200_000).contains(lives), (1...32).contains(workers) else {
            throw ValidationError("--lives goes from 100 to 200000, --workers from 1 to 32")
        }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        var figures = Figures("events faults")
        let findings = try await BenchDatabase.with(named: "faults") { database in
            _ = try await AccountStore(database.pool).apply(EventsWriting.catalog, by: "storehook-bench")
            _ = try await EventStore(database.pool).ensurePartitions()
            return try await BenchApple.with(programs) { apple in
                // Reconcile once before, so that the app is in service: the history from before that is reported as it
                // stands.
                try await reconcile(apple, programs, database)
                return try await FaultsSite.with(
                    programs, database, workers: workers, seed: seed, workplace: workplace
                ) { site in
                    try await play(site, apple, programs, &figures)
                }
            }
        }
        findings.add(to: &figures)
        figures.print(json: json)
        for complaint in findings.complaints { StandardError.line("storehook-bench: \(complaint)") }
        if !findings.isClean { throw ExitCode.failure }
    }

    private func play(
        _ site: FaultsSite, _ apple: BenchApple, _ programs: ChaosPrograms, _ figures: inout Figures
    ) async throws -> FaultsFindings {
        // Hours ago, so that Apple lists it for sure.
        let end = Int64(Date().timeIntervalSince1970) * 1000 - 3 * 3_600_000
        let intake = FaultsIntake(lives: lives, seed: seed, endingAt: end, by: programs.authority)
        try await apple.list(intake.notifications.count, of: lives, seed: seed, endingAt: end, isPosted: false)
        let start = ContinuousClock.now
        let (late, instant) = try await site.hurrying {
            let late = try await site.killing {
                StandardError.line("posting \(intake.posted.count) notifications to workers that are killed …")
                try await intake.post(to: site.database)
                try await site.untilApplied()
                StandardError.line("reconciling …")
                try await reconcile(apple, programs, site.database)
                let late = try await intake.postLate(to: site.database)
                try await site.untilApplied()
                return late
            }
            let accepted = site.receiver.accepted
            StandardError.line("all is applied and \(accepted) deliveries were accepted; the rest in peace …")
            figures.add("under_fire", Double(accepted), "deliveries that were accepted while workers were killed")
            return (late, try await site.untilTold())
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        StandardError.line("judging …")
        var findings = FaultsFindings()
        try await account(for: intake, late: late, site.database, &findings)
        let log = site.receiver.log
        let judge = FaultsJudge(try await FaultsTruth(site.database, at: instant), log, findings)
        for (name, value, text) in [
            ("lives", intake.lives, "lives that anything is heard of"),
            ("notifications", intake.notifications.count, "notifications, each counted once"),
            ("lost", intake.lost.count, "of those, lost and later reconciled"),
            ("repeats", intake.repeats + late, "posts besides that say what was said"),
            ("kills", site.kills, "workers killed"),
            ("accounts", judge.truth.accounts.count, "accounts"),
            ("subscriptions", judge.truth.subscriptions.count, "subscriptions"),
            ("events", judge.truth.events.count, "events"),
            ("corrections", judge.corrections, "of those, corrections"),
            ("calls", log.calls, "calls to the endpoint"),
            ("failed", log.failed, "of those, answered with an error or the end of the connection"),
            ("accepted_again", log.accepted - judge.told.count, "deliveries of what had been accepted before"),
        ] {
            figures.add(name, Double(value), text)
        }
        figures.add("seconds", seconds, "seconds until all was delivered")
        return judge.findings
    }

    /// Compares what is stored with Apple's history, and fetches what is missing.
    private func reconcile(_ apple: BenchApple, _ programs: ChaosPrograms, _ database: BenchDatabase) async throws {
        let run = try await MeasuredProgram.run(
            ["reconcile", "--since", "2000-01-01T00:00:00Z", "--format", "json"], programs, database.url,
            try apple.settings())
        guard run.status == 0 else { throw NeverCameAbout(what: "reconciliation; it ended with \(run.status)") }
    }

    /// Accounts for every notification.
    private func account(
        for intake: FaultsIntake, late: Int, _ database: BenchDatabase, _ findings: inout FaultsFindings
    ) async throws {
        let count = try await Outbox(database.pool).conservation(audit: true)
        let recovered: Int64 = try await database.pool.query(
            "select coalesce(sum(recovered), 0)::bigint from storehook.history_windows"
        ).one().decode(0)
        let unique = Int64(intake.notifications.count)
        findings.check("unaccounted", "notifications in no place, or in two", count.isWhole ? [] : ["\(count)"])
        findings.check("unrecovered", "lost, and not recovered", abs(intake.lost.count - Int(recovered)))
        findings.check("unapplied", "notifications that are not applied", Int(unique - count.applied - count.parked))
        findings.check("dead", "dead letters", Int(count.dead + count.discarded))
        findings.check(
            "unlike_duplicates", "duplicates more or less than were posted",
            abs(Int(count.duplicate) - intake.repeats - late))
        let (undelivered, dead): (Int64, Int64) = try await {
            let row = try await database.pool.query(
                """
                select (select count(*) from storehook.deliveries_pending),
                       (select count(*) from storehook.deliveries where outcome <> 'delivered')
                """
            ).one()
            return (try row.decode(0), try row.decode(1))
        }()
        findings.check("undelivered", "deliveries that still wait", Int(undelivered))
        findings.check("given_up", "deliveries that were given up", Int(dead))
    }
}
