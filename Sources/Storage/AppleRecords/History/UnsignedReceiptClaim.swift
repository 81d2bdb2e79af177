import AppStorePayloads
package import Base
package import EvidenceStore

/// What verifyReceipt's answer says of one transaction, or of one subscription's future, to be stored as evidence of its own.
package struct UnsignedReceiptClaim: Sendable, Hashable {
    /// Its kind, its source and its bytes.
    package var evidence: Evidence
    /// The transaction; of a subscription's future the original transaction.
    package var id: String
    /// When Apple answered it.
    package var answeredAt: Timestamp
    /// Of a subscription's future, the end of the period that it speaks of; nil where that is not known.
    package var periodEndsAt: Timestamp?
    /// SHA-256 of what it says, whenever that was.
    package var saying: [UInt8]

    /// Memberwise.
    package init(
        _ evidence: Evidence, of id: String, answeredAt: Timestamp, periodEndsAt: Timestamp? = nil, saying: [UInt8]
    ) {
        self.evidence = evidence
        self.id = id
        self.answeredAt = answeredAt
        self.periodEndsAt = periodEndsAt
        self.saying = saying
    }
}
