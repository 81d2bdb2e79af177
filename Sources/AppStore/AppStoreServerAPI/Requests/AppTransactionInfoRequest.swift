public import AppStorePayloads

/// Get App Transaction Info: a customer's download of the app.
public struct AppTransactionInfoRequest: ServerRequest {
    /// A transactionId, originalTransactionId or appTransactionId of the customer's.
    public var id: String

    /// Asks for this customer's.
    public init(_ id: String) { self.id = id }

    /// The call.
    public var endpoint: Endpoint { .appTransactionInfo }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "transactions", "appTransactions", id) }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> SignedRecord<AppTransactionPayload> {
        try reader.appTransaction(reader.required("signedAppTransactionInfo"))
    }
}
