public import Base

/// The `data` part of a notification: about one app, and mostly about one purchase.
public struct NotificationData: Sendable, Hashable {
    /// Where the purchase was made.
    public var environment: Environment?
    /// The app.
    public var bundleId: String?
    /// The app's Apple ID; often absent in Sandbox.
    public var appAppleId: Int64?
    /// The build of the app.
    public var bundleVersion: String?
    /// Apple's status at the outer signedDate; auto-renewables only.
    public var status: AppleStatus?
    /// A JWS of its own: the transaction.
    public var signedTransactionInfo: String?
    /// A JWS of its own: the renewal info.
    public var signedRenewalInfo: String?
    /// Why a refund is asked for.
    public var consumptionRequestReason: ConsumptionRequestReason?

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        environment: Environment? = nil,
        bundleId: String? = nil,
        appAppleId: Int64? = nil,
        bundleVersion: String? = nil,
        status: AppleStatus? = nil,
        signedTransactionInfo: String? = nil,
        signedRenewalInfo: String? = nil,
        consumptionRequestReason: ConsumptionRequestReason? = nil
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.bundleVersion = bundleVersion
        self.status = status
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
        self.consumptionRequestReason = consumptionRequestReason
    }
}
