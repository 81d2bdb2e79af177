package import Subscriptions

/// One signed record that an app or its backend hands in, before anybody has looked at it.
package struct HandedIn: Sendable, Hashable {
    /// What it is said to be. Verifying holds it to that.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A transaction, as StoreKit hands it out (`jwsRepresentation`).
        case transaction
        /// A renewal info. It names no app: it comes with its transaction, or after it.
        case renewal
        /// An app transaction.
        case appTransaction = "app_transaction"

        /// The same as evidence.
        package var evidence: EvidenceKind {
            switch self {
            case .transaction: .transaction
            case .renewal: .renewal
            case .appTransaction: .appTransaction
            }
        }
    }

    /// What it is said to be.
    package var kind: Kind
    /// The compact JWS, byte for byte.
    package var bytes: [UInt8]

    /// A record by its text.
    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        bytes = Array(text.utf8)
    }
}
