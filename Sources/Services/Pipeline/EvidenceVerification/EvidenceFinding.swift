import AppStorePayloads
import AppStoreServerAPI
package import AppStoreVerification
package import Base
package import Postgres
package import PurchaseStore
package import Subscriptions

/// What a piece of evidence says, found out by verifying it as what it was stored as. Nothing in it chooses that.
package enum EvidenceFinding: Sendable {
    /// The complete ledger entry.
    case entry(LedgerEntry)
    /// Renewal info by itself names no app, which has to be looked up.
    case unattributed(UnattributedRenewal)

    /// Verifies stored bytes.
    /// - Parameters:
    ///   - body: the JWS; of a receipt its SHA-256; of what verifyReceipt answered the extract.
    ///   - isRepeated: whether it was verified before, so that no clock matters any more.
    ///   - now: what time it is; by default, the verifier's clock.
    /// - Throws: the first check that fails.
    package init(
        verifying body: [UInt8], as kind: EvidenceKind, from source: EvidenceSource, outboxID: Int64,
        receivedAt: PostgresTimestamp, isRepeated: Bool = false, at now: Timestamp? = nil,
        by verifier: Verifier
    ) throws(VerificationFailure) {
        func entry(_ environment: Environment?, _ bundleID: String?, _ record: LedgerEntry.Record) -> EvidenceFinding {
            .entry(
                LedgerEntry(
                    outboxID: outboxID, receivedAt: receivedAt, source: source, environment: environment?.rawValue,
                    bundleID: bundleID, record))
        }
        switch kind {
        case .notification:
            self = .entry(
                LedgerEntry(
                    outboxID: outboxID, receivedAt: receivedAt, source: source,
                    // What Apple did not post just now may be of any age.
                    try verifier.verifyNotification(
                        body, isBackfill: isRepeated, ofAnyAge: source != .webhook, now: now)))
        case .transaction:
            let payload = try verifier.verifyTransaction(body, isBackfill: isRepeated, now: now)
            self = entry(
                payload.environment, payload.bundleId,
                .transaction(.init(payload, digest: Fingerprint(of: payload.json).bytes)))
        case .renewal:
            let payload = try verifier.verifyRenewal(body, isBackfill: isRepeated, now: now)
            guard let environment = payload.environment else {
                throw VerificationFailure(.wrongEnvironment, "The environment is missing.")
            }
            self = .unattributed(
                UnattributedRenewal(
                    outboxID: outboxID, receivedAt: receivedAt, source: source, environment: environment.rawValue,
                    renewal: .init(payload, digest: Fingerprint(of: payload.json).bytes)))
        case .appTransaction:
            let payload = try verifier.verifyAppTransaction(body, isBackfill: isRepeated, now: now)
            self = entry(
                payload.receiptType, payload.bundleId,
                .appTransaction(payload, digest: Fingerprint(of: payload.json).bytes))
        case .receipt:
            // The intake has verified it, and nothing is derived from it: its bytes are not even read here.
            self = entry(nil, nil, .receipt(digest: body))
        case .receiptTransaction:
            guard let extract = try? ReceiptExtract(body), case .transaction(let payload) = extract.content else {
                throw Self.unreadable
            }
            try extract.requireServed(by: verifier)
            self = entry(
                extract.environment, extract.bundleId,
                .receiptTransaction(.init(payload, digest: Fingerprint(of: body).bytes)))
        case .receiptRenewal:
            guard let extract = try? ReceiptExtract(body), case .renewal(let payload) = extract.content else {
                throw Self.unreadable
            }
            try extract.requireServed(by: verifier)
            self = entry(
                extract.environment, extract.bundleId,
                .receiptRenewal(.init(payload, digest: Fingerprint(of: body).bytes)))
        }
    }

    private static let unreadable = VerificationFailure(
        .malformedPayload, "This is not what verifyReceipt says of a transaction or of a subscription's future.")
}

extension ReceiptExtract {
    /// It came over TLS and is not signed; the app and the environment have to be ours all the same.
    fileprivate func requireServed(by verifier: Verifier) throws(VerificationFailure) {
        try verifier.requireServed(bundleId: bundleId)
        try verifier.require(environment: environment)
    }
}

/// A verified renewal info whose app is not known yet.
package struct UnattributedRenewal: Sendable {
    let outboxID: Int64
    let receivedAt: PostgresTimestamp
    let source: EvidenceSource
    let environment: String
    let renewal: LedgerEntry.Signed<RenewalInfoPayload>

    /// The purchase, without the app.
    package var purchase: UnattributedPurchase {
        UnattributedPurchase(
            environment: environment, originalTransactionID: renewal.payload.originalTransactionId)
    }

    /// The ledger entry, once the app is known.
    package func entry(of bundleID: String) -> LedgerEntry {
        LedgerEntry(
            outboxID: outboxID, receivedAt: receivedAt, source: source, environment: environment, bundleID: bundleID,
            .renewal(renewal))
    }
}
