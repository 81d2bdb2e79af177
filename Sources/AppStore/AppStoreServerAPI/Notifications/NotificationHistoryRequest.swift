public import AppStorePayloads
public import Base

/// Get Notification History: what Apple tried to post in a span of time, at most 20 a page.
///
/// Apple keeps 180 days, in Sandbox 30.
public struct NotificationHistoryRequest: PagedRequest {
    /// Which of them.
    public enum Filter: Sendable, Hashable {
        /// Of one type and, if given, subtype.
        case type(NotificationType, NotificationSubtype?)
        /// About one transaction.
        case transaction(String)
    }

    /// From here on.
    public var startDate: Timestamp
    /// Up to here.
    public var endDate: Timestamp
    /// Which of them; all if nil. Apple takes one filter at a time.
    public var filter: Filter?
    /// Only what has not reached the server, which includes what is still being retried.
    public var onlyFailures: Bool?
    /// Where the page before ended.
    public var paginationToken: String?

    /// Everything in a span of time.
    public init(from startDate: Timestamp, to endDate: Timestamp) {
        self.startDate = startDate
        self.endDate = endDate
    }

    /// The call.
    public var endpoint: Endpoint { .notificationHistory }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "notifications", "history") }

    /// What follows the question mark.
    public var query: [QueryItem] { QueryItem.optional("paginationToken", paginationToken) }

    /// The JSON text that is sent.
    public var body: [UInt8]? {
        var body = RequestBody()
        body.add("startDate", startDate)
        body.add("endDate", endDate)
        body.add("onlyFailures", onlyFailures)
        switch filter {
        case .type(let type, let subtype):
            body.add("notificationType", type.rawValue)
            body.add("notificationSubtype", subtype?.rawValue)
        case .transaction(let id): body.add("transactionId", id)
        case nil: break
        }
        return body.bytes
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> NotificationHistoryPage {
        try NotificationHistoryPage(&reader)
    }

    /// The request for the page after this one.
    public func following(_ answer: NotificationHistoryPage) throws(AnswerFault) -> NotificationHistoryRequest? {
        guard answer.hasMore else { return nil }
        guard let token = answer.paginationToken, token != paginationToken else {
            throw .unreadable("hasMore is true, and there is no new paginationToken")
        }
        var next = self
        next.paginationToken = token
        return next
    }
}
