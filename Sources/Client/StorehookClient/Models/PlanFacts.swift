import Foundation

/// What the screens about a plan are made of: the decision about access, and what is known beside it.
struct PlanFacts: Sendable, Hashable {
    /// The status; nil before any was known.
    var status: PlanStatus?
    /// The server's own text for it, where the status is the server's.
    var displayStatus: String?
    /// What customers call the tier; nil where it is the first one.
    var tierName: String?
    /// Whether the account has access now.
    var isAllowed = false
    /// When access ends, or ended; nil where it never does.
    var endsAt: Date?
    /// Whether it renews itself; nil where that is not known.
    var willRenew: Bool?
    /// Whether it was bought once.
    var isOnce = false
    /// Apple's id of the transaction; nil where nothing was bought.
    var transactionID: String?
    /// Whether access ends soon, and does not go on by itself.
    var isEndingSoon = false
    /// Whether the server could not be asked, so that what was last known counts.
    var isFromCache = false
}
