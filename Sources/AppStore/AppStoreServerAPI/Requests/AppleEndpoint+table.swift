public import AppStorePayloads
import AppStoreVerification
public import Base

// Apple's endpoints: first how each is reached and how often, then what is sent to each and what its answer says. An `{id}` is any
// transactionId, originalTransactionId or appTransactionId of the customer's. Lists have at most 20 records a page.

extension AppleEndpoint {
    /// How an endpoint is reached.
    struct Row: Sendable {
        /// The HTTP method.
        var method: Method
        /// The path; `{name}` stands for an argument.
        var path: String
        /// Requests a second that Apple allows an app in Production (Identifying rate limits, App Store Server API).
        var perSecond: Double
        /// The name of the query item that asks for the next page.
        var pageToken: String?
        /// Whether asking again does no more than asking once.
        var isRepeatable: Bool
        /// The environments that have it, the one that is asked first before the other.
        var environments: [Environment]

        init(
            _ method: Method, _ path: String, perSecond: Double, pageToken: String? = nil, isRepeatable: Bool = true,
            in environments: [Environment] = [.production, .sandbox]
        ) {
            self.method = method
            self.path = path
            self.perSecond = perSecond
            self.pageToken = pageToken
            self.isRepeatable = isRepeatable
            self.environments = environments
        }
    }

    /// How this endpoint is reached.
    var row: Row {
        switch self {
        case .transactionHistory: Row(.get, "/inApps/v2/history/{id}", perSecond: 50, pageToken: "revision")
        case .transactionInfo: Row(.get, "/inApps/v1/transactions/{transactionId}", perSecond: 50)
        case .subscriptionStatuses: Row(.get, "/inApps/v1/subscriptions/{id}", perSecond: 50)
        case .appTransactionInfo: Row(.get, "/inApps/v1/transactions/appTransactions/{id}", perSecond: 50)
        case .finishTransaction: Row(.post, "/inApps/v1/transactions/{transactionId}/finish", perSecond: 50)
        case .consumptionInformation:
            Row(.put, "/inApps/v2/transactions/consumption/{transactionId}", perSecond: 50)
        case .notificationHistory:
            Row(.post, "/inApps/v1/notifications/history", perSecond: 50, pageToken: "paginationToken")
        case .testNotification: Row(.post, "/inApps/v1/notifications/test", perSecond: 1)
        case .testNotificationStatus:
            Row(.get, "/inApps/v1/notifications/test/{testNotificationToken}", perSecond: 1)
        case .extendRenewalDate:
            Row(.put, "/inApps/v1/subscriptions/extend/{originalTransactionId}", perSecond: 20, isRepeatable: false)
        case .massExtension: Row(.post, "/inApps/v1/subscriptions/extend/mass", perSecond: 1, isRepeatable: false)
        case .massExtensionStatus:
            Row(.get, "/inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}", perSecond: 1)
        case .appAccountToken:
            Row(.put, "/inApps/v1/transactions/{originalTransactionId}/appAccountToken", perSecond: 20)
        // Orders are the App Store's alone.
        case .orderLookup: Row(.get, "/inApps/v1/lookup/{orderId}", perSecond: 10, in: [.production])
        case .refundHistory: Row(.get, "/inApps/v2/refund/lookup/{id}", perSecond: 10, pageToken: "revision")
        // Apple names no limit: this one is ours.
        case .verifyReceipt: Row(.post, "/verifyReceipt", perSecond: 10)
        }
    }
}

// MARK: - Transactions

extension ServerRequest where Answer == TransactionsPage {
    /// Get Transaction History: a customer's transactions.
    ///
    /// - Parameters:
    ///   - start: purchases from here on.
    ///   - end: purchases before this.
    ///   - products: of these alone; of all if empty. The other lists likewise.
    ///   - sort: Apple's default if nil.
    ///   - ownership: bought, or shared, alone.
    ///   - revoked: only what was taken back, or only what was not.
    public static func transactionHistory(
        _ id: String, from start: Timestamp? = nil, to end: Timestamp? = nil, products: [String] = [],
        kinds: [ProductKind] = [], sort: TransactionSort? = nil, groups: [String] = [],
        ownership: OwnershipType? = nil, revoked: Bool? = nil
    ) -> Self {
        let filters =
            QueryItem.optional("startDate", start) + QueryItem.optional("endDate", end)
            + QueryItem.each("productId", products) + QueryItem.each("productType", kinds.map(\.rawValue))
            + QueryItem.optional("sort", sort?.rawValue) + QueryItem.each("subscriptionGroupIdentifier", groups)
            + QueryItem.optional("inAppOwnershipType", ownership?.rawValue)
            + QueryItem.optional("revoked", revoked.map { $0 ? "true" : "false" })
        return Self(.transactionHistory, [id], filters: filters, reading: TransactionsPage.init)
    }

