import EvidenceStore
import Foundation
import Synchronization

/// What the cells of one run share.
struct ChaosRun: Sendable {
    let programs: ChaosPrograms
    let server: ChaosServer
    /// Where cells make servers of their own; nil where they cannot.
    let clusters: ChaosClusters?
    /// `sql/roles.sql`; nil where it is not at hand.
    let roles: URL?
    /// Notifications posted a second.
    let rate: Int
    let seed: Int

    /// Plays a cell to its end, whatever that is.
    func play(_ cell: ChaosCell) async throws -> ChaosOutcome {
        var outcome: ChaosOutcome
        do {
            outcome = try await cell.play(self)
        } catch let obstacle as ChaosObstacle {
            outcome = ChaosOutcome(skipped: obstacle.why)
        } catch let error where !Task.isCancelled {
            // The others are still worth playing.
            outcome = ChaosOutcome(failure: "\(error)")
        }
        outcome.cell = cell.name
        return outcome
    }

    /// Where cells make servers of their own.
    /// - Parameter gigabytes: how much has to be free there.
    func clusters(gigabytes: Int = 1) throws -> ChaosClusters {
        guard let clusters else { throw ChaosObstacle(why: "needs servers of its own: deploy/chaos") }
        guard clusters.freeBytes >= Int64(gigabytes) << 30 else {
            throw ChaosObstacle(why: "needs \(gigabytes) GB free in \(clusters.directory.path)")
        }
        return clusters
    }

    /// Posts notifications to a site for so many seconds, has `fault` break something meanwhile, and accounts for all of
    /// them.
    func account(
        _ site: ChaosSite, seconds: Int, whileBreaking fault: (ChaosSite) async throws -> Void
    ) async throws -> ChaosOutcome {
        var outcome = ChaosOutcome()
        let load = try programs.load(rate * seconds, perSecond: rate, seed: seed)
        defer { load.stop() }
        // Before it, so that the fault hits work under way.
        _ = try await site.untilServing()
        try await Task.sleep(for: .seconds(2))
        try await fault(site)
        outcome.secondsToRecover = try await site.untilServing()
        let (acknowledged, repeated) = try await load.outcome()
        outcome.repeated = repeated
        try await site.eachWorks()
        try await site.untilDone()
        let probes = site.probes.load(ordering: .relaxed)
        outcome.posted = load.posted + probes
        outcome.acknowledged = acknowledged + probes
        let places = try await site.outbox.conservation()
        outcome.applied = Int(places.applied + places.parked)
        outcome.duplicate = Int(places.duplicate)
        outcome.dead = Int(places.dead)
        outcome.doubled = Int(places.doubled)
        outcome.lost = max(
            Int(places.missing), load.unique + probes - outcome.applied - outcome.dead - Int(places.pending))
        outcome.unreadable = try await site.unreadable()
        outcome.differences = try programs.run(["rebuild", "--check"], site.database.url).status == 0 ? 0 : 1
        outcome.complaints = site.noted
        return outcome
    }
}

/// Why a cell cannot be played here.
struct ChaosObstacle: Error {
    let why: String
}
