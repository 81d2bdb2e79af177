import AppStorePayloads
import Base
package import Pipeline

/// What became of an old receipt, as people and scripts see it.
package struct ReceiptReportAnswer: Encodable, Sendable {
    private let bundleID: String
    private let environment: String?
    /// `signature`, `verify_receipt`; null where nobody vouches for it.
    private let proof: String?
    /// Why nobody does.
    private let refusal: String?
    /// Whether somebody may vouch for it another time.
    private let refusalIsTransient: Bool?
    private let transactionIDs: [String]
    private let outboxIDs: [Int64]
    /// How much of what verifyReceipt says, and nobody signs, was stored to derive state from.
    private let unsignedStored: Int
    private let refreshes: [RefreshAnswer]
    private let queued: Int
    /// What went wrong with asking about it, although it is proven.
    private let trouble: String?

    private enum CodingKeys: String, CodingKey {
        case bundleID = "bundle_id"
        case environment, proof, refusal, refreshes, queued, trouble
        case transactionIDs = "transaction_ids"
        case outboxIDs = "outbox_ids"
        case refusalIsTransient = "refusal_is_transient"
        case unsignedStored = "unsigned_stored"
    }

    /// Whether it is proven, everything in Apple's answers was Apple's, and what was not answered will be asked again.
    package var isComplete: Bool {
        proof != nil && refreshes.allSatisfy(\.isComplete) && (trouble == nil || queued > 0)
    }

    /// An answer.
    package init(_ report: ReceiptIntake.Report) {
        bundleID = report.bundleID
        environment = report.proof?.environment.rawValue
        proof = report.proof?.name
        refusal = report.refusal?.description
        refusalIsTransient = report.refusal?.isTransient
        transactionIDs = report.transactionIDs
        outboxIDs = report.outboxIDs
        unsignedStored = report.words
        refreshes = report.refreshes.map(RefreshAnswer.init)
        queued = report.queued
        trouble = report.trouble
    }

    /// For people.
    package var text: String {
        var lines: [String] = []
        if let proof, let environment {
            let vouching = proof == "signature" ? "Apple signed it" : "verifyReceipt vouches for it"
            lines.append("\(environment): a receipt of \(bundleID) with \(transactionIDs.count) purchases; \(vouching)")
            lines.append("stored as evidence: row \(outboxIDs.map { "\($0)" }.joined(separator: " and "))")
        } else {
            lines.append("nobody vouches for this receipt, and it is not stored: \(refusal ?? "no reason is known")")
            if refusalIsTransient == true { lines.append("that passes: hand it in again later") }
        }
        if unsignedStored > 0 {
            lines.append(
                "\(unsignedStored) things that verifyReceipt says, and nobody signs, were stored and wait for a worker")
        }
        lines += refreshes.map(\.text)
        if let trouble { lines.append("asking about it went wrong: \(trouble)") }
        if queued > 0 { lines.append("\(queued) purchases are asked for later, by a worker") }
        return lines.joined(separator: "\n")
    }
}
