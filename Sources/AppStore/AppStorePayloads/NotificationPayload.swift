public import Base

/// A notification, as Apple signed it (the payload of `signedPayload`).
///
/// Required are the type, a UUID and the signing date. An optional field of the wrong JSON type is read as missing.
public struct NotificationPayload: Sendable, Hashable {
    /// What happened.
    public var notificationType: NotificationType
    /// More about what happened.
    public var subtype: NotificationSubtype?
    /// The notification's name exactly as Apple wrote it.
    public var notificationUUID: String
    /// The same as a value: what makes a repeated delivery recognisable.
    public var uuid: UniqueIdentifier
    /// The version of the format, `2.0`.
    public var version: String?
    /// When Apple signed it.
    public var signedDate: Timestamp
    /// What it is about.
    public var part: Part
    /// The JSON text exactly as it was signed: what the fields above do not model is still in it.
    public var json: [UInt8]

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        notificationType: NotificationType,
        subtype: NotificationSubtype? = nil,
        notificationUUID: String,
        uuid: UniqueIdentifier,
        version: String? = nil,
        signedDate: Timestamp,
        part: Part,
        json: [UInt8] = []
    ) {
        self.notificationType = notificationType
        self.subtype = subtype
        self.notificationUUID = notificationUUID
        self.uuid = uuid
        self.version = version
        self.signedDate = signedDate
        self.part = part
        self.json = json
    }

    /// What a notification is about. Apple sends exactly one of the four.
    public enum Part: Sendable, Hashable {
        /// One app, mostly one purchase.
        case data(NotificationData)
        /// The outcome of a mass extension.
        case summary(SummaryPart)
        /// A token that must be reported to Apple.
        case externalPurchaseToken(ExternalPurchaseTokenPart)
        /// The app itself.
        case appData(AppDataPart)
        /// None of the four that this release knows.
        case none
    }
}
