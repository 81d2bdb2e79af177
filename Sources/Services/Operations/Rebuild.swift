import AccountStore
import AppStorePayloads
package import AppStoreVerification
import Base
import Events
import EvidenceStore
import FigureStore
import Foundation
import OrderStore
import Pipeline
package import Postgres
package import PurchaseStore
import Subscriptions

/// Derives all facts and state again from Apple's stored bytes, and accounts from those, while workers run.
///
/// One task lists the purchases page by page. As many pages as there are cores are derived at once, each in its own
/// transaction. If a page fails, its purchases are tried one by one; only those that cannot be derived are left out,
/// and reported.
package struct Rebuild: Sendable {
    /// What came of it.
    package struct Report: Sendable, Hashable {
        /// Purchases derived anew.
        package var purchases = 0
        /// Cells that differ, or differed before they were repaired.
        package var differences = 0
        /// Notifications and other evidence whose bytes retention has dropped. The stored signed records stand in for
        /// them.
        package var withoutBytes = 0
        /// Purchases with stored bytes that do not verify. They are repaired only with `discard`.
        package var unverified = 0
        /// Purchases that could not be derived at all. The reason is reported when it happens.
        package var failed = 0

        static func + (a: Report, b: Report) -> Report {
            Report(
                purchases: a.purchases + b.purchases, differences: a.differences + b.differences,
                withoutBytes: a.withoutBytes + b.withoutBytes, unverified: a.unverified + b.unverified,
                failed: a.failed + b.failed)
        }
    }

    /// Purchases in one transaction: what workers may have to wait for, and what is held in memory.
    private static let pageSize = 100

    /// Pages derived at once, each over a connection of its own; the pool needs one more for listing.
    package static let pagesAtOnce = max(2, ProcessInfo.processInfo.activeProcessorCount)

    private let pool: PostgresPool
    private let verifier: Verifier
    private let ledger: Ledger
    private let outbox: Outbox
    private let pipeline: EvidencePipeline
    private let orders: OrderStore

    /// A rebuild with the verifier and the ledger that workers use.
    package init(pool: PostgresPool, verifier: Verifier, ledger: Ledger) {
        self.pool = pool
        self.verifier = verifier
        self.ledger = ledger
        outbox = Outbox(pool)
        pipeline = EvidencePipeline(pool, ledger: ledger)
        orders = OrderStore(pool)
    }

    /// How many purchases there are, about.
    package func count() async throws -> Int64 {
        try await LedgerReader(pool).purchaseCount()
    }

    /// Goes through all purchases. Fails on stored bytes that cannot be read: a state derived without them would be
    /// wrong.
    /// - Parameters:
    ///   - repair: write the derived state where it differs; otherwise only compare, each page in its own snapshot.
    ///   - discard: also repair purchases with stored bytes that do not verify under the verifier's settings. What
    ///     those bytes brought is lost: right for bytes that should never have been trusted, wrong if the settings are
    ///     at fault.
    ///   - onPurchases: called with the number of purchases just finished.
    ///   - onDifference: called for each cell that differs, for stored bytes that no longer verify, and for purchases
    ///     that could not be derived.
    package func run(
        repair: Bool, discard: Bool = false, onPurchases: @escaping @Sendable (Int) -> Void,
        onDifference: @escaping @Sendable (RowDifference) throws -> Void
    ) async throws -> Report {
        try await withThrowingTaskGroup(of: Report.self) { group in
            var report = Report()
            var last: PurchaseKey?
            var running = 0
            while true {
                let keys = try await next(after: last)
                guard let end = keys.last else { break }
                last = end
                if running == Self.pagesAtOnce, let done = try await group.next() {
                    report = report + done
                    running -= 1
                }
                running += 1
                group.addTask {
                    let report = try await derive(keys, repair: repair, discard: discard, onDifference)
                    onPurchases(keys.count)
                    return report
                }
            }
            for try await done in group { report = report + done }
            if repair {
                try await pool.withTransaction(options(repair: true)) { try PurchasedProducts.listAll($0) }
            }
            report = report + (try await deriveAccounts(repair: repair, onDifference))
            // Days that a repair marked are summed by a worker, and not compared.
            report.differences += try await FigureStore(pool).check(repair: repair, onDifference: onDifference)
            return report
        }
    }

    /// Derives the accounts, page by page, after all purchases match what Apple signed.
    private func deriveAccounts(
        repair: Bool, _ onDifference: @Sendable (RowDifference) throws -> Void
    ) async throws -> Report {
        var (report, last) = (Report(), UniqueIdentifier?.none)
        while true {
            let after = last
            let page = try await pool.withTransaction(options(repair: repair)) { session in
                try pipeline.rederiveAccounts(after: after, repair: repair, session)
            }
            guard let page, let end = page.accounts.last else { return report }
            last = end
            try page.differences.forEach(onDifference)
            report.differences += page.differences.count
            if repair, !page.differences.isEmpty { pipeline.accounts.announce(page.accounts) }
        }
    }

    /// Comparing uses one snapshot for all its statements; a repair must see what others committed before its locks.
    private func options(repair: Bool) -> TransactionOptions {
        TransactionOptions(
            isolation: repair ? .readCommitted : .repeatableRead, isReadOnly: !repair, name: "rebuild")
    }

    private func next(after last: PurchaseKey?) async throws -> [PurchaseKey] {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "rebuild")) { session in
            try ledger.purchases(after: last, limit: Self.pageSize, session)
        }
    }

    private func derive(
        _ keys: [PurchaseKey], repair: Bool, discard: Bool, _ onDifference: @Sendable (RowDifference) throws -> Void
    ) async throws -> Report {
        do {
            let page = try await page(keys, repair: repair, discard: discard)
            try page.differences.forEach(onDifference)
            return page.report
        } catch let error as PostgresError where !error.isTransient && error.sqlState?.isCatalogueFault != true {
            // A right or a table that is missing is no purchase's fault, and ends all of it.
            guard keys.count == 1, let key = keys.first else {
                var report = Report()
                for key in keys {
                    report = report + (try await derive([key], repair: repair, discard: discard, onDifference))
                }
                return report
            }
            try onDifference(
                RowDifference(
                    table: "purchase_lines",
                    key: "\(key.originalTransactionID) \(key.bundleID) \(key.environment)", column: "*",
                    stored: "what stands", derived: "could not be derived: \(error)"))
            return Report(purchases: 1, failed: 1)
        }
    }

    private func page(
        _ keys: [PurchaseKey], repair: Bool, discard: Bool
    ) async throws -> (report: Report, differences: [RowDifference]) {
        try await pool.withTransaction(options(repair: repair)) { session in
            var unverified: [RowDifference] = []
            var (differences, withoutBytes, doubtful) = try ledger.rederive(
                keys, repair: repair, discard: discard, session
            ) { references, session in
                let stored = try outbox.evidence(of: references.map { ($0.outboxID, $0.receivedAt) }, session)
                return try zip(references, stored).map { reference, stored in
                    switch try verify(reference, stored) {
                    case .success(let evidence): return evidence
                    case .failure(let failure):
                        unverified.append(
                            RowDifference(
                                table: "outbox", key: "\(reference.outboxID)", column: "body",
                                stored: "recorded as verified", derived: "\(failure)"))
                        return .unverified
                    }
                }
            }
            if repair, !differences.isEmpty { try pipeline.settle(keys, cause: .rebuild, session) }
            differences += try pipeline.relinkAccounts(of: keys, repair: repair, session)
            differences += try orders.rebook(keys, repair: repair, ledger, pipeline.accounts, session)
            differences += try pipeline.retell(keys, repair: repair, session)
            let report = Report(
                purchases: keys.count, differences: unverified.count + differences.count, withoutBytes: withoutBytes,
                unverified: doubtful.count)
            return (report, unverified + differences)
        }
    }

    private func verify(
        _ reference: EvidenceReference, _ stored: OpenedEvidence?
    ) throws -> Result<ReopenedEvidence, VerificationFailure> {
        guard let stored else { return .success(.gone) }
        let body = try stored.body.mapError { UnreadableEvidence(outboxID: reference.outboxID, why: $0) }.get()
        return Result { () throws(VerificationFailure) in
            let finding = try EvidenceFinding(
                verifying: body, as: stored.kind, from: stored.source, outboxID: reference.outboxID,
                receivedAt: reference.receivedAt, isRepeated: true, by: verifier)
            switch finding {
            case .entry(let entry): return .verified(entry)
            case .unattributed(let renewal):
                let bundleID = reference.bundleID ?? ""
                try verifier.requireServed(bundleId: bundleID)
                return .verified(renewal.entry(of: bundleID))
            }
        }
    }
}
