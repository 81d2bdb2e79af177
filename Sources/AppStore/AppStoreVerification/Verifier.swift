public import AppStorePayloads
public import Base
import Crypto

/// Decides whether Apple signed something, for an app and an environment that are served here.
///
/// A pure computation: no network, no files, and the clock is a parameter. Callable from many threads at once.
///
/// The order of the checks:
/// 1. the three segments, the header, the chain, the signature; only then the payload is read at all;
/// 2. the certificates' validity at the payload's own `signedDate`, which must not lie in the future;
/// 3. the payload's claims, and whether the chain's root may sign for the claimed environment;
/// 4. the parts in it, each in the same way.
///
/// Nothing in a payload chooses how it is verified: `Xcode` and `LocalTesting` are ordinary environments, with roots
/// of their own.
public struct Verifier: Sendable {
    /// What is trusted and served.
    public let configuration: VerifierConfiguration
    /// The valid chains found so far; copies of a verifier share it.
    public let chainCache: ChainCache

    /// Known revocation statuses; nil where revocation is not checked.
    public let revocation: RevocationCache?

    package let clock: @Sendable () -> Timestamp
    /// The roots trusted for any environment; which one is checked once the payload has named it.
    private let everyRoot: Set<Fingerprint>

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - configuration: What is trusted and served.
    ///   - chainCache: The valid chains found so far. Share one only between verifiers that trust the same roots.
    ///   - revocation: Known revocation statuses; without it no certificate counts as revoked.
    ///   - clock: Today's date, for ``VerifierConfiguration/maximumAges``, ``VerifierConfiguration/maximumLead`` and
    ///     revocation
    ///     only. Where a call names its instant, a payload's dates are compared with that instead.
    public init(
        configuration: VerifierConfiguration, chainCache: ChainCache = ChainCache(),
        revocation: RevocationCache? = nil, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.configuration = configuration
        self.chainCache = chainCache
        self.revocation = revocation
        self.clock = clock
        everyRoot = configuration.trustedRoots.all
    }

    /// Verifies a `signedPayload` and everything in it.
    ///
    /// - Parameters:
    ///   - jws: The compact JWS.
    ///   - isBackfill: Whether it comes from an archive rather than a post, so that its dates are compared
    ///     with no clock.
    ///   - ofAnyAge: Whether its age alone does not matter: it was fetched, or handed in, and not posted just now.
    ///   - now: The current time; by default the verifier's clock.
    /// - Throws: The first check that fails.
    public func verifyNotification(
        _ jws: [UInt8], isBackfill: Bool = false, ofAnyAge: Bool = false, now: Timestamp? = nil
    ) throws(VerificationFailure) -> VerifiedNotification {
        let clock = clock(isBackfill: isBackfill, now)
        let signed = try signed(jws)
        let payload = try decode(signed, NotificationPayload.decode)
        try require(signed, signedAt: payload.signedDate, clock)
        let claims = try claims(of: payload.part)
        try require(claims)
        try require(signed.chain, for: claims.environment)
        if !ofAnyAge { try refuseOld(payload.signedDate, in: claims.environment, clock) }
        var parts = Parts()
        switch payload.part {
        case .data(let data):
            if let text = data.signedTransactionInfo {
                parts.transaction = try part("signedTransactionInfo") { () throws(VerificationFailure) in
                    try transaction(text, of: claims, in: signed, signedAt: payload.signedDate, clock)
                }
            }
            if let text = data.signedRenewalInfo {
                parts.renewal = try part("signedRenewalInfo") { () throws(VerificationFailure) in
                    try renewal(
                        text, of: claims, in: signed, signedAt: payload.signedDate, beside: parts.transaction?.value,
                        clock)
                }
            }
        case .appData(let data):
            if let text = data.signedAppTransactionInfo {
                parts.appTransaction = try part("signedAppTransactionInfo") { () throws(VerificationFailure) in
                    try appTransaction(text, of: claims, in: signed, clock)
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

    /// Verifies a transaction that stands alone. Its app is checked as far as it is named: in Production, too, Apple
    /// always gives a transaction its bundle identifier, but not always the App Apple ID.
    ///
    /// - Parameters: As of ``verifyNotification(_:isBackfill:ofAnyAge:now:)``; the age of a record that stands alone
    ///   does not matter.
    /// - Throws: The first check that fails; `malformed_payload` for something else that Apple signed, such as a
    ///   renewal info.
    public func verifyTransaction(
        _ jws: [UInt8], isBackfill: Bool = false, now: Timestamp? = nil
    ) throws(VerificationFailure) -> TransactionPayload {
        let signed = try signed(jws)
        let transaction = try decode(signed) { json throws(PayloadError) in try TransactionPayload.decode(json) }
        try require(signed, signedAt: transaction.signedDate, clock(isBackfill: isBackfill, now))
        try require(bundleId: transaction.bundleId)
        let environment = try require(environment: transaction.environment)
        try require(transaction.bundleId, environment, asFarAsSaid: transaction.appAppleId)
        try require(signed.chain, for: environment)
        return transaction
    }

    /// Verifies a renewal info that stands alone. It names no app, so its app remains open.
    ///
    /// - Parameters: As of ``verifyTransaction(_:isBackfill:now:)``.
    /// - Throws: The first check that fails; `malformed_payload` for something else that Apple signed, such as a
    ///   transaction.
    public func verifyRenewal(
        _ jws: [UInt8], isBackfill: Bool = false, now: Timestamp? = nil
    ) throws(VerificationFailure) -> RenewalInfoPayload {
        let signed = try signed(jws)
        let renewal = try decode(signed) { json throws(PayloadError) in try RenewalInfoPayload.decode(json) }
        try require(signed, signedAt: renewal.signedDate, clock(isBackfill: isBackfill, now))
        let environment = try require(environment: renewal.environment)
        try require(signed.chain, for: environment)
        return renewal
    }

    /// Verifies an app transaction that stands alone.
    ///
    /// - Parameters: As of ``verifyTransaction(_:isBackfill:now:)``.
    /// - Throws: The first check that fails.
    public func verifyAppTransaction(
        _ jws: [UInt8], isBackfill: Bool = false, now: Timestamp? = nil
    ) throws(VerificationFailure) -> AppTransactionPayload {
        let signed = try signed(jws)
        let transaction = try decode(signed, AppTransactionPayload.decode)
        try require(signed, transaction, clock(isBackfill: isBackfill, now))
        let environment = try require(environment: transaction.receiptType)
        try require(
            Claims(bundleId: transaction.bundleId, environment: environment, appAppleId: transaction.appAppleId))
        try require(signed.chain, for: environment)
        return transaction
    }

    func signed(_ jws: [UInt8], inside outer: SignedPayload? = nil) throws(VerificationFailure) -> SignedPayload {
        let signed = try SignedPayload(jws, inside: outer, cache: chainCache, trustedRoots: everyRoot)
        // After the signature: a sender that cannot sign cannot cause requests to responders.
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
}
