/// A notification before it is signed: what Apple would post, as values.
public struct UnsignedNotification: Sendable, Hashable, Codable {
    /// The one of four parts that a notification carries.
    public enum Part: Sendable, Hashable, Codable {
        /// About a purchase, or a test.
        case data(DataRecord)
        /// The result of a mass extension.
        case summary(SummaryRecord)
        /// About a purchase outside the App Store.
        case externalPurchaseToken(ExternalPurchaseTokenRecord)
        /// About the app itself.
        case appData(AppDataRecord)
    }

    /// `notificationType`, in Apple's words.
    public var type: String
    /// `subtype`, where there is one.
    public var subtype: String?
    /// `notificationUUID`: the same in every retry of one notification.
    public var uuid: String
    /// The outer `signedDate`.
    public var signedDate: Milliseconds
    /// What it is about.
    public var part: Part

    /// Apple's reportedStatus at the outer signed date, for auto-renewables: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public var appleStatus: Int? { data?.status }
    /// The transaction that would be signed within.
    public var transaction: TransactionRecord? { data?.transaction }
    /// The renewal info that would be signed within.
    public var renewal: RenewalRecord? { data?.renewal }
    /// The part `data`, where it is the one.
    public var data: DataRecord? {
        if case .data(let data) = part { data } else { nil }
    }

    /// The outer JSON, to be signed, with the nested records signed by `sign`.
    ///
    /// - Parameter sign: turns a payload's JSON into a compact JWS.
    /// - Throws: what `sign` throws.
    public func json(signingNestedWith sign: ([UInt8]) throws -> String) rethrows -> [UInt8] {
        try JSONObjectWriter.object(capacity: 12_288) { json in
            json.member("notificationType", type)
            json.member("subtype", subtype)
            json.member("notificationUUID", uuid)
            switch part {
            case .data(let data): try json.object("data") { try data.write(&$0, sign) }
            case .summary(let summary): json.object("summary", summary.write)
            case .externalPurchaseToken(let token): json.object("externalPurchaseToken", token.write)
            case .appData(let app): try json.object("appData") { try app.write(&$0, sign) }
            }
            json.member("version", "2.0")
            json.member("signedDate", signedDate)
        }
    }

    /// The compact JWS that Apple would post as `signedPayload`.
    ///
    /// - Parameter sign: turns a payload's JSON into a compact JWS; called once for each nested record and once for the whole.
    /// - Throws: what `sign` throws.
    public func signed(with sign: ([UInt8]) throws -> String) rethrows -> String {
        try sign(json(signingNestedWith: sign))
    }
}
