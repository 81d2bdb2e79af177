import AppStorePayloads
import Base
import Foundation

/// An event as a receiver has it: out of the body that was posted, and nothing else.
struct ToldEvent: Sendable {
    /// What a subscription, a purchase or an account is said to be: the members of all three that are looked at.
    struct State: Decodable, Sendable, Hashable {
        var originalTransactionId: String?
        var transactionId: String?
        var productId: String?
        var status: String?
        var tier: String?
        var source: String?
        var access: Bool?
        var accessUntil: String?
        var expiresAt: String?
        var inTrial: Bool?
        var willRenew: Bool?
        var renewalProductId: String?
        var priceIncreasePending: Bool?
        var quantity: Int64?
        var revokedAt: String?
        var revokedShare: Int64?

        /// What every account is to begin with.
        static let free = State(status: "free", tier: "free", access: false)

        /// What a reader of a subscription goes by: beside status and product all that bears on access, while there is any.
        var ofSubscription: [String] {
            let always = [status ?? "", productId ?? ""]
            guard access == true else { return always }
            return always + [
                accessUntil ?? "", "\(inTrial ?? false)", "\(willRenew ?? true)", renewalProductId ?? productId ?? "",
                "\(priceIncreasePending ?? false)",
            ]
        }

        /// What events say from a trial's conversion on.
        var afterTrial: State {
            guard inTrial == true else { return self }
            var state = self
            state.inTrial = false
            if status == "trial" { state.status = "active" }
            return state
        }

        /// What a reader of an account goes by.
        var ofAccount: [String] { [tier ?? "", status ?? "", "\(access ?? false)"] }

        /// What a reader of something bought once goes by.
        var ofPurchase: [String] {
            [productId ?? "", "\(quantity ?? 1)", expiresAt ?? "", revokedAt ?? "", "\(revokedShare ?? 0)"]
        }
    }

    private struct Body: Decodable {
        var type: String
        var timestamp: String
        var data: Content
    }

    fileprivate struct Content: Decodable, Sendable {
        var app: String?
        var environment: String
        var account: String?
        var sequence: Int64
        var previousSequence: Int64?
        var subscription: State?
        var purchase: State?
        var access: State?
        var consumption: State?
        var previous: State?
        var transaction: State?
        var correction: Bool
    }

    /// Its `webhook-id`.
    let id: String
    let kind: String
    let at: Timestamp
    private let content: Content

    /// - Returns: nil where the body is none of an event.
    init?(id: String, body: String) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(body.utf8)),
            let at = Timestamp(iso8601: body.timestamp)
        else { return nil }
        self.id = id
        kind = body.type
        self.at = at
        content = body.data
    }

    /// The order in which it stands: its account's, or that of a purchase of no account.
    var subject: String {
        if let account { return account }
        return "purchase \(content.environment)/\(content.app ?? "")/\(purchaseID ?? "")"
    }
    /// The account of the event, with its environment; nil for a purchase without an account.
    var account: String? { content.account.map { "account \(content.environment)/\($0.lowercased())" } }
    var sequence: Int64 { content.sequence }
    var previousSequence: Int64? { content.previousSequence }
    /// The original transaction that it is about.
    var purchaseID: String? {
        (content.subscription ?? content.purchase ?? content.consumption)?.originalTransactionId
    }
    var subscription: State? { content.subscription }
    var purchase: State? { content.purchase }
    var access: State? { content.access }
    var previous: State? { content.previous }
    /// The transaction of the reported period or refund, or the one that Apple's request is about.
    var transactionID: String? { content.transaction?.transactionId ?? content.consumption?.transactionId }
    /// How much of the transaction was refunded.
    var refundedShare: Int64 { content.transaction?.revokedShare ?? 0 }
    var isCorrection: Bool { content.correction }

    /// For people.
    var words: String {
        "\(id) \(kind)\(isCorrection ? " (correction)" : "") at \(at), \(subject) number \(sequence)"
            + (purchaseID.map { ", purchase \($0)" } ?? "") + (transactionID.map { ", transaction \($0)" } ?? "")
    }

    /// A period that was paid for or given, or that Apple's renewal info presupposes.
    var isOfPeriod: Bool {
        [
            "subscription.started", "subscription.trial_started", "subscription.converted", "subscription.renewed",
            "subscription.recovered", "subscription.product_changed",
        ].contains(kind)
    }
}
