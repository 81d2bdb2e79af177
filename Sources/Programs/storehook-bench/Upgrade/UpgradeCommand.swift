import ArgumentParser
import EvidenceStore
import Foundation

/// Replaces every program of a site by another release's while notifications come in, forth and back.
struct UpgradeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Upgrades from another release and back, program by program, under load.",
        discussion: """
            In both orders, each on a database of its own that the previous release has made: two receivers and two workers of
            the previous release; this release's migrations; then its programs one at a time, receivers first or workers first;
            and back, the other way round. Exits with 1 if a post was answered by anything but 200, or by a 503 that went on
            for two seconds; if a program ended by itself; if anything is lost or doubled; or if rebuild --check differs.

            DATABASE_URL names a server on which databases may be created.

            Example: storehook-bench upgrade --previous .build/previous/storehook
            """)

    @Option(help: "The program of the release before.") var previous: String
    @Option(help: "This release's program; the one beside this by default.") var current: String?
    @Option(help: "Posts a second.") var rate = 500
    @Option(help: "Seconds of posts between two steps.") var pause = 2.0
    @Option(help: "What decides the notifications.") var seed: UInt64 = 1

    func validate() throws {
        guard (1...10_000).contains(rate) else { throw ValidationError("--rate goes from 1 to 10000") }
        guard pause > 0, pause < 600 else { throw ValidationError("--pause goes up to 600") }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory
            .appending(path: "storehook-upgrade-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        let programs = try ChaosPrograms(workplace: workplace)
        let old = UpgradeSite.Release(name: "previous", executable: URL(fileURLWithPath: previous))
        let new = UpgradeSite.Release(
            name: "current", executable: current.map { URL(fileURLWithPath: $0) } ?? ChaosPrograms.beside("storehook"))
        var faults: [String] = []
        print("| order | step | posts | 503 first | unanswered | longest, s | failed |")
        print("|---|---|---:|---:|---:|---:|---:|")
        for order in [[UpgradeSite.Part.receivers, .workers], [.workers, .receivers]] {
            faults += try await play(order, from: old, to: new, programs)
        }
        guard faults.isEmpty else {
            for fault in faults { StandardError.line(fault) }
            StandardError.line("what the programs said is in \(workplace.path)")
            throw ExitCode.failure
        }
        try FileManager.default.removeItem(at: workplace)
    }

    /// Forth in this order, and back in the other.
    /// - Returns: what did not hold, a line each.
    private func play(
        _ order: [UpgradeSite.Part], from old: UpgradeSite.Release, to new: UpgradeSite.Release,
        _ programs: ChaosPrograms
    ) async throws -> [String] {
        let name = order.map(\.rawValue).joined(separator: ", ")
        // Ten steps and the two ends, and room for slow ones; what is left over is not posted.
        let posts = try await PreparedPosts(Int(Double(rate) * (pause * 12 + 90)), seed: seed, by: programs.authority)
        return try await BenchDatabase.with(isMigrated: false) { database in
            let site = try UpgradeSite(programs, database)
            try await site.run(old, ["migrate"])
            try await site.start(old)
            let load = UpgradeLoad(posts, ports: site.ports.map(\.posts), rate: Double(rate))
            let posting = Task { try await load.run() }
            var faults: [String] = []
            func step(_ what: String, _ body: () async throws -> Void) async throws {
                try await body()
                // Until so many more posts are answered, so that each step has its own.
                let goal = load.accepted + Int(Double(rate) * pause)
                try await patiently("posts are answered after: \(what)", within: .seconds(60)) {
                    load.accepted >= goal
                }
                let answers = load.answers()
                let longest = (answers.longestDelay * 1000).rounded() / 1000
                print(
                    "| \(name) | \(what) | \(answers.accepted) | \(answers.delayed) | \(answers.unanswered) | \(longest) "
                        + "| \(answers.failed) |")
                if answers.failed > 0 { faults.append("\(name), \(what): \(answers.failed) posts were not accepted") }
                if longest > 2 { faults.append("\(name), \(what): a post was not accepted for \(longest) s") }
            }
            do {
                try await step("as it was") {}
                try await step("migrate") { try await site.run(new, ["migrate"]) }
                for (release, parts) in [(new, order), (old, order.reversed())] {
                    for part in parts {
                        for number in [0, 1] {
                            try await step("\(part.rawValue) \(number + 1) \(release.name)") {
                                try await site.replace(part, number, by: release)
                            }
                        }
                    }
                }
                load.stop()
                try await posting.value
                let outbox = Outbox(database.pool)
                try await patiently("the queue is empty", within: .seconds(600)) {
                    try await outbox.queue.pending() == 0
                }
                faults += try await accounts(outbox, load, name)
                let deaths = await site.deaths
                if deaths > 0 { faults.append("\(name): programs ended by themselves \(deaths) times") }
                await site.stop()
                // Workers of a release before orders book none; the chapter on orders asks for this once the last of them has stopped.
                do { try await site.run(new, ["rebuild"]) } catch { faults.append("\(name): \(error)") }
                for release in [new, old] {
                    do { try await site.run(release, ["rebuild", "--check"]) } catch {
                        faults.append("\(name): \(error)")
                    }
                }
                return faults
            } catch {
                load.stop()
                _ = try? await posting.value
                await site.stop()
                throw error
            }
        }
    }

    private func accounts(_ outbox: Outbox, _ load: UpgradeLoad, _ name: String) async throws -> [String] {
        let places = try await outbox.conservation(audit: true)
        print(
            "| \(name) | accepted \(load.accepted): stored \(places.received), applied \(places.applied), duplicate "
                + "\(places.duplicate), dead \(places.dead), missing \(places.missing), doubled \(places.doubled) | | | | | |"
        )
        var faults: [String] = []
        if places.received < load.accepted { faults.append("\(name): accepted posts are not stored") }
        if !places.isWhole { faults.append("\(name): \(places.missing) missing, \(places.doubled) doubled") }
        if places.dead > 0 { faults.append("\(name): \(places.dead) dead letters") }
        return faults
    }
}
