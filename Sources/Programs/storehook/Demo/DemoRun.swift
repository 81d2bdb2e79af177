import AppStorePayloads
import AppStoreServerAPI
import AppleSync
import ArgumentParser
import EvidenceStore
import Foundation
import Operations
import Pipeline
import Postgres
import PurchaseStore
import Simulation

struct DemoRun: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Post simulated notifications to a receiver, and report what became of them.",
        discussion: """
            A receiver and a worker on the same database run already, and serve com.example.storehook=1234567890 under the
            simulator's root. Exits with 0 only if every notification is accounted for: stored, done, and in one place,
            and none of them a dead letter.

            With --shop it also plays a customer of a stand-in for Apple's servers, which posts to the same receiver (storehook
            app-store) and which STOREHOOK_APPLE_URL and STOREHOOK_APPLE_KEYS name: a purchase whose post is lost, a renewal, a
            refund. It then fetches what was lost, and exits with 0 only if nothing is missing any more.

            Example: storehook demo --to http://127.0.0.1:8080/webhooks/apple --notifications 2000 --pki pki
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "The receiver's URL.") var to: String
    @Option(help: "How many, repeats included.") var notifications = 2000
    @Option(help: "A directory with the simulator's certificates and keys; made if it is not there.") var pki: String
    @Option(help: "Give up once the workers, or the shop, have done nothing for so many seconds.") var patience = 120.0
    @Option(help: "A stand-in whose shop is looked at as well: its URL.") var shop: String?
    @Flag(help: "Print the commands that show it, for a shop that goes on living.") var hints = false

    func validate() throws {
        guard (1...100_000_000).contains(notifications) else {
            throw ValidationError("--notifications must be positive")
        }
        guard patience > 0, patience.isFinite else { throw ValidationError("--patience must be more than 0") }
    }

    func run() async throws {
        let authority = try SimulatedAuthority.loadOrGenerate(in: pki)
        let settings = try await shared.settings()
        guard let shop else {
            let isWhole = try await Database.with(settings, size: 2) { pool in
                try await account(pool, authority).isWhole
            }
            if !isWhole { throw ExitStatus.failed }
            return
        }
        let access = try AppleAccess(settings)
        do {
            try await run(settings, authority, access, shop)
            await access.shutdown()
        } catch {
            await access.shutdown()
            if let failure = error as? AppStoreFailure { throw CommandFailure("\(failure)") }
            if let trouble = error as? UnusableAnswer { throw CommandFailure("\(trouble)") }
            throw error
        }
    }

    /// The customer lives while the notifications are posted; the steps of that life are shown afterwards.
    private func run(
        _ settings: Settings, _ authority: SimulatedAuthority, _ access: AppleAccess, _ url: String
    ) async throws {
        let app = try access.app(SimulatedApp.example.bundleId)
        guard let client = access.client(app) else {
            throw CommandFailure(
                "the shop's app has no Server API key; see STOREHOOK_APPLE_KEYS", status: .usage)
        }
        let shop = DemoShop(url: url, client: client, patience: .seconds(patience))
        let began = WallClock.now()
        let (steps, teller) = AsyncStream<String>.makeStream()
        let isWhole = try await Database.with(settings, size: 2) { pool in
            async let life = {
                defer { teller.finish() }
                return try await shop.play { teller.yield($0) }
            }()
            let report = try await account(pool, authority)
            step("Watching a customer of the shop")
            for await line in steps { detail(line) }
            let original = try await life
            let isComplete = try await recover(pool, settings, access, shop, since: began)
            // The notifications of before, and all that came since.
            let after = try await settled(Outbox(pool), progress: false)
            let isBooked = try await showOrder(of: original, pool)
            let isSummed = try await showFigures(pool)
            let isWhole = report.isWhole && isComplete && isBooked && isSummed && after.pending == 0 && after.isWhole
            detail(isWhole ? "every notification is accounted for" : "not every notification is accounted for")
            if hints { hint(original, since: began) }
            return isWhole
        }
        if !isWhole { throw ExitStatus.failed }
    }

    /// Posts, waits, and reports what became of the notifications.
    private func account(_ pool: PostgresPool, _ authority: SimulatedAuthority) async throws -> DemoReport {
        let outbox = Outbox(pool)
        let began = WallClock.now()
        // A shop that was closed first catches up with its life; those notifications are not part of what is posted
        // here.
        let before = try await shop == nil ? outbox.conservation() : settled(outbox, progress: false)
        step("Posting \(notifications) simulated notifications: every fifth a repeat, in no order")
        let simulation = simulation(seed: UInt64(before.received) + 1)
        let posted = try await Poster(url: to, connections: 16, rate: nil)
            .post(
                SignedBodies(simulation.signedDeliveries(by: authority)), ProgressBar("    posting", of: notifications))
        detail(posted.text)
        step("Waiting until the workers have done them")
        let after = try await settled(outbox)
        // A pending notification is neither lost nor dead.
        let own = try await after.pending > 0 ? (lost: 0, dead: 0) : fate(of: simulation, pool, since: began)
        let report = DemoReport(
            posted: notifications, accepted: posted.accepted, lost: own.lost, dead: own.dead, besideShop: shop != nil,
            before: before, after: after)
        step("What became of them")
        for line in report.lines { detail(line) }
        detail("subscriptions, by view storehook.subscription_status:")
        for (status, count) in try await LedgerReader(pool).statusCounts() {
            let number = "\(count)"
            detail("  " + String(repeating: " ", count: max(0, 7 - number.count)) + "\(number)  \(status)")
        }
        if shop == nil { detail(report.verdict) }
        return report
    }

    /// Another seed each time, so that a second demonstration is news and not the first one again.
    private func simulation(seed: UInt64) -> Simulation {
        Simulation(
            seed: seed, notifications: notifications, duplicatePercent: 20, order: .shuffled,
            endingAt: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)))
    }

    /// The sums once nothing is pending. Beside a shop something may come at any moment: then they are looked at again.
    func settled(_ outbox: Outbox, progress: Bool = true) async throws -> Conservation {
        let end = ContinuousClock.now + .seconds(patience)
        try await untilDone(outbox, progress: progress)
        while true {
            let sums = try await outbox.conservation()
            guard shop != nil, sums.pending > 0, ContinuousClock.now < end else { return sums }
            try await untilDone(outbox, progress: false)
        }
    }

    /// As long as it goes on: a worker that died holds what it had for a lease.
    private func untilDone(_ outbox: Outbox, progress isShown: Bool) async throws {
        var (last, since) = (Int64.max, ContinuousClock.now)
        var progress: ProgressBar?
        while true {
            try StandardOutput.check()
            let left = try await outbox.depth().filter { $0.state != .dead }.reduce(0) { $0 + $1.count }
            if isShown, progress == nil, left > 0 { progress = ProgressBar("    working", of: Int(left)) }
            if left < last {
                progress?.advance(by: last == .max ? 0 : Int(last - left))
                (last, since) = (left, .now)
            }
            guard left > 0, ContinuousClock.now - since < .seconds(patience) else { break }
            try await Task.sleep(for: .milliseconds(200))
        }
        progress?.finish()
    }

    func step(_ text: String) { say("==> \(text)") }
    func detail(_ text: String) { say("    \(text)") }

    private func say(_ text: String) { StandardOutput.line(text) }
}
