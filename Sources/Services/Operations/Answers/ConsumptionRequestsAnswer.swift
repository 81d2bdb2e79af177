package import AppleRecords
import Base
import Postgres

extension CommandAnswer {
    /// Apple's requests for consumption data: for people a line a request; then what the reasons mean.
    package init(_ requests: [ListedConsumptionRequest]) {
        let words = Set(requests.compactMap(\.why)).sorted().compactMap { why in
            ConsumptionReason(rawValue: why).map { "\(why): \($0.advice)" }
        }
        let text = ([Self.request.table(of: requests)] + (words.isEmpty ? [] : [words.joined(separator: "\n")]))
            .joined(separator: "\n\n")
        self.init(
            Self.request.values(of: requests), text: requests.isEmpty ? "no requests for consumption data" : text)
    }

    /// `answer` is what was sent to Apple, as JSON text.
    private static let request = CommandShape<ListedConsumptionRequest>([
        .init("notification_uuid", \.notificationUUID), .init("app", \.scope.bundleID),
        .init("environment", \.scope.environment), .init("deadline", column: "DEADLINE", \.deadline),
        .init("transaction_id", column: "TRANSACTION", \.transactionID),
        .init("product_id", column: "PRODUCT", \.productID), .init("app_account_token", \.accountToken),
        .init("reason", column: "REASON", \.reason), .init("consent", \.consent),
        .column("CONSENT") { $0.consent.map { $0 ? "granted" : "withdrawn" } },
        .init("state", column: "STATE", \.state), .init("why", column: "WHY", \.why), .init("answer", \.answer),
        .init("rule", \.rule), .column("RULE") { $0.rule ?? $0.sentBy.map { "by \($0)" } },
        .init("sent_at", \.sentAt), .init("sent_by", \.sentBy),
    ])
}

extension ConsumptionReason {
    /// What it means, and what to do where something can be done.
    package var advice: String {
        switch self {
        case .noTransaction: "the transaction that Apple asks about is not known here"
        case .noAccount: "the purchase names no account (appAccountToken), so no account can have consented"
        case .noConsent: "the customer was never asked, or has not agreed; storehook consent records it"
        case .consentWithdrawn: "the customer has taken the consent back"
        case .noPolicy: "no policy is set; see STOREHOOK_CONSUMPTION_POLICY"
        case .noRule: "no rule of the policy fits"
        case .leftToApple: "the policy leaves it to Apple"
        case .notPurchased: "the purchase is shared by a family or a team: Apple takes no answer about it"
        case .unfitAnswer:
            "Apple would refuse what the policy says for this kind of product; storehook consumption check"
        case .noKey: "no worker has a key for the app; see STOREHOOK_APPLE_KEYS"
        case .refundPending: "it waits for the decision about a refund request (storehook refunds list --state pending)"
        case .refundDecided: "staff decided about a refund meanwhile: it is looked at again"
        case .anotherUnderWay: "an answer about this transaction is on its way"
        case .answeredBefore: "Apple was answered about this transaction before, and is answered once"
        case .heardLate: "it was heard of after its deadline"
        case .deadlineOver: "its deadline is over"
        case .notLookedAt: "no worker has looked at it"
        case .stoodStill: "the worker stood still before it could send; it is tried again"
        case .workerGone: "the worker was gone while it answered Apple; Apple may have it, and is not answered twice"
        case .acceptedLate: "Apple took the answer after the deadline"
        }
    }
}
