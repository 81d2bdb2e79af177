public import AppStorePayloads

/// Get All Subscription Statuses: every auto-renewable subscription of a customer's, as it is now.
public struct SubscriptionStatusesRequest: ServerRequest {
    /// A transactionId, originalTransactionId or appTransactionId of the customer's.
    public var id: String
    /// Of these statuses alone; of all if empty.
    public var statuses: [AppleStatus]

    /// Asks for this customer's.
    public init(_ id: String, statuses: [AppleStatus] = []) {
        self.id = id
        self.statuses = statuses
    }

    /// The call.
    public var endpoint: Endpoint { .subscriptionStatuses }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "subscriptions", id) }

    /// What follows the question mark.
    public var query: [QueryItem] { QueryItem.each("status", statuses.map { String($0.rawValue) }) }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> SubscriptionStatuses {
        try SubscriptionStatuses(&reader)
    }
}
