import Foundation

/// What an app has heard of its account from the server: read here by other rules than the client's own.
struct LivesHearing {
    /// One purchase as it was stated last.
    struct Purchase {
        var transactionID: String?
        var status: String
        var hasAccess: Bool

        /// Whether the server has judged a transaction of it: this one, or a later one.
        func hasJudged(_ id: String) -> Bool {
            guard let transactionID, let heard = UInt64(transactionID), let own = UInt64(id) else { return false }
            return own <= heard
        }
    }

    /// Whether the last word about the account was access; nil before the first word.
    private(set) var allows: Bool?
    /// When access ends by the last word about that; nil where it never does, or where there is none.
    private(set) var until: Date?
    /// Whether that last word was the account's end for another reason than time: revoked, refunded or blocked.
    private(set) var isTakenBack = false
    /// When it was heard.
    private(set) var heardAt = Date.distantPast
    /// The purchases by their original transaction, as the last status stated them.
    private(set) var purchases: [String: Purchase] = [:]
    /// Which answers have set the device's clock right.
    private(set) var dated = 0

    /// - Parameter now: when the answer came.
    mutating func hear(_ path: String, _ status: Int, _ body: Data, at now: Date) {
        guard status == 200, let answer = try? JSONSerialization.jsonObject(with: body) as? [String: Any] else {
            return
        }
        switch path {
        case "/v1/subscriptions/status", "/v1/subscriptions/restore":
            heardAt = now
            hear(status: answer)
        case "/v1/subscriptions/verify":
            heardAt = now
            dated += 1
            if let account = answer["account"] as? [String: Any] {
                note(account, access: "hasAccess", end: "expiresAt")
            }
            if let purchase = answer["subscription"] as? [String: Any] { note(purchase) }
        default: break
        }
    }

    private mutating func hear(status: [String: Any]) {
        dated += 1
        note(status, access: "hasActiveSubscription", end: "accessUntil")
        purchases = [:]
        for purchase in status["subscriptions"] as? [[String: Any]] ?? [] { note(purchase) }
    }

    private mutating func note(_ account: [String: Any], access: String, end: String) {
        guard let allows = account[access] as? Bool else { return }
        self.allows = allows
        until = (account[end] as? String).flatMap(Self.date)
        isTakenBack = account["status"] as? String == "revoked"
    }

    private mutating func note(_ purchase: [String: Any]) {
        guard let id = purchase["originalTransactionId"] as? String, let status = purchase["status"] as? String else {
            return
        }
        purchases[id] = Purchase(
            transactionID: purchase["transactionId"] as? String, status: status,
            hasAccess: purchase["hasAccess"] as? Bool ?? false)
    }

    private static func date(_ text: String) -> Date? {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions =
            text.contains(".") ? [.withInternetDateTime, .withFractionalSeconds] : [.withInternetDateTime]
        return formatter.date(from: text)
    }
}
