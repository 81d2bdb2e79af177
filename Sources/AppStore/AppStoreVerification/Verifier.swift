public import AppStorePayloads
import Crypto

/// Decides whether something was signed by Apple, for an app and an environment that are served here.
///
/// A pure computation: no network, no files, and the clock is handed in. Callable from many threads at once.
///
/// The order of the checks: the three segments, the header, the chain, the signature; only then is the payload read at all; then the
/// certificates' validity at the payload's own `signedDate`; then what the payload claims; then the parts in it, each by the same path.
/// Nothing in a payload chooses how it is verified: `Xcode` and `LocalTesting` are environments like the others.
public struct Verifier: Sendable {
    /// What is trusted and served.
    public let configuration: VerifierConfiguration
    /// The chains found valid so far; copies of a verifier share it.
    public let chainCache: ChainCache

    /// What is known about revocation; nil where nobody is asked.
    public let revocation: RevocationCache?

    let clock: @Sendable () -> Timestamp

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - configuration: What is trusted and served.
    ///   - chainCache: The chains found valid so far. Share one only between verifiers that trust the same roots.
    ///   - revocation: What is known about revocation; without it no certificate counts as revoked.
    ///   - clock: Today's date, used for ``VerifierConfiguration/maximumAges`` and revocation, and nothing else.
    public init(
        configuration: VerifierConfiguration, chainCache: ChainCache = ChainCache(),
        revocation: RevocationCache? = nil, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.configuration = configuration
        self.chainCache = chainCache
        self.revocation = revocation
        self.clock = clock
    }

    /// Verifies a `signedPayload` and everything in it.
    ///
    /// - Parameters:
    ///   - jws: The compact JWS.
    ///   - isBackfill: Whether it comes out of an archive rather than a post, so that its age does not matter.
    /// - Throws: The first check that fails.
    public func verifyNotification(
        _ jws: [UInt8], isBackfill: Bool = false
    ) throws(VerificationFailure) -> VerifiedNotification {
        let signed = try signed(jws)
        let payload = try decode(signed, NotificationPayload.decode)
        try signed.chain.requireValid(at: payload.signedDate)
        let claims = try claims(of: payload.part)
        try require(claims)
        if !isBackfill { try refuseOld(payload.signedDate, in: claims.environment) }
        var parts = Parts()
        switch payload.part {
        case .data(let data):
            if let text = data.signedTransactionInfo {
                parts.transaction = try part("signedTransactionInfo") { () throws(VerificationFailure) in
                    try transaction(text, of: claims, in: signed)
                }
            }
            if let text = data.signedRenewalInfo {
                parts.renewal = try part("signedRenewalInfo") { () throws(VerificationFailure) in
                    try renewal(text, of: claims, in: signed, beside: parts.transaction?.value)
                }
            }
        case .appData(let data):
            if let text = data.signedAppTransactionInfo {
                parts.appTransaction = try part("signedAppTransactionInfo") { () throws(VerificationFailure) in
                    try appTransaction(text, of: claims, in: signed)
                }
            }
        case .summary, .externalPurchaseToken, .none:
            break
        }
        return VerifiedNotification(
            payload: payload,
            bundleId: claims.bundleId,
            environment: claims.environment,
            transaction: parts.transaction?.value,
            renewal: parts.renewal?.value,
            appTransaction: parts.appTransaction?.value,
            digests: .init(
                transaction: parts.transaction?.digest,
                renewal: parts.renewal?.digest,
                appTransaction: parts.appTransaction?.digest
            )
        )
    }

    /// Verifies a transaction that stands alone.
    ///
    /// - Throws: The first check that fails.
    public func verifyTransaction(_ jws: [UInt8]) throws(VerificationFailure) -> TransactionPayload {
        let signed = try signed(jws)
        let transaction = try decode(signed, TransactionPayload.decode)
        try signed.chain.requireValid(at: transaction.signedDate)
        try require(bundleId: transaction.bundleId)
        try require(environment: transaction.environment)
        return transaction
    }

    /// Verifies a renewal info that stands alone. It names no app, so whose it is remains open.
    ///
    /// - Throws: The first check that fails.
    public func verifyRenewal(_ jws: [UInt8]) throws(VerificationFailure) -> RenewalInfoPayload {
        let signed = try signed(jws)
        let renewal = try decode(signed, RenewalInfoPayload.decode)
        try signed.chain.requireValid(at: renewal.signedDate)
        try require(environment: renewal.environment)
        return renewal
    }

    /// Verifies an app transaction that stands alone.
    ///
    /// - Throws: The first check that fails.
    public func verifyAppTransaction(_ jws: [UInt8]) throws(VerificationFailure) -> AppTransactionPayload {
        let signed = try signed(jws)
        let transaction = try decode(signed, AppTransactionPayload.decode)
        try requireValid(signed, transaction)
        let environment = try require(environment: transaction.receiptType)
        try require(
            Claims(bundleId: transaction.bundleId, environment: environment, appAppleId: transaction.appAppleId))
        return transaction
    }

    func signed(_ jws: [UInt8], inside outer: SignedPayload? = nil) throws(VerificationFailure) -> SignedPayload {
        let signed = try SignedPayload(
            jws, inside: outer, cache: chainCache, trustedRoots: configuration.trustedRoots)
        // After the signature: who cannot sign cannot have anybody asked.
        if let revocation { try revocation.require(signed.chain, at: clock()) }
        return signed
    }

    func decode<Payload>(
        _ signed: SignedPayload, _ decode: ([UInt8]) throws(PayloadError) -> Payload
    ) throws(VerificationFailure) -> Payload {
        do {
            return try decode(signed.json)
        } catch {
            throw VerificationFailure(.malformedPayload, error.message)
        }
    }

    func requireValid(_ signed: SignedPayload, _ transaction: AppTransactionPayload) throws(VerificationFailure) {
        guard let date = transaction.effectiveSignedDate else {
            throw VerificationFailure(.malformedPayload, "signedDate and receiptCreationDate are missing.")
        }
        try signed.chain.requireValid(at: date)
    }

    private func refuseOld(_ signedDate: Timestamp, in environment: Environment) throws(VerificationFailure) {
        guard let limit = configuration.maximumAges[environment] else { return }
        guard signedDate.adding(seconds: limit.components.seconds) >= clock() else {
            throw VerificationFailure(
                .payloadTooOld,
                "This was signed more than \(limit.components.seconds / 86_400) days ago, which is the limit set.")
        }
    }
}
