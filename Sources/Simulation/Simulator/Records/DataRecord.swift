/// The part `data` of a notification.
public struct DataRecord: Sendable, Hashable, Codable {
    /// The App Store's number for the app; Apple often leaves it out in the Sandbox.
    public var appAppleId: Int64?
    /// The app.
    public var bundleId: String
    /// The build.
    public var bundleVersion: String?
    /// `Sandbox` or `Production`.
    public var environment: String
    /// The transaction that the notification is about.
    public var transaction: TransactionRecord?
    /// The renewal info of the same subscription.
    public var renewal: RenewalRecord?
    /// Apple's reportedStatus at the outer signed date, for auto-renewables.
    public var status: Int?
    /// Why a customer asks for money back.
    public var consumptionRequestReason: String?

    func write(_ json: inout JSONObjectWriter, _ sign: ([UInt8]) throws -> String) rethrows {
        json.member("appAppleId", appAppleId)
        json.member("bundleId", bundleId)
        json.member("bundleVersion", bundleVersion)
        json.member("environment", environment)
        json.member("signedTransactionInfo", try transaction.map { try sign($0.json) })
        json.member("signedRenewalInfo", try renewal.map { try sign($0.json) })
        json.member("status", status)
        json.member("consumptionRequestReason", consumptionRequestReason)
    }
}
