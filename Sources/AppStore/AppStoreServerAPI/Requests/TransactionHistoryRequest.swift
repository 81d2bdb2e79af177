public import AppStorePayloads
public import Base

/// Get Transaction History: a customer's transactions, at most 20 a page.
public struct TransactionHistoryRequest: PagedRequest {
    /// The order by when a record last changed.
    public enum Sort: String, Sendable {
        /// The oldest change first: Apple's default.
        case ascending = "ASCENDING"
        /// The latest change first.
        case descending = "DESCENDING"
    }

    /// The kinds of products, as this call's filter spells them.
    public struct ProductKind: AppleCode {
        /// The value as Apple writes it.
        public let rawValue: String
        /// Keeps any raw value, known or not.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Renews by itself.
        public static let autoRenewable = ProductKind(rawValue: "AUTO_RENEWABLE")
        /// For a term.
        public static let nonRenewable = ProductKind(rawValue: "NON_RENEWABLE")
        /// Used up.
        public static let consumable = ProductKind(rawValue: "CONSUMABLE")
        /// For good.
        public static let nonConsumable = ProductKind(rawValue: "NON_CONSUMABLE")

        /// The values this release knows.
        public static let known: Set<ProductKind> = [.autoRenewable, .nonRenewable, .consumable, .nonConsumable]
    }

    /// A transactionId, originalTransactionId or appTransactionId of the customer's.
    public var id: String
    /// Where the page before ended.
    public var revision: String?
    /// Purchases from here on.
    public var startDate: Timestamp?
    /// Purchases before this.
    public var endDate: Timestamp?
    /// Of these products alone; of all if empty.
    public var productIds: [String] = []
    /// Of these kinds alone; of all if empty.
    public var productTypes: [ProductKind] = []
    /// The order; Apple's default if nil.
    public var sort: Sort?
    /// Of these groups alone; of all if empty.
    public var subscriptionGroupIdentifiers: [String] = []
    /// Bought, or shared, alone.
    public var inAppOwnershipType: OwnershipType?
    /// Only what was taken back, or only what was not.
    public var revoked: Bool?

    /// Everything of this customer's.
    public init(_ id: String) { self.id = id }

    /// The call.
    public var endpoint: Endpoint { .transactionHistory }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v2", "history", id) }

    /// What follows the question mark.
    public var query: [QueryItem] {
        QueryItem.optional("revision", revision) + QueryItem.optional("startDate", startDate)
            + QueryItem.optional("endDate", endDate) + QueryItem.each("productId", productIds)
            + QueryItem.each("productType", productTypes.map(\.rawValue)) + QueryItem.optional("sort", sort?.rawValue)
            + QueryItem.each("subscriptionGroupIdentifier", subscriptionGroupIdentifiers)
            + QueryItem.optional("inAppOwnershipType", inAppOwnershipType?.rawValue)
            + QueryItem.optional("revoked", revoked.map { $0 ? "true" : "false" })
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> TransactionsPage {
        try TransactionsPage(&reader)
    }

    /// The request for the page after this one.
    public func following(_ answer: TransactionsPage) throws(AnswerFault) -> TransactionHistoryRequest? {
        guard let revision = try answer.nextRevision(after: revision) else { return nil }
        var next = self
        next.revision = revision
        return next
    }
}