    /// Get Refund History: what a customer got money back for, the earliest refund first.
    public static func refundHistory(_ id: String) -> Self {
        Self(.refundHistory, [id], reading: TransactionsPage.init)
    }
}

extension ServerRequest where Answer == SignedRecord<TransactionPayload> {
    /// Get Transaction Info: one transaction as it is now. Another one is refused.
    ///
    /// A purchase may have several transactionIds, one for each device that restores it, and Apple answers with any of them. So the answer
    /// may have another transactionId, as long as it is of the same purchase.
    ///
    /// - Parameters:
    ///   - original: the transaction's originalTransactionId, where it is known.
    ///   - lineItem: its webOrderLineItemId likewise.
    public static func transactionInfo(
        _ transactionId: String, of original: String? = nil, lineItem: String? = nil
    ) -> Self {
        Self(.transactionInfo, [transactionId]) { (reader) throws(AnswerFault) in
            let record = try reader.transaction(reader.required(.signedTransactionInfo))
            guard isMeant(record.payload, transactionId, original, lineItem) else {
                throw .refused(
                    VerificationFailure(
                        .mismatchedParts, "It is another transaction than the one that was asked about."))
            }
            return record
        }
    }

    private static func isMeant(
        _ payload: TransactionPayload, _ transactionId: String, _ original: String?, _ lineItem: String?
    ) -> Bool {
        if let original, payload.originalTransactionId != original { return false }
        if payload.transactionId == transactionId { return true }
        if let lineItem { return payload.webOrderLineItemId == lineItem }
        // Asked about the first transaction of a purchase, Apple may answer with a copy of it.
        return original == nil && payload.originalTransactionId == transactionId
    }
}

extension ServerRequest where Answer == SubscriptionStatuses {
    /// Get All Subscription Statuses: every auto-renewable subscription of a customer's, as it is now.
    ///
    /// - Parameter statuses: of these alone; of all if empty.
    public static func subscriptionStatuses(_ id: String, _ statuses: [AppleStatus] = []) -> Self {
        let filters = QueryItem.each("status", statuses.map { String($0.rawValue) })
        return Self(.subscriptionStatuses, [id], filters: filters, reading: SubscriptionStatuses.init)
    }
}

extension ServerRequest where Answer == SignedRecord<AppTransactionPayload> {
    /// Get App Transaction Info: a customer's download of the app.
    public static func appTransactionInfo(_ id: String) -> Self {
        Self(.appTransactionInfo, [id]) { (reader) throws(AnswerFault) in
            try reader.appTransaction(reader.required(.signedAppTransactionInfo))
        }
    }
}

extension ServerRequest where Answer == OrderLookup {
    /// Look Up Order ID: the purchases behind the order number that Apple mailed to the customer.
    public static func orderLookup(_ orderId: String) -> Self {
        Self(.orderLookup, [orderId], reading: OrderLookup.init)
    }
}

extension ServerRequest where Answer == Void {
    /// Finish Transaction: Apple learns that the customer has what was bought.
    public static func finishTransaction(_ transactionId: String) -> Self {
        Self(.finishTransaction, [transactionId]) { _ in }
    }

    /// Set App Account Token: the owner of a purchase that was made outside the app or given to another account.
    public static func appAccountToken(_ originalTransactionId: String, is token: UniqueIdentifier) -> Self {
        let body = RequestBody { $0.add("appAccountToken", token.description) }
        return Self(.appAccountToken, [originalTransactionId], body: body) { _ in }
    }

    /// Send Consumption Information, version 2: the answer to a CONSUMPTION_REQUEST, within 12 hours of its signedDate. Nil without
    /// the customer's consent, for then nothing may be sent.
    ///
    /// - Parameter transactionId: the transaction that the notification named.
    public static func consumptionInformation(
        _ transactionId: String, _ information: ConsumptionInformation
    ) -> Self? {
        guard information.customerConsented else { return nil }
        let body = RequestBody {
            $0.add("customerConsented", information.customerConsented)
            $0.add("deliveryStatus", information.deliveryStatus.rawValue)
            $0.add("sampleContentProvided", information.sampleContentProvided)
            $0.add("consumptionPercentage", information.consumptionPercentage)
            $0.add("refundPreference", information.refundPreference?.rawValue)
        }
        return Self(.consumptionInformation, [transactionId], body: body) { _ in }
    }
}

