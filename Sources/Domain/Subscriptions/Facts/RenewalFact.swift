public import AppStorePayloads
public import Base

/// A purchase's signed renewal info, reduced to what state is derived from.
public struct RenewalFact: SignedFact, Hashable {
    /// The product of the current period.
    public var productID: String?
    /// What the purchase renews to.
    public var renewalProductID: String?
    /// Whether auto-renew is on; nil where Apple says neither yes nor no.
    public var autoRenew: Bool?
    /// When the most recent period ends, by Apple's own account.
    public var renewsAt: Timestamp?
    /// Why it ended: 1 customer cancelled, 2 billing, 3 price increase not agreed, 4 product unavailable, 5 other.
    public var expirationIntent: Int?
    /// Whether Apple goes on trying to charge; nil where Apple leaves it out, which is no `false`.
    public var inBillingRetry: Bool?
    /// Until when access is to be granted although the charge failed.
    public var graceExpiresAt: Timestamp?
    /// Whether the customer has yet to agree to a higher price.
    public var priceIncreasePending: Bool
    /// The account that the app bound to the purchase.
    public var appAccountToken: UniqueIdentifier?
    /// When Apple signed the record.
    public var signedAt: Timestamp
    /// From when on it counts: `signedAt`, or the date of the notification that brought it if that is earlier. See
    /// ``ReportedStatus/asOf``.
    public var asOf: Timestamp
    /// The status that Apple reported beside it, 1 to 5; nil where it came without one, or with one that this release
    /// does not know.
    public var reportedStatus: Int?
    /// SHA-256 of its JSON bytes.
    public var digest: [UInt8]
    /// Whether the record carries no signature.
    public var isUnsigned: Bool

    /// Memberwise.
    public init(
        productID: String? = nil, renewalProductID: String? = nil, autoRenew: Bool? = nil, renewsAt: Timestamp? = nil,
        expirationIntent: Int? = nil, inBillingRetry: Bool? = nil, graceExpiresAt: Timestamp? = nil,
        priceIncreasePending: Bool = false, appAccountToken: UniqueIdentifier? = nil,
        signedAt: Timestamp, asOf: Timestamp? = nil, reportedStatus: Int? = nil, digest: [UInt8],
        isUnsigned: Bool = false
    ) {
        self.productID = productID
        self.renewalProductID = renewalProductID
        self.autoRenew = autoRenew
        self.renewsAt = renewsAt
        self.expirationIntent = expirationIntent
        self.inBillingRetry = inBillingRetry
        self.graceExpiresAt = graceExpiresAt
        self.priceIncreasePending = priceIncreasePending
        self.appAccountToken = appAccountToken
        self.signedAt = signedAt
        self.asOf = asOf ?? signedAt
        self.reportedStatus = reportedStatus.flatMap { ReportedStatus.isKnown($0) ? $0 : nil }
        self.digest = digest
        self.isUnsigned = isUnsigned
    }

    /// The fact in verified renewal info.
    /// - Parameters:
    ///   - payload: what Apple signed.
    ///   - digest: SHA-256 of its JSON bytes.
    ///   - asOf: when the notification that brought it was signed; nil for a record that came by itself.
    ///   - reportedStatus: the status that the notification reported.
    ///   - isUnsigned: whether the record carries no signature.
    public init(
        _ payload: RenewalInfoPayload, digest: [UInt8], asOf: Timestamp? = nil, reportedStatus: Int? = nil,
        isUnsigned: Bool = false
    ) {
        self.init(
            productID: payload.productId,
            renewalProductID: payload.autoRenewProductId,
            autoRenew: payload.autoRenewStatus.flatMap { $0.isKnown ? $0 == .on : nil },
            renewsAt: payload.renewalDate,
            expirationIntent: payload.expirationIntent.map { Int($0.rawValue) },
            inBillingRetry: payload.isInBillingRetryPeriod,
            graceExpiresAt: payload.gracePeriodExpiresDate,
            priceIncreasePending: payload.priceIncreaseStatus == .unanswered,
            appAccountToken: payload.appAccountToken,
            signedAt: payload.signedDate,
            asOf: asOf.map { min($0, payload.signedDate) },
            reportedStatus: reportedStatus,
            digest: digest,
            isUnsigned: isUnsigned
        )
    }
}

extension RenewalFact {
    /// Whether the two say the same, whenever each was signed. Apple signs what it answers anew each time.
    func repeats(_ other: RenewalFact) -> Bool {
        renewsAt == other.renewsAt && autoRenew == other.autoRenew && saying == other.saying
    }

    /// What it says, without when it was signed and what came with it.
    var saying: RenewalFact {
        var saying = self
        (saying.signedAt, saying.asOf, saying.digest) = (.distantPast, .distantPast, [])
        (saying.reportedStatus, saying.isUnsigned) = (nil, false)
        return saying
    }
}
