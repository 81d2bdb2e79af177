import Foundation

/// Whose use is counted, and by which tier.
struct UsageContext: Sendable, Hashable {
    /// The account that is signed in; nil while none is.
    var accountID: String?
    /// Its tier, as access is decided now; nil is the first one.
    var tier: String?
    /// Whether the server has stated that the app's token is this account's: before that nothing is reported under it.
    var isChecked = true
    /// When the server was last asked about the account; nil before that.
    var readAt: Date?
}
