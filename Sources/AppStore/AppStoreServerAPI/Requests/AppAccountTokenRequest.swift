import AppStorePayloads
public import Base

/// Set App Account Token: says whose a purchase is, for one made outside the app or given to another account.
public struct AppAccountTokenRequest: ServerRequest {
    /// The purchase, by its original transaction.
    public var originalTransactionId: String
    /// The account.
    public var appAccountToken: UniqueIdentifier

    /// Gives this purchase to this account.
    public init(_ originalTransactionId: String, appAccountToken: UniqueIdentifier) {
        self.originalTransactionId = originalTransactionId
        self.appAccountToken = appAccountToken
    }

    /// The call.
    public var endpoint: Endpoint { .appAccountToken }

    /// The path of its URL.
    public var path: String {
        PercentEncoding.path("inApps", "v1", "transactions", originalTransactionId, "appAccountToken")
    }

    /// The JSON text that is sent.
    public var body: [UInt8]? {
        var body = RequestBody()
        body.add("appAccountToken", appAccountToken.description)
        return body.bytes
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Accepted { Accepted() }
}
