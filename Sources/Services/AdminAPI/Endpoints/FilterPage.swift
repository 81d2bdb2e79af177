import APIKit
import Base

/// A list for which the staff saves filters, and what such a filter may have: codes and ids of products and apps, and nothing that may be a
/// person's. The raw values are those of paths.
package enum FilterPage: String, CaseIterable, Sendable {
    case accounts = "subscriptions"
    case audit
    case deadLetters = "dead-letters"
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
        case .deadLetters: ["type", "reason", "app", "resolution"]
        case .jobs: ["state"]
        case .orders: ["status", "environment", "app", "product", "currency", "storefront", "tier", "refunded"]
        case .refundRequests: ["state", "notRefunded", "app", "environment"]
        }
    }

    /// The query of the list.
    func query(_ handlers: AdminHandlers) -> [APIQueryParameter] {
        switch self {
        case .accounts: handlers.accountList.query
        case .audit: handlers.auditList.query
        case .deadLetters: handlers.letterList.query
        case .jobs: handlers.jobList.query
        case .orders: handlers.orderList.query
        case .refundRequests: handlers.refundList.query
        }
    }
}
