import AppStorePayloads
import Base
import Subscriptions

// Facts written by hand, on a calendar of days.

/// An instant, in days and seconds counted from an arbitrary one.
func day(_ day: Int64, seconds: Int64 = 0) -> Timestamp {
    Timestamp(millisecondsSince1970: 1_749_945_600_000).adding(days: day).adding(seconds: seconds)
}

private func digest(_ instant: Timestamp) -> [UInt8] { Array("\(instant)".utf8) }

/// A paid period; signed two seconds after it was bought by default.
func period(
    _ id: String, _ days: ClosedRange<Int64>, product: String = "basic", renewal: Bool = false, trial: Bool = false,
    revoked: Timestamp? = nil, share: Int64? = nil, reason: RevocationReason? = nil, family: Bool = false,
    signed: Timestamp? = nil
) -> TransactionFact {
    let signed = signed ?? day(days.lowerBound, seconds: 2)
    return TransactionFact(
        transactionID: id, webOrderLineItemID: "w\(id)", productID: product, subscriptionGroupID: "group",
        ownership: family ? "FAMILY_SHARED" : "PURCHASED", purchasedAt: day(days.lowerBound),
        expiresAt: day(days.upperBound), revokedAt: revoked, reason: renewal ? .renewal : .purchase, isFreeTrial: trial,
        revocationPercentage: share, revocationReason: reason, signedAt: signed, digest: digest(signed))
}

/// Renewal info.
func renewing(
    signed: Timestamp, renews: Timestamp?, on autoRenew: Bool? = true, to next: String = "basic", retry: Bool? = nil,
    grace: Timestamp? = nil, product: String = "basic", reported: Int = 1, intent: Int? = nil, pending: Bool = false
) -> RenewalFact {
    RenewalFact(
        productID: product, renewalProductID: next, autoRenew: autoRenew, renewsAt: renews, expirationIntent: intent,
        inBillingRetry: retry, graceExpiresAt: grace, priceIncreasePending: pending, signedAt: signed,
        reportedStatus: reported, digest: digest(signed))
}

extension Heard {
    /// A notification about a period and what comes after it.
    static func of(
        _ name: String, _ transaction: TransactionFact, signed: Timestamp, on autoRenew: Bool = true,
        to next: String? = nil, retry: Bool? = nil, grace: Timestamp? = nil, status: Int = 1, intent: Int? = nil,
        pending: Bool = false, renews: Timestamp? = nil
    ) -> Heard {
        var transaction = transaction
        transaction.signedAt = signed
        transaction.asOf = signed
        transaction.digest = Array("\(transaction.transactionID) \(signed)".utf8)
        let product = transaction.productID ?? "basic"
        return Heard(
            name, signedAt: signed, transaction: transaction,
            renewal: renewing(
                signed: signed, renews: renews ?? transaction.expiresAt, on: autoRenew, to: next ?? product,
                retry: retry, grace: grace, product: product, reported: status, intent: intent, pending: pending),
            status: status)
    }
}

extension Heard {
    /// The renewal of a period.
    static func renewed(_ id: String = "2", _ days: ClosedRange<Int64> = 30...60, signed: Timestamp) -> Heard {
        .of("DID_RENEW", period(id, days, renewal: true), signed: signed)
    }

    /// That auto-renew was switched off.
    static func switchedOff(
        _ id: String = "1", _ days: ClosedRange<Int64> = 0...30, signed: Timestamp
    ) -> Heard {
        .of("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", period(id, days), signed: signed, on: false)
    }

    /// That the charge at the end of the first period has failed, with grace for three days.
    static func grace() -> Heard {
        .of(
            "DID_FAIL_TO_RENEW/GRACE_PERIOD", period("1", 0...30), signed: day(30, seconds: 5), retry: true,
            grace: day(33), status: 4)
    }
}

extension Listener {
    /// Who bought a period of thirty days on day 0.
    static func subscriber(trial: Bool = false) -> Listener {
        var listener = Listener()
        listener.hear(
            .of("SUBSCRIBED/INITIAL_BUY", period("1", 0...30, trial: trial), signed: day(0, seconds: 2)),
            at: day(0, seconds: 3))
        listener.events = []
        return listener
    }
}
