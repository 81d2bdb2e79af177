import AppStorePayloads
package import Base

extension Verifier {
    /// The clock that a payload's dates are compared with; nil for a payload from the archive: it was checked when it
    /// arrived, and no clock changes that.
    struct Clock {
        var now: Timestamp?
    }

    func clock(isBackfill: Bool, _ now: Timestamp?) -> Clock { Clock(now: isBackfill ? nil : now ?? clock()) }

    /// Requires that the certificates were valid when this was signed, and that this is not in the future.
    func require(_ signed: SignedPayload, signedAt date: Timestamp, _ clock: Clock) throws(VerificationFailure) {
        try signed.chain.requireValid(at: date)
        if let now = clock.now { try Self.require(date, notAfter: now) }
    }

    /// Requires that this date is not in the future, by the verifier's clock.
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
