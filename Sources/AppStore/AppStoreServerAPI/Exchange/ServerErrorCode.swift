import AppStorePayloads
public import Base

/// Apple's code for why a request was not done (`errorCode`); ``ServerErrorCode/known`` are those that it documents.
public struct ServerErrorCode: AppleCode {
    /// What the code asks for.
    public enum Behaviour: Sendable, Hashable {
        /// It will not be otherwise next time.
        case giveUp
        /// It may pass by itself: ask again.
        case retry
        /// The environment does not know it, perhaps not yet: ask the other one, and again for some seconds.
        case elsewhereOrSoon
        /// The list of pages has to be begun again.
        case beginAgain
        /// Too many requests: wait until the instant that Apple names.
        case slowDown
    }

    /// The value as Apple writes it.
    public let rawValue: Int64
    /// Keeps any raw value, known or not.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// An app with this bundle id is not there.
    public static let appNotFound = ServerErrorCode(rawValue: 4_040_003)
    /// The list of pages took too long.
    public static let paginationTokenExpired = ServerErrorCode(rawValue: 4_000_017)
    /// No original transaction of this id in this environment.
    public static let originalTransactionIdNotFound = ServerErrorCode(rawValue: 4_040_005)
    /// No URL is set in App Store Connect.
    public static let serverNotificationURLNotFound = ServerErrorCode(rawValue: 4_040_007)
    /// No such test notification, or not yet.
    public static let testNotificationNotFound = ServerErrorCode(rawValue: 4_040_008)
    /// No such mass extension, or not yet.
    public static let statusRequestNotFound = ServerErrorCode(rawValue: 4_040_009)
    /// No transaction of this id in this environment, or not yet.
    public static let transactionIdNotFound = ServerErrorCode(rawValue: 4_040_010)
    /// Too many requests.
    public static let rateLimitExceeded = ServerErrorCode(rawValue: 4_290_000)
    /// Something is wrong at Apple's.
    public static let generalInternal = ServerErrorCode(rawValue: 5_000_000)

    /// The values this release knows.
    public static let known: Set<ServerErrorCode> = Set(table.keys)

    /// What to do about it by itself. Of an unknown code the HTTP status decides.
    public var behaviour: Behaviour? { Self.table[self]?.behaviour }

    /// Its name, as Apple's libraries have it, in lower case; `unknown` for a code of a later day.
    public var name: String { Self.table[self]?.name ?? "unknown" }

    /// What happened and what to do, for people.
    public var advice: String { Self.table[self]?.advice ?? "a code that this release does not know" }
}
