import AppStorePayloads
import AppStoreVerification
import Base

/// Verifies a record by its kind, and that it is of the app and environment that were asked.
struct RecordVerifier {
    let verifier: Verifier
    let bundleId: String
    let environment: Environment

    func transaction(_ jws: String) throws(VerificationFailure) -> SignedRecord<TransactionPayload> {
        let payload = try verifier.verifyTransaction(Array(jws.utf8))
        try require(payload.bundleId, payload.environment)
        return SignedRecord(jws: jws, payload: payload)
    }

    /// Renewal info names no app: the transaction beside it ties it to the one that was asked about.
    func renewal(
        _ jws: String, beside transaction: TransactionPayload?
    ) throws(VerificationFailure) -> SignedRecord<RenewalInfoPayload> {
        let payload = try verifier.verifyRenewal(Array(jws.utf8))
        guard let transaction, transaction.originalTransactionId == payload.originalTransactionId else {
            throw VerificationFailure(
                .mismatchedParts, "originalTransactionId is not that of the transaction beside it.")
        }
        try require(bundleId, payload.environment)
        return SignedRecord(jws: jws, payload: payload)
    }

    func appTransaction(_ jws: String) throws(VerificationFailure) -> SignedRecord<AppTransactionPayload> {
        let payload = try verifier.verifyAppTransaction(Array(jws.utf8))
        try require(payload.bundleId, payload.receiptType)
        return SignedRecord(jws: jws, payload: payload)
    }

    /// Out of an archive: its age does not matter.
    func notification(_ jws: String) throws(VerificationFailure) -> SignedRecord<VerifiedNotification> {
        let notification = try verifier.verifyNotification(Array(jws.utf8), isBackfill: true)
        try require(notification.bundleId, notification.environment)
        return SignedRecord(jws: jws, payload: notification)
    }

    private func require(_ bundleId: String, _ environment: Environment?) throws(VerificationFailure) {
        guard bundleId == self.bundleId else {
            throw VerificationFailure(.mismatchedParts, "bundleId is not that of the app that was asked about.")
        }
        guard environment == self.environment else {
            throw VerificationFailure(.mismatchedParts, "environment is not the one that was asked.")
        }
    }
}
