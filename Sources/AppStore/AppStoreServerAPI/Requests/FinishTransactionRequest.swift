/// Finish Transaction: tells Apple that the customer has what was bought.
public struct FinishTransactionRequest: ServerRequest {
    /// The transaction.
    public var transactionId: String

    /// Finishes this transaction.
    public init(_ transactionId: String) { self.transactionId = transactionId }

    /// The call.
    public var endpoint: Endpoint { .finishTransaction }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "transactions", transactionId, "finish") }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Accepted { Accepted() }
}
