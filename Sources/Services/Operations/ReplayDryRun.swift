import AppStorePayloads
package import AppStoreVerification
package import Base
package import EvidenceStore
import Foundation
import Pipeline
package import Postgres
package import PurchaseStore
package import Subscriptions

/// What a replay would do: the replay is performed in a transaction that is always rolled back.
///
/// The letters are verified and applied by the same code that a worker runs. So duplicates and interplay between
/// letters are included, and nothing is changed.
package struct ReplayDryRun: Sendable {
    /// The answer.
    package struct Report: Sendable, Hashable {
        /// A letter that would die again.
        package struct StillDead: Sendable, Hashable {
            /// The letter.
            package var id: Int64
            /// The reason code it would have.
            package var reason: ReasonCode
            /// The line for people.
            package var message: String
        }
        /// A subscription that would stand elsewhere, now.
        package struct Move: Sendable, Hashable {
            /// The subscription.
            package var purchase: PurchaseKey
            /// Its status now; nil if it is not known.
            package var from: SubscriptionStatus?
            /// Its status after the replay, at the same instant.
            package var to: SubscriptionStatus
        }

        /// Letters looked at.
        package var letters = 0
        /// Of them, those that would be recorded and applied.
        package var applied = 0
        /// Those that would turn out to be recorded already.
        package var duplicate = 0
        /// Those of a type that this release does not know.
        package var parked = 0
        /// Those that would die again.
        package var stillDead: [StillDead] = []
        /// Subscriptions whose status would change, by purchase.
        package var moves: [Move] = []

        /// Of no letter.
        package init() {}
    }

    /// The most dead letters of one rehearsal. It locks their purchases and accounts until its end, so workers and callers
    /// wait for it.
    package static let limit = Int(JobStore.mostRehearsed)

    private let pool: PostgresPool
    private let verifier: Verifier
    private let pipeline: EvidencePipeline

    /// A rehearsal with the verifier and the ledger that workers would use.
    package init(pool: PostgresPool, verifier: Verifier, ledger: Ledger) {
        self.pool = pool
        self.verifier = verifier
        // Without observers: they lock rows that all purchases of a product share, and workers would wait for the rehearsal.
        pipeline = EvidencePipeline(pool, ledger: ledger, isObserved: false)
    }

    /// Rehearses the replay of the open letters that the filter names, at most ``limit`` of them.
    /// - Parameter now: the instant at which statuses are compared.
    package func run(_ filter: DeadLetterFilter, at now: Timestamp) async throws -> Report {
        var report = Report()
        let letters = try await Outbox(pool).deadLettersWithBodies(filter, limit: Self.limit)
        report.letters = letters.count
        var entries: [LedgerEntry] = []
        let evidence = EvidenceVerifier(verifier, pool)
        let results = await evidence.results(
            of: letters.map { letter, content in
                evidence.verify(.init(outboxID: letter.outboxID, receivedAt: letter.receivedAt, content))
            })
        for ((letter, _), result) in zip(letters, results) {
            switch result {
            case .verified(let entry): entries.append(entry)
            case .refused(let refusal):
                report.stillDead.append(.init(id: letter.id, reason: refusal.reason, message: refusal.message))
            case .undecided(let reason):
                report.stillDead.append(.init(id: letter.id, reason: reason, message: "would be tried again"))
            }
        }
        let (outcomes, moves, refusals) = try await rehearse(entries, at: now)
        let ids = Dictionary(letters.map { ($0.0.outboxID, $0.0.id) }) { first, _ in first }
        report.stillDead += refusals.compactMap { refusal in
            ids[refusal.outboxID].map { .init(id: $0, reason: ReasonCode(refusal.error), message: "\(refusal.error)") }
        }
        report.stillDead.sort { $0.id < $1.id }
        report.applied = outcomes.count { $0 == .applied }
        report.duplicate = outcomes.count { $0 == .duplicate }
        report.parked = outcomes.count { $0 == .parked }
        report.moves = moves
        return report
    }

    private func rehearse(
        _ entries: [LedgerEntry], at now: Timestamp
    ) async throws -> (outcomes: [LedgerOutcome], moves: [Report.Move], refusals: [Refusal]) {
        guard !entries.isEmpty else { return ([], [], []) }
        let options = TransactionOptions(idleTimeout: .seconds(30), goesByIndexes: true, name: "dead-letters.rehearse")
        do {
            return try await pool.withTransaction(options) { session in
                try session.query(Self.savepoint)
                do {
                    throw RolledBack(change: try pipeline.apply(entries, session).change)
                } catch let error as PostgresError where RefusalBlame(error) == .row {
                    try session.query(Self.rollback)
                }
                let refusals = try refusals(of: entries, session)
                try session.query(Self.rollback)
                // The others together, so that each purchase is compared once.
                let refused = Set(refusals.map(\.outboxID))
                let rest = entries.filter { !refused.contains($0.outboxID) }
                throw RolledBack(change: try pipeline.apply(rest, session).change, refusals: refusals)
            }
        } catch let done as RolledBack {
            return (
                done.change.outcomes,
                done.change.deltas.compactMap { delta in
                    let from = delta.subscriptionBefore?.status(at: now)?.status
                    guard let to = delta.subscription?.status(at: now)?.status, from != to else { return nil }
                    return Report.Move(purchase: delta.key, from: from, to: to)
                }, done.refusals
            )
        }
    }

    /// Applies entries within the transaction, and finds by halving the letters that the database refuses and that may be to
    /// blame for it, as a worker does.
    private func refusals(
        of entries: [LedgerEntry], _ session: borrowing PostgresSession
    ) throws -> [Refusal] {
        try session.query(Self.savepoint)
        do {
            _ = try pipeline.apply(entries, session)
            try session.query(Self.release)
            return []
        } catch let error as PostgresError where RefusalBlame(error) == .row {
            try session.query(Self.rollback)
            try session.query(Self.release)
            guard entries.count > 1 else { return entries.map { Refusal(outboxID: $0.outboxID, error: error) } }
            let middle = entries.count / 2
            let first = try refusals(of: Array(entries[..<middle]), session)
            return first + (try refusals(of: Array(entries[middle...]), session))
        }
    }

    private static let savepoint = PostgresQuery("dead-letters.savepoint", "savepoint rehearsal")
    private static let rollback = PostgresQuery("dead-letters.undo", "rollback to savepoint rehearsal")
    private static let release = PostgresQuery("dead-letters.release", "release savepoint rehearsal")

    /// A letter that the database refuses.
    private struct Refusal {
        var outboxID: Int64
        var error: PostgresError
    }

    /// Thrown to roll the transaction back, with what was learned in it.
    private struct RolledBack: Error {
        var change: EvidencePipeline.Change
        var refusals: [Refusal] = []
    }
}
