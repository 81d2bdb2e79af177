import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore

/// A receipt with what proves it and what there is to keep of it.
struct ExaminedReceipt {
    var receipt: Receipt
    var app: ReceiptIntake.App?
    var report: ReceiptIntake.Report
    /// The receipt, and verifyReceipt's answer to it.
    var evidence: [Evidence]
    /// verifyReceipt's answer, where it was asked and gave one.
    var answer: ReceiptAnswer?
    /// What the answer says, where that is what state is derived from.
    var words: [UnsignedReceiptClaim] = []
    /// The app, and where the answer was given.
    var scope: AppEnvironment

    /// The identity of the proven receipt: SHA-256 of its signed part; where verifyReceipt alone proves it, of what
    /// Apple has read. The bytes around that can be encoded in another way.
    var identity: Fingerprint {
        switch report.proof {
        case .verifyReceipt(let answer): answer.reading
        case .signature, nil: Fingerprint(of: receipt.signedContent ?? evidence[0].bytes)
        }
    }
}
