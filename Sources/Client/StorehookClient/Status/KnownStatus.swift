import Foundation

/// What the cache keeps of one account: what access is decided by while the server cannot be asked.
///
/// It holds no signed transaction, no receipt and no token of the login.
struct KnownStatus: Codable, Sendable, Equatable {
    /// Whose it is.
    var accountID: String
    /// The token that purchases are made with; nil before the server has stated it.
    var appAccountToken: UUID?
    /// What the server answered last; nil before that.
    var answer: Answer?
    /// What each product of the store gives, as the catalog was last read.
    var tiers: [String: String] = [:]
    /// The catalog's tiers, the lowest one first.
    var ranks: [String] = []
    /// The highest time seen.
    var highest: Date
    /// The original transactions that the server refuses for this account, or finds not to be proven.
    var refused: Set<String> = []
    /// The transactions that the server has accepted for this account.
    var accepted: Set<String> = []
    /// The transactions that the store has taken back, before the server has accepted that.
    var takenBack: Set<String> = []

    /// An answer's members that are needed offline.
    struct Answer: Codable, Sendable, Equatable {
        /// When it was read.
        var readAt: Date
        var hasAccess: Bool
        var tier: String
        var status: String
        var displayStatus: String?
        var expiresAt: Date?
        /// When access ends; nil where it never does, or where there is none.
        var accessUntil: Date?
        /// Until when the tier is this one; nil where it stays.
        var tierUntil: Date?
        var willRenew: Bool?
        var isExpiringSoon = false
        var purchaseType: String
        /// How long what was bought lasts each time, by the catalog.
        var period: String?
        var transactionID: String?
        /// Grows with each change of the account.
        var version: Int64
        var purchases: [Purchase] = []

        /// Whether Apple or staff took the account's access back.
        var isTakenBack: Bool { !hasAccess && status == "revoked" }

        /// Whether a purchase gives nothing because the account's access was taken back. One that was made since does.
        func takesBack(_ transaction: StoreTransaction) -> Bool { isTakenBack && transaction.purchasedAt <= readAt }

        /// Whether the access of this answer ends within seven days, or soon by the catalog, and does not go on by itself.
        func endsSoon(at now: Date) -> Bool {
            guard hasAccess, willRenew != true else { return false }
            return isExpiringSoon || accessUntil.map { $0 - 7 * 86_400 <= now } ?? false
        }
    }

    /// A purchase of an answer.
    struct Purchase: Codable, Sendable, Equatable {
        var originalID: String
        /// The transaction of its period; nil where that was never heard of.
        var transactionID: String?
        var productID: String
        var tier: String?
        var status: String
        var hasAccess: Bool
        /// When its access ends, or ended; nil where it never does.
        var expiresAt: Date?
        var isTrialPeriod = false
    }

    /// What the server's last answer has of a purchase; nil where it lacks it.
    func purchase(_ originalID: String) -> Purchase? { answer?.purchases.first { $0.originalID == originalID } }

    /// What a product gives, as far as is known.
    func tier(of productID: String) -> String? {
        tiers[productID] ?? answer?.purchases.first { $0.productID == productID }?.tier
    }

    /// The place of a tier among the catalog's; what is not known is the lowest.
    func rank(_ tier: String?) -> Int { tier.flatMap { ranks.firstIndex(of: $0) } ?? -1 }

    /// Whether the server has judged a transaction: this one, or a later one of the same purchase.
    func hasJudged(_ transaction: StoreTransaction) -> Bool {
        guard answer != nil else { return false }
        if accepted.contains(transaction.id) { return true }
        guard let purchase = purchase(transaction.originalID) else { return false }
        guard let judged = purchase.transactionID else { return purchase.status == "revoked" }
        if judged == transaction.id { return true }
        // A renewal that the server has not heard of ends later. Numbers of transactions need not rise.
        if purchase.status != "revoked", let ours = transaction.expiresAt, let theirs = purchase.expiresAt,
            ours > theirs
        {
            return false
        }
        if let theirs = UInt64(judged), let ours = UInt64(transaction.id) { return ours < theirs }
        guard let ours = transaction.expiresAt, let theirs = purchase.expiresAt else { return false }
        return ours <= theirs
    }
}

extension KnownStatus {
    // What a later release of the app adds is empty in the caches of earlier ones.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        accountID = try members.decode(String.self, forKey: .accountID)
        appAccountToken = try members.decodeIfPresent(UUID.self, forKey: .appAccountToken)
        answer = try members.decodeIfPresent(Answer.self, forKey: .answer)
        tiers = try members.decodeIfPresent([String: String].self, forKey: .tiers) ?? [:]
        ranks = try members.decodeIfPresent([String].self, forKey: .ranks) ?? []
        highest = try members.decode(Date.self, forKey: .highest)
        refused = try members.decodeIfPresent(Set<String>.self, forKey: .refused) ?? []
        accepted = try members.decodeIfPresent(Set<String>.self, forKey: .accepted) ?? []
        takenBack = try members.decodeIfPresent(Set<String>.self, forKey: .takenBack) ?? []
    }
}
