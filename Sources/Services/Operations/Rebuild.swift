import AppStorePayloads
package import AppStoreVerification
import EvidenceVerification
package import Ledger
import Outbox
package import Postgres
import Subscriptions

/// Derives all facts and state anew from Apple's stored bytes, line after line, while workers go on.
package struct Rebuild: Sendable {
    /// What came of it.
    package struct Report: Sendable, Hashable {
        /// Lines derived anew.
        package var lines = 0
        /// Cells that differ, or differed before they were mended.
        package var differences = 0
        /// Notifications whose bytes retention has dropped: their part was taken from the signed records as they stand.
        package var withoutBytes = 0
        /// Lines of which some stored bytes do not verify: those were not mended unless that was asked for.
        package var unverified = 0
    }

    /// Lines in one transaction: what workers may have to wait for, and what is held in memory.
    private static let linesAtOnce = 100

    private let pool: PostgresPool
    private let verifier: Verifier
    private let ledger: Ledger
    private let outbox: Outbox

    /// A rebuild with the verifier and the ledger that workers use.
    package init(pool: PostgresPool, verifier: Verifier, ledger: Ledger) {
        self.pool = pool
        self.verifier = verifier
        self.ledger = ledger
        outbox = Outbox(pool)
    }

    /// How many lines there are, about.
    package func count() async throws -> Int64 {
        try await LedgerReader(pool).purchaseCount()
    }

    /// Goes through all lines. Ends at stored bytes that cannot be read: what is derived without them would be wrong.
    /// - Parameters:
    ///   - repair: write what was derived where it differs; otherwise only look, each page in a snapshot of its own.
    ///   - discard: mend lines too of which some stored bytes do not verify under the verifier's settings. What those
    ///     brought is forgotten, which is right for bytes that should never have been trusted and a loss if it is the
    ///     settings that are wrong.
    ///   - onLines: told how many more are done.
    ///   - onDifference: told of each cell that differs, and of stored bytes that do not verify any more.
    package func run(
        repair: Bool, discard: Bool = false, onLines: @Sendable (Int) -> Void,
        onDifference: @Sendable (RowDifference) -> Void
    ) async throws -> Report {
        var report = Report()
        var last: PurchaseKey?
        while true {
            let page = try await self.page(after: last, repair: repair, discard: discard)
            guard let end = page.lines.last else { return report }
            page.differences.forEach(onDifference)
            onLines(page.lines.count)
            report.lines += page.lines.count
            report.differences += page.differences.count
            report.withoutBytes += page.withoutBytes
            report.unverified += page.unverified
            last = end
        }
    }

    private func page(
        after last: PurchaseKey?, repair: Bool, discard: Bool
    ) async throws -> (lines: [PurchaseKey], differences: [RowDifference], withoutBytes: Int, unverified: Int) {
        // Looking takes one snapshot for all its statements; repair must see what others commit before its locks.
        let options = TransactionOptions(
            isolation: repair ? .readCommitted : .repeatableRead, isReadOnly: !repair, name: "rebuild")
        return try await pool.withTransaction(options) { session in
            let lines = try ledger.purchases(after: last, limit: Self.linesAtOnce, session)
            guard !lines.isEmpty else { return ([], [], 0, 0) }
            var unverified: [RowDifference] = []
            let (differences, withoutBytes, doubtful) = try ledger.rederive(
                lines, repair: repair, discard: discard, session
            ) { references, session in
                let bodies = try outbox.bodies(of: references.map { ($0.outboxID, $0.receivedAt) }, session)
                return try zip(references, bodies).map { reference, body in
                    switch try verify(reference, body) {
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
            return (lines, unverified + differences, withoutBytes, doubtful.count)
        }
    }

    private func verify(
        _ reference: EvidenceReference, _ body: OpenedBody?
    ) throws -> Result<Evidence, VerificationFailure> {
        guard let body = try body?.mapError({ UnreadableEvidence(outboxID: reference.outboxID, why: $0) }).get() else {
            return .success(.gone)
        }
        return Result { () throws(VerificationFailure) in
            let verified = try verifier.verifyNotification(body, isBackfill: true)
            return .verified(LedgerEntry(outboxID: reference.outboxID, receivedAt: reference.receivedAt, verified))
        }
    }
}
