/// A customer's download of the app: the members of Apple's `JWSAppTransaction` that a notification about consent carries.
public struct AppTransactionRecord: Sendable, Hashable, Codable {
    /// The environment, called the receipt's type here.
    public var receiptType: String
    /// The App Store's number for the app.
    public var appAppleId: Int64
    /// The app.
    public var bundleId: String
    /// The build in use.
    public var applicationVersion: String
    /// When this record was signed.
    public var signedDate: Milliseconds
    /// When the app was first downloaded.
    public var originalPurchaseDate: Milliseconds
    /// The build that was first downloaded.
    public var originalApplicationVersion: String
    /// The customer's download of the app.
    public var appTransactionId: String

    /// The record's JSON, to be signed.
    public var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.member("receiptType", receiptType)
            json.member("appAppleId", appAppleId)
            json.member("bundleId", bundleId)
            json.member("applicationVersion", applicationVersion)
            json.member("receiptCreationDate", signedDate)
            json.member("originalPurchaseDate", originalPurchaseDate)
            json.member("originalApplicationVersion", originalApplicationVersion)
            json.member("appTransactionId", appTransactionId)
            json.member("originalPlatform", "iOS")
        }
    }
}
