public import AppStorePayloads

/// A line's signed renewal info, reduced to what state is derived from.
public struct RenewalFact: SignedFact, Hashable {
    /// What the line renews to.
    public var renewalProductID: String?
    /// Whether auto-renew is on.
    public var autoRenew: Bool?
    /// When the most recent period ends, by Apple's own account.
    public var renewsAt: Timestamp?
    /// Why it ended: 1 customer cancelled, 2 billing, 3 price increase not agreed, 4 product unavailable, 5 other.
    public var expirationIntent: Int?
    /// Whether Apple goes on trying to charge.
    public var inBillingRetry: Bool
    /// Until when access is to be granted although the charge failed.
    public var graceExpiresAt: Timestamp?
    /// Whether the customer has yet to agree to a higher price.
    public var priceIncreasePending: Bool
    /// The account that the app bound to the purchase.
    public var appAccountToken: UniqueIdentifier?
    /// When Apple signed the record.
    public var signedAt: Timestamp
    /// SHA-256 of its JSON bytes.
    public var digest: [UInt8]

    /// Memberwise.
    public init(
        renewalProductID: String? = nil, autoRenew: Bool? = nil, renewsAt: Timestamp? = nil,
        expirationIntent: Int? = nil, inBillingRetry: Bool = false, graceExpiresAt: Timestamp? = nil,
        priceIncreasePending: Bool = false, appAccountToken: UniqueIdentifier? = nil,
        signedAt: Timestamp, digest: [UInt8]
    ) {
        self.renewalProductID = renewalProductID
        self.autoRenew = autoRenew
        self.renewsAt = renewsAt
        self.expirationIntent = expirationIntent
        self.inBillingRetry = inBillingRetry
        self.graceExpiresAt = graceExpiresAt
        self.priceIncreasePending = priceIncreasePending
        self.appAccountToken = appAccountToken
        self.signedAt = signedAt
        self.digest = digest
    }

    /// The fact in verified renewal info.
    /// - Parameters:
    ///   - payload: what Apple signed.
    ///   - digest: SHA-256 of its JSON bytes.
    public init(_ payload: RenewalInfoPayload, digest: [UInt8]) {
        self.init(
            renewalProductID: payload.autoRenewProductId,
            autoRenew: payload.autoRenewStatus.map { $0 == .on },
            renewsAt: payload.renewalDate,
            expirationIntent: payload.expirationIntent.map { Int($0.rawValue) },
            inBillingRetry: payload.isInBillingRetryPeriod ?? false,
            graceExpiresAt: payload.gracePeriodExpiresDate,
            priceIncreasePending: payload.priceIncreaseStatus == .unanswered,
            appAccountToken: payload.appAccountToken,
            signedAt: payload.signedDate,
            digest: digest
        )
    }
}
