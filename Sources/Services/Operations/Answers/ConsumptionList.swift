import AppStorePayloads
package import AppleRecords
import Base
import Foundation
import Postgres
import PurchaseStore

/// Apple's requests for consumption data, as people and scripts see them.
package struct ConsumptionList: Encodable, Sendable {
    private struct Entry: Encodable, Sendable {
        var notificationUuid: String
        var app: String
        var environment: String
        var transactionId: String?
        var productId: String?
        var appAccountToken: String?
        var reason: String?
        var deadline: String
        var state: String
        var why: String?
        var consent: Bool?
        /// What Apple was told, a JSON text.
        var answer: String?
        var rule: String?
        var sentAt: String?
        var sentBy: String?
    }

    private let entries: [Entry]

    /// A list.
    package init(_ requests: [ListedConsumptionRequest]) {
        entries = requests.map { request in
            Entry(
                notificationUuid: request.notificationUUID.uuidString.lowercased(), app: request.scope.bundleID,
                environment: request.scope.environment, transactionId: request.transactionID,
                productId: request.productID, appAccountToken: request.accountToken?.uuidString.lowercased(),
                reason: request.reason, deadline: "\(Timestamp(request.deadline))", state: request.state,
                why: request.why, consent: request.consent, answer: request.answer, rule: request.rule,
                sentAt: request.sentAt.map { "\(Timestamp($0))" }, sentBy: request.sentBy)
        }
    }

    /// As a list, for scripts.
    package func encode(to encoder: any Encoder) throws { try entries.encode(to: encoder) }

    /// A line a request; then what the reasons mean.
    package var text: String {
        guard !entries.isEmpty else { return "no requests for consumption data" }
        var table = Table(["DEADLINE", "TRANSACTION", "PRODUCT", "REASON", "CONSENT", "STATE", "WHY", "RULE"])
        for entry in entries {
            table.add([
                entry.deadline, entry.transactionId ?? "-", entry.productId ?? "-", entry.reason ?? "-",
                entry.consent.map { $0 ? "granted" : "withdrawn" } ?? "-", entry.state, entry.why ?? "-",
                entry.rule ?? entry.sentBy.map { "by \($0)" } ?? "-",
            ])
        }
        let words = Set(entries.compactMap(\.why)).sorted().compactMap { why in
            ConsumptionReason(rawValue: why).map { "\(why): \($0.advice)" }
        }
        return ([table.text] + (words.isEmpty ? [] : [words.joined(separator: "\n")])).joined(separator: "\n\n")
    }
}

extension ConsumptionReason {
    /// What it means, and what to do where something can be done.
    package var advice: String {
        switch self {
        case .noTransaction: "the transaction that Apple asks about is not known here"
        case .noAccount: "the purchase names no account (appAccountToken), so nobody can have consented"
        case .noConsent: "the customer was never asked, or has not agreed; storehook consent records it"
        case .consentWithdrawn: "the customer has taken the consent back"
        case .noPolicy: "no policy is set; see STOREHOOK_CONSUMPTION_POLICY"
        case .noRule: "no rule of the policy fits"
        case .leftToApple: "the policy leaves it to Apple"
        case .notPurchased: "the purchase is shared by a family or a team, of which Apple takes no answer"
        case .unfitAnswer:
            "Apple would refuse what the policy says for this kind of product; storehook consumption check"
        case .noKey: "no worker has a key for the app; see STOREHOOK_APPLE_KEYS"
        case .anotherUnderWay: "an answer about this transaction is on its way"
        case .answeredBefore: "Apple was told about this transaction before, and is told once"
        case .heardLate: "it was heard of after its deadline"
        case .deadlineOver: "its deadline is over"
        case .notLookedAt: "no worker has looked at it"
        case .stoodStill: "the worker stood still before it could send; it is tried again"
        case .workerGone: "the worker was gone while it told Apple; Apple may have it, and is not told twice"
        case .acceptedLate: "Apple took the answer after the deadline"
        }
    }
}
