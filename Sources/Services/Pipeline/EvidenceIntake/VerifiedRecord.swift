import AppStorePayloads
import PurchaseStore
import Subscriptions

/// A record that was handed in, once it is verified.
struct VerifiedRecord: Sendable {
    /// Which of those handed in it is.
    let place: Int
    /// The ledger entry; where it is stored is not known yet.
    let entry: LedgerEntry
    /// By what it is known when it comes again: the SHA-256 of the JSON that was signed, or of all its bytes.
    let digest: [UInt8]
    private let record: TakenEvidence.Record

    /// Nil for what no app hands in.
    init?(_ entry: LedgerEntry, of handedIn: HandedIn, at place: Int) {
        guard case .record(_, let digest) = entry.identity else { return nil }
        self.place = place
        self.entry = entry
        self.digest = digest
        switch handedIn.kind {
        case .transaction, .receiptTransaction:
            guard let payload = entry.transaction?.payload else { return nil }
            record = .transaction(payload)
        case .renewal, .receiptRenewal:
            guard let payload = entry.renewal?.payload else { return nil }
            record = .renewal(payload)
        case .receipt: record = .receipt
        case .appTransaction:
            // The ledger keeps nothing of it, so its entry has it no more.
            let segments = handedIn.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard segments.count == 3, let json = Base64.url.decode(Array(segments[1])),
                let payload = try? AppTransactionPayload.decode(json)
            else { return nil }
            record = .appTransaction(payload)
        }
    }

    func taken(_ outcome: LedgerOutcome) -> TakenEvidence {
        TakenEvidence(
            outcome: outcome, environment: entry.environment, bundleID: entry.bundleID, purchase: entry.purchase,
            record: record)
    }
}
