public import Base

/// Why Apple refunded (`revocationReason`).
public struct RevocationReason: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: Int64

    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Another reason.
    public static let other = RevocationReason(rawValue: 0)
    /// An issue with the app.
    public static let appIssue = RevocationReason(rawValue: 1)

    /// The values this release knows.
    public static let known: Set<RevocationReason> = [.other, .appIssue]

    /// Its word in events and answers: `other`, `app_issue`; Apple's number where this release has no word for it.
    public var word: String {
        switch self {
        case .other: "other"
        case .appIssue: "app_issue"
        default: description
        }
    }

    /// For people.
    public var words: String {
        switch self {
        case .other: "other reason"
        case .appIssue: "app issue"
        default: "reason \(description)"
        }
    }
}
