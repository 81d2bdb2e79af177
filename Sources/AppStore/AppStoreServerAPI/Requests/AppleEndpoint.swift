import AppStorePayloads
public import Base

/// The calls of the App Store Server API that are made here, and verifyReceipt. Raw values name them in metrics and messages; what
/// Apple documents of each stands in the table, `AppleEndpoint+table.swift`.
public enum AppleEndpoint: String, Sendable, Hashable, CaseIterable {
    /// Get Transaction History.
    case transactionHistory = "transaction_history"
    /// Get Transaction Info.
    case transactionInfo = "transaction_info"
    /// Get All Subscription Statuses.
    case subscriptionStatuses = "subscription_statuses"
    /// Get App Transaction Info.
    case appTransactionInfo = "app_transaction_info"
    /// Finish Transaction.
    case finishTransaction = "finish_transaction"
    /// Send Consumption Information.
    case consumptionInformation = "consumption_information"
    /// Get Notification History.
    case notificationHistory = "notification_history"
    /// Request a Test Notification.
    case testNotification = "test_notification"
    /// Get Test Notification Status.
    case testNotificationStatus = "test_notification_status"
    /// Extend a Subscription Renewal Date.
    case extendRenewalDate = "extend_renewal_date"
    /// Extend Subscription Renewal Dates for All Active Subscribers.
    case massExtension = "mass_extension"
    /// Get Status of Subscription Renewal Date Extensions.
    case massExtensionStatus = "mass_extension_status"
    /// Set App Account Token.
    case appAccountToken = "app_account_token"
    /// Look Up Order ID.
    case orderLookup = "order_lookup"
    /// Get Refund History.
    case refundHistory = "refund_history"
    /// verifyReceipt, which is older than the Server API and has servers of its own.
    case verifyReceipt = "verify_receipt"

    /// How the call is made.
    public enum Method: String, Sendable {
        /// Reads.
        case get = "GET"
        /// Starts something, or reads by a question too long for a URL.
        case post = "POST"
        /// Sets something.
        case put = "PUT"
    }

    /// The HTTP method.
    public var method: Method { row.method }

    /// The name of the query item that asks for the next page; nil where there is one answer alone.
    var pageToken: String? { row.pageToken }

    /// The path with these arguments, percent-encoded, in place of each `{name}`.
    func path(with arguments: [String]) -> String {
        var rest = arguments[...]
        return PercentEncoding.path(
            row.path.split(separator: "/").map { part in
                part.hasPrefix("{") ? rest.popFirst() ?? String(part) : String(part)
            })
    }

    /// Requests a second that Apple allows an app; Sandbox has a tenth. Apple counts them by the hour: short bursts are harmless.
    public func ratePerSecond(in environment: Environment) -> Double {
        environment == .production ? row.perSecond : row.perSecond / 10
    }

    /// Whether the request is idempotent. One that is not is never repeated if it may have arrived.
    public var isRepeatable: Bool { row.isRepeatable }

    /// The environments that have it.
    public var environments: [Environment] { row.environments }
}
