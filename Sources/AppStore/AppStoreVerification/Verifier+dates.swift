import AppStorePayloads
package import Base

extension Verifier {
    /// Against which clock the dates of one payload are held; nil for what was in the archive already: it was judged when
    /// it came, and no clock changes that.
    struct Clock {
        var now: Timestamp?
    }

    func clock(isBackfill: Bool, _ now: Timestamp?) -> Clock { Clock(now: isBackfill ? nil : now ?? clock()) }

    /// Makes sure that the certificates were valid when this was signed, and that this is not yet to come.
    func require(_ signed: SignedPayload, signedAt date: Timestamp, _ clock: Clock) throws(VerificationFailure) {
        try signed.chain.requireValid(at: date)
        if let now = clock.now { try Self.require(date, notAfter: now) }
    }

    /// Makes sure that something of this date is not yet to come, by the verifier's clock.
    ///
    /// - Throws: `signed_in_future`.
    package func requireNotInFuture(_ date: Timestamp) throws(VerificationFailure) {
        try Self.require(date, notAfter: clock())
    }

    private static func require(_ date: Timestamp, notAfter now: Timestamp) throws(VerificationFailure) {
        let lead = VerifierConfiguration.maximumLead.components.seconds
        guard date <= now.adding(seconds: lead) else {
            throw VerificationFailure(
                .signedInFuture,
                "This says that it was signed more than \(lead / 60) minutes from now (\(now)): a clock is wrong, and it is "
                    + "tried again.")
        }
    }

    func require(_ signed: SignedPayload, _ transaction: AppTransactionPayload, _ clock: Clock)
        throws(VerificationFailure)
    {
        guard let date = transaction.effectiveSignedDate else {
            throw VerificationFailure(.malformedPayload, "signedDate and receiptCreationDate are missing.")
        }
        try require(signed, signedAt: date, clock)
    }

    func refuseOld(
        _ signedDate: Timestamp, in environment: Environment, _ clock: Clock
    ) throws(VerificationFailure) {
        guard let now = clock.now, let limit = configuration.maximumAges[environment] else { return }
        guard signedDate.adding(seconds: limit.components.seconds) >= now else {
            throw VerificationFailure(
                .payloadTooOld,
                "This was signed more than \(limit.components.seconds / 86_400) days ago, which is the limit set.")
        }
    }
}
