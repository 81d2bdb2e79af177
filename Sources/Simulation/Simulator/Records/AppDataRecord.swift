/// The part `appData` of a notification: the app's own transaction.
public struct AppDataRecord: Sendable, Hashable, Codable {
    /// The App Store's number for the app.
    public var appAppleId: Int64
    /// The app.
    public var bundleId: String
    /// `Sandbox` or `Production`.
    public var environment: String
    /// The download that the notification is about.
    public var appTransaction: AppTransactionRecord

    func write(_ json: inout JSONObjectWriter, _ sign: ([UInt8]) throws -> String) rethrows {
        json.member("appAppleId", appAppleId)
        json.member("bundleId", bundleId)
        json.member("environment", environment)
        json.member("signedAppTransactionInfo", try sign(appTransaction.json))
    }
}
