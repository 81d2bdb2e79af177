import APIKit
import Base

/// A list for which the staff saves filters, and what such a filter may have: codes and ids of products and apps, and nothing that may be a
/// person's. The raw values are those of paths.
package enum FilterPage: String, CaseIterable, Sendable {
    case accounts = "subscriptions"
    case audit
    case consumptionRequests = "consumption-requests"
    case deadLetters = "dead-letters"
    case deliveries
    case endpoints
    case extensions
    case jobs
    case orders
    case refundRequests = "refund-requests"

    /// As it is described.
    static let schema = ValueSchema.named("FilterPage", .choice(allCases.map(\.rawValue)))

    /// The members of the list's query that a filter may have.
    package var qualifiers: [String] {
        switch self {
        case .accounts: ["status", "tier", "product", "app", "environment", "endingWithin", "erased"]
        case .audit: ["act", "app", "environment"]
        case .consumptionRequests: ["days", "state", "app", "environment", "sort"]
        case .deliveries: ["endpoint", "outcome"]
        case .endpoints: ["state", "app"]
        case .extensions: ["unfinished", "app", "environment"]
        case .deadLetters: ["type", "reason", "app", "resolution"]
        case .jobs: ["state"]
        case .orders: ["status", "environment", "app", "product", "currency", "storefront", "tier", "refunded"]
        case .refundRequests: ["state", "notRefunded", "app", "environment", "sort"]
        }
    }

    /// The query of the list.
    func query(_ handlers: AdminHandlers) -> [APIQueryParameter] {
        switch self {
        case .accounts: handlers.accountList.query
        case .audit: handlers.auditList.query
        case .consumptionRequests: handlers.consumptionList.query
        case .deadLetters: handlers.letterList.query
        case .deliveries: handlers.deliveryList.query
        case .endpoints: handlers.endpointList.query
        case .extensions: handlers.extensionList.query
        case .jobs: handlers.jobList.query
        case .orders: handlers.orderList.query
        case .refundRequests: handlers.refundList.query
        }
    }
}
