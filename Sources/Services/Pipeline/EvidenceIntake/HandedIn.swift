import AccountStore
package import EvidenceStore
package import Subscriptions

/// One record that an app or its backend hands in, before anybody has looked at it; or that Apple answered while they wait.
package struct HandedIn: Sendable, Hashable {
    /// What it is said to be. Verifying holds it to that.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A transaction, as StoreKit hands it out (`jwsRepresentation`).
        case transaction
        /// A renewal info. It names no app: it comes with its transaction, or after it.
        case renewal
        /// An app transaction.
        case appTransaction = "app_transaction"
        /// An old receipt that is proven, or verifyReceipt's answer to it. The caller of ``EvidenceIntake`` has checked
        /// the proof: it is kept, and nothing is derived from it.
        case receipt
        /// What verifyReceipt said of a transaction, to the caller of ``EvidenceIntake``.
        case receiptTransaction = "receipt_transaction"
        /// What it said of a subscription's future.
        case receiptRenewal = "receipt_renewal"

        /// The same as evidence.
        package var evidence: EvidenceKind {
            switch self {
            case .transaction: .transaction
            case .renewal: .renewal
            case .appTransaction: .appTransaction
            case .receipt: .receipt
            case .receiptTransaction: .receiptTransaction
            case .receiptRenewal: .receiptRenewal
            }
        }
    }

    /// What it is said to be.
    package var kind: Kind
    /// Which way it came, for the timeline.
    package var source: EvidenceSource
    /// The compact JWS, byte for byte; or what else its kind is.
    package var bytes: [UInt8]

    /// A record that an app hands in, by its text.
    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        source = .client
        bytes = Array(text.utf8)
    }

    /// Evidence of any source; nil for a notification, which cannot be handed in.
    package init?(_ evidence: Evidence) {
        guard let kind = Kind.allCases.first(where: { $0.evidence == evidence.kind }) else { return nil }
        self.kind = kind
        source = evidence.source
        bytes = evidence.bytes
    }

    /// What keeping it takes: of a JWS without its header, which is stored once for all that have it.
    var weight: Int {
        guard kind != .receipt else { return WriteWeight.receipt(bytes.count) }
        let header = kind.evidence.isJWS ? bytes.firstIndex(of: UInt8(ascii: ".")) ?? 0 : 0
        return WriteWeight.evidence(bytes.count - header)
    }
}
