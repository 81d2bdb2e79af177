/// Get Refund History: what a customer got money back for, the earliest refund first, at most 20 a page.
public struct RefundHistoryRequest: PagedRequest {
    /// A transactionId, originalTransactionId or appTransactionId of the customer's.
    public var id: String
    /// Where the page before ended.
    public var revision: String?

    /// All refunds of this customer's.
    public init(_ id: String) { self.id = id }

    /// The call.
    public var endpoint: Endpoint { .refundHistory }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v2", "refund", "lookup", id) }

    /// What follows the question mark.
    public var query: [QueryItem] { QueryItem.optional("revision", revision) }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> TransactionsPage {
        try TransactionsPage(&reader)
    }

    /// The request for the page after this one.
    public func following(_ answer: TransactionsPage) throws(AnswerFault) -> RefundHistoryRequest? {
        guard let revision = try answer.nextRevision(after: revision) else { return nil }
        var next = self
        next.revision = revision
        return next
    }
}