// MARK: - Notifications

extension ServerRequest where Answer == NotificationHistoryPage {
    /// Get Notification History: what Apple tried to post in a span of time. Apple keeps 180 days, in Sandbox 30.
    ///
    /// - Parameters:
    ///   - filter: all if nil.
    ///   - onlyFailures: only what has not reached the server, which includes what is still being retried.
    public static func notificationHistory(
        from start: Timestamp, to end: Timestamp, _ filter: NotificationFilter? = nil, onlyFailures: Bool? = nil
    ) -> Self {
        let body = RequestBody {
            $0.add("startDate", start)
            $0.add("endDate", end)
            $0.add("onlyFailures", onlyFailures)
            switch filter {
            case .type(let type, let subtype):
                $0.add("notificationType", type.rawValue)
                $0.add("notificationSubtype", subtype?.rawValue)
            case .transaction(let id): $0.add("transactionId", id)
            case nil: break
            }
        }
        return Self(.notificationHistory, body: body, reading: NotificationHistoryPage.init)
    }
}

extension ServerRequest where Answer == RequestedTestNotification {
    /// Request a Test Notification: Apple posts a notification of type TEST to the URL set for the environment.
    public static var testNotification: Self { Self(.testNotification, reading: RequestedTestNotification.init) }
}

extension ServerRequest where Answer == TestNotificationStatus {
    /// Get Test Notification Status: what became of a test notification.
    public static func testNotificationStatus(_ testNotificationToken: String) -> Self {
        Self(.testNotificationStatus, [testNotificationToken], reading: TestNotificationStatus.init)
    }
}

// MARK: - Renewal dates

extension ServerRequest where Answer == ExtendedRenewalDate {
    /// Extend a Subscription Renewal Date: one customer's present period lasts longer. Apple allows it twice in 365 days.
    ///
    /// - Parameters:
    ///   - days: 1 to 90.
    ///   - requestIdentifier: a name of the caller's own for this request, at most 128 characters.
    public static func extendRenewalDate(
        _ originalTransactionId: String, byDays days: Int64, reason: ExtendReasonCode, requestIdentifier: String
    ) -> Self {
        let body = RequestBody {
            $0.add("extendByDays", days)
            $0.add("extendReasonCode", reason.rawValue)
            $0.add("requestIdentifier", requestIdentifier)
        }
        return Self(.extendRenewalDate, [originalTransactionId], body: body, reading: ExtendedRenewalDate.init)
    }
}

extension ServerRequest where Answer == RequestedMassExtension {
    /// Extend Subscription Renewal Dates for All Active Subscribers of a product; Apple does it over hours.
    ///
    /// - Parameters:
    ///   - days: 1 to 90.
    ///   - requestIdentifier: a name of the caller's own for this request.
    ///   - storefronts: in these countries alone, ISO 3166-1 alpha-3; in all if empty.
    public static func massExtension(
        _ productId: String, byDays days: Int64, reason: ExtendReasonCode, requestIdentifier: UniqueIdentifier,
        storefronts: [String] = []
    ) -> Self {
        let body = RequestBody {
            $0.add("productId", productId)
            $0.add("extendByDays", days)
            $0.add("extendReasonCode", reason.rawValue)
            $0.add("requestIdentifier", requestIdentifier.description)
            $0.add("storefrontCountryCodes", storefronts)
        }
        return Self(.massExtension, body: body, reading: RequestedMassExtension.init)
    }
}

extension ServerRequest where Answer == MassExtensionStatus {
    /// Get Status of Subscription Renewal Date Extensions: how far Apple is with all of a product.
    public static func massExtensionStatus(_ productId: String, requestIdentifier: UniqueIdentifier) -> Self {
        Self(.massExtensionStatus, [productId, requestIdentifier.description], reading: MassExtensionStatus.init)
    }
}

// MARK: - Old receipts

extension RequestBody {
    /// verifyReceipt: whether a receipt is genuine, and what became of what was bought with it. Answers ``ReceiptAnswer``.
    ///
    /// - Parameters:
    ///   - receipt: in base64.
    ///   - excludesOldTransactions: of each subscription only the latest period.
    static func verifyReceipt(
        _ receipt: [UInt8], _ secret: SharedSecret, excludesOldTransactions: Bool
    ) -> RequestBody {
        RequestBody {
            $0.add("receipt-data", String(decoding: receipt, as: UTF8.self))
            $0.add("password", secret.text)
            $0.add("exclude-old-transactions", excludesOldTransactions)
        }
    }
}
