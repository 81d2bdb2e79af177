import AppStorePayloads
import Base

extension Verifier {
    /// A signed part and the SHA-256 of its JSON text.
    struct Part<Value> {
        let value: Value
        let digest: Fingerprint
    }

    /// The signed parts of one notification.
    struct Parts {
        var transaction: Part<TransactionPayload>?
        var renewal: Part<RenewalInfoPayload>?
        var appTransaction: Part<AppTransactionPayload>?
    }

    /// Runs `work`; a failure then names the part.
    func part<Value>(
        _ name: String, _ work: () throws(VerificationFailure) -> Value
    ) throws(VerificationFailure) -> Value {
        do { return try work() } catch { throw error.inside(name) }
    }

    /// - Parameter date: when the notification was signed: the date of a part that has none of its own.
    func transaction(
        _ text: String, of claims: Claims, in outer: SignedPayload, signedAt date: Timestamp, _ clock: Clock
    ) throws(VerificationFailure) -> Part<TransactionPayload> {
        let signed = try signed(Array(text.utf8), inside: outer)
        let transaction = try decode(signed) { json throws(PayloadError) in
            try TransactionPayload.decode(json, undatedAt: date)
        }
        try require(signed, signedAt: transaction.signedDate, clock)
        guard transaction.bundleId == claims.bundleId else { throw mismatch("bundleId") }
        try requireSame(transaction.environment, claims)
        try require(signed.chain, for: claims.environment)
        // Only where it is given: Apple names it in notifications of Production.
        if claims.environment == .production, let id = transaction.appAppleId, id != claims.appAppleId {
            throw mismatch("appAppleId")
        }
        return Part(value: transaction, digest: Fingerprint(of: signed.json))
    }

    /// Renewal info names no app: the transaction beside it ties it to the notification.
    /// - Parameter date: when the notification was signed: the date of a part that has none of its own.
    func renewal(
        _ text: String, of claims: Claims, in outer: SignedPayload, signedAt date: Timestamp,
        beside transaction: TransactionPayload?, _ clock: Clock
    ) throws(VerificationFailure) -> Part<RenewalInfoPayload> {
        let signed = try signed(Array(text.utf8), inside: outer)
        let renewal = try decode(signed) { json throws(PayloadError) in
            try RenewalInfoPayload.decode(json, undatedAt: date)
        }
        try require(signed, signedAt: renewal.signedDate, clock)
        try requireSame(renewal.environment, claims)
        try require(signed.chain, for: claims.environment)
        if let transaction, transaction.originalTransactionId != renewal.originalTransactionId {
            throw mismatch("originalTransactionId")
        }
        return Part(value: renewal, digest: Fingerprint(of: signed.json))
    }

    func appTransaction(
        _ text: String, of claims: Claims, in outer: SignedPayload, _ clock: Clock
    ) throws(VerificationFailure) -> Part<AppTransactionPayload> {
        let signed = try signed(Array(text.utf8), inside: outer)
        let transaction = try decode(signed, AppTransactionPayload.decode)
        try require(signed, transaction, clock)
        guard transaction.bundleId == claims.bundleId else { throw mismatch("bundleId") }
        try requireSame(transaction.receiptType, claims)
        try require(signed.chain, for: claims.environment)
        return Part(value: transaction, digest: Fingerprint(of: signed.json))
    }

    private func requireSame(_ environment: Environment?, _ claims: Claims) throws(VerificationFailure) {
        // Old records have none; then the notification's counts, which has the same signer.
        guard environment == nil || environment == claims.environment else { throw mismatch("environment") }
    }

    private func mismatch(_ field: String) -> VerificationFailure {
        VerificationFailure(.mismatchedParts, "\(field) is not that of the notification around it.")
    }
}
