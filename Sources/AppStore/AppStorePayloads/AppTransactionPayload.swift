public import Base

/// A customer's download of the app, as Apple signed it (the payload of `signedAppTransactionInfo`).
public struct AppTransactionPayload: Sendable, Hashable {
    /// The app.
    public var bundleId: String
    /// Where it was made: this record calls its environment so.
    public var receiptType: Environment?
    /// When it was signed, where Apple says so; see ``effectiveSignedDate``.
    public var signedDate: Timestamp?
    /// When the record was made.
    public var receiptCreationDate: Timestamp?
    /// The download.
    public var appTransactionId: String?
    /// The app's Apple ID.
    public var appAppleId: Int64?
    /// The app's version now.
    public var applicationVersion: String?
    /// The version first bought.
    public var originalApplicationVersion: String?
    /// When it was first bought.
    public var originalPurchaseDate: Timestamp?
    /// When it was ordered ahead.
    public var preorderDate: Timestamp?
    /// The platform of the first purchase, as Apple writes it.
    public var originalPlatform: String?
    /// The app version in Apple's numbering.
    public var versionExternalIdentifier: Int64?
    /// Binds the record to a device.
    public var deviceVerification: String?
    /// Part of that binding.
    public var deviceVerificationNonce: String?
    /// The JSON text exactly as it was signed: what the fields above do not model is still in it.
    public var json: [UInt8]

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        bundleId: String,
        receiptType: Environment? = nil,
        signedDate: Timestamp? = nil,
        receiptCreationDate: Timestamp? = nil,
        appTransactionId: String? = nil,
        appAppleId: Int64? = nil,
        applicationVersion: String? = nil,
        originalApplicationVersion: String? = nil,
        originalPurchaseDate: Timestamp? = nil,
        preorderDate: Timestamp? = nil,
        originalPlatform: String? = nil,
        versionExternalIdentifier: Int64? = nil,
        deviceVerification: String? = nil,
        deviceVerificationNonce: String? = nil,
        json: [UInt8] = []
    ) {
        self.bundleId = bundleId
        self.receiptType = receiptType
        self.signedDate = signedDate
        self.receiptCreationDate = receiptCreationDate
        self.appTransactionId = appTransactionId
        self.appAppleId = appAppleId
        self.applicationVersion = applicationVersion
        self.originalApplicationVersion = originalApplicationVersion
        self.originalPurchaseDate = originalPurchaseDate
        self.preorderDate = preorderDate
        self.originalPlatform = originalPlatform
        self.versionExternalIdentifier = versionExternalIdentifier
        self.deviceVerification = deviceVerification
        self.deviceVerificationNonce = deviceVerificationNonce
        self.json = json
    }

    /// The moment at which its certificates are judged: `signedDate`, else `receiptCreationDate`, as Apple's own libraries take it.
    public var effectiveSignedDate: Timestamp? { signedDate ?? receiptCreationDate }
}
