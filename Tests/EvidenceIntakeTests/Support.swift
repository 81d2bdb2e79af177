import AccountStore
import AppStorePayloads
import AppStoreVerification
import EvidenceStore
import Foundation
import Metrics
import Monitoring
import Pipeline
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import TestSupport
import Worker

/// A database to hand things in to, and a stand-in for Apple that it trusts.
struct Desk: EvidenceSite {
    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox
    let authority: SimulatedAuthority

    /// An intake over the test's own pool, or another one.
    func intake(
        _ own: PostgresPool? = nil, asking revocation: (RevocationCache, RevocationChecker)? = nil,
        observing observers: [any ChangeObserver]? = nil, deadline: Duration = .seconds(60),
        metrics: any MetricsFactory = MetricsRegistry(MetricFamily.storehook)
    ) -> EvidenceIntake {
        EvidenceIntake(
            pool: own ?? pool, verifier: verifier(asking: revocation?.0),
            pipeline: observers.map {
                EvidencePipeline(ledger: Ledger(), accounts: AccountStore(own ?? pool), events: nil, observers: $0)
            } ?? EvidencePipeline(own ?? pool, events: nil),
            revocation: revocation?.1, deadline: deadline, logger: quiet, metrics: metrics)
    }

    /// The records in a notification as the app has them.
    func records(_ notification: UnsignedNotification) -> [HandedIn] {
        let parts: [(HandedIn.Kind, [UInt8]?)] = [
            (.transaction, notification.transaction?.json), (.renewal, notification.renewal?.json),
        ]
        return parts.compactMap { kind, json in json.map { HandedIn(kind, authority.sign($0)) } }
    }

    /// A transaction's JSON with one text in the place of another, signed.
    func transaction(
        _ notification: UnsignedNotification, replacing old: String, with new: String
    ) -> HandedIn {
        let json = String(decoding: notification.transaction?.json ?? [], as: UTF8.self)
        return HandedIn(.transaction, authority.sign(Array(json.replacing(old, with: new).utf8)))
    }

    /// Hands in and answers in words: `applied`, `duplicate`, `refused wrong_bundle`, `undecided purchase_unknown`.
    func handIn(_ records: [HandedIn], to intake: EvidenceIntake? = nil) async throws -> [String] {
        let (answers, _) = try await (intake ?? self.intake()).take(records)
        return answers.map(\.words)
    }

    /// Runs a worker while `body` lasts, and until the queue is empty.
    func withWorker(_ body: () async throws -> Void) async throws {
        let configuration = WorkerConfiguration(name: "test", batchSize: 20, pollInterval: .milliseconds(10))
        try await RunningWorker.with(on: database, trusting: verifier(), configuration) { _ in
            try await body()
            try await untilDone()
        }
    }

    /// Facts and state of all purchases, but for what tells the order in which they came.
    func rows() async throws -> [String] {
        try await texts(
            """
            select row from (
                select 't' || to_jsonb(t)::text as row from storehook.transactions t
                union all select 'r' || to_jsonb(r)::text from storehook.renewals r
                union all select 's' || (to_jsonb(s) - array['first_stored_at', 'last_stored_at'])::text
                            from storehook.subscriptions s
                union all select 'p' || to_jsonb(p)::text from storehook.purchase_lines p
                union all select 'o' || (to_jsonb(o) - array['first_stored_at', 'last_stored_at'])::text
                            from storehook.one_time_purchases o
                union all select 'a' || to_jsonb(a)::text from storehook.anomalies a
                union all select 'f' || (to_jsonb(f) - 'outbox_id')::text from storehook.purchase_facts f) all_rows
             order by row
            """)
    }

    /// Everything in every table but the headers of signatures, as one digest a table.
    func contents() async throws -> [String: String] { try await contents(but: ["signature_headers"]) }

    /// Where everything is, counted as programs do, and counted from every row there is: the same.
    func books() async throws -> Conservation? {
        let books = try await outbox.conservation()
        return try await outbox.conservation(audit: true) == books ? books : nil
    }
}

extension IntakeAnswer {
    /// In words, without the message.
    var words: String {
        switch self {
        case .taken(let evidence): evidence.outcome.rawValue
        case .refused(let code, _): "refused \(code.rawValue)"
        case .undecided(let reason): "undecided \(reason.rawValue)"
        }
    }
}

/// Runs `body` with a database of its own.
func withDesk<T>(
    connections: Int = 4, isolation: isolated (any Actor)? = #isolation, _ body: (Desk) async throws -> T
) async throws -> T {
    try await withEvidenceSite(connections: connections) { database, pool, authority in
        try await body(Desk(database: database, pool: pool, outbox: Outbox(pool), authority: authority))
    }
}

extension Array {
    /// Cut into parts of this size.
    func batches(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
