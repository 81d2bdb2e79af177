public import AppStorePayloads

/// Get Transaction Info: one transaction as it is now.
public struct TransactionInfoRequest: ServerRequest {
    /// The transaction.
    public var transactionId: String

    /// Asks for this transaction.
    public init(_ transactionId: String) { self.transactionId = transactionId }

    /// The call.
    public var endpoint: Endpoint { .transactionInfo }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "transactions", transactionId) }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> SignedRecord<TransactionPayload> {
        try reader.transaction(reader.required("signedTransactionInfo"))
    }
}
