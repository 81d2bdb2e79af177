import AppStorePayloads
public import Base

/// Extend a Subscription Renewal Date: one customer's present period lasts longer. Apple allows it twice in 365 days.
public struct ExtendRenewalDateRequest: ServerRequest {
    /// What became of it.
    public struct Answer: Sendable, Hashable {
        /// Whether the date was extended.
        public let success: Bool
        /// The new renewal date.
        public let effectiveDate: Timestamp?
        /// The subscription.
        public let originalTransactionId: String?
        /// The period.
        public let webOrderLineItemId: String?
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// The subscription.
    public var originalTransactionId: String
    /// By how many days: 1 to 90.
    public var extendByDays: Int64
    /// Why.
    public var extendReasonCode: ExtendReasonCode
    /// A name of the caller's own for this request, at most 128 characters.
    public var requestIdentifier: String

    /// Extends this subscription.
    public init(
        _ originalTransactionId: String, byDays days: Int64, reason: ExtendReasonCode, requestIdentifier: String
    ) {
        self.originalTransactionId = originalTransactionId
        extendByDays = days
        extendReasonCode = reason
        self.requestIdentifier = requestIdentifier
    }

    /// The call.
    public var endpoint: Endpoint { .extendRenewalDate }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "subscriptions", "extend", originalTransactionId) }

    /// The JSON text that is sent.
    public var body: [UInt8]? {
        var body = RequestBody()
        body.add("extendByDays", extendByDays)
        body.add("extendReasonCode", extendReasonCode.rawValue)
        body.add("requestIdentifier", requestIdentifier)
        return body.bytes
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer {
        let object = reader.object
        guard let success = object.bool("success") else { throw .unreadable("success is missing") }
        return Answer(
            success: success,
            effectiveDate: object.integer("effectiveDate").map(Timestamp.init(millisecondsSince1970:)),
            originalTransactionId: object.string("originalTransactionId"),
            webOrderLineItemId: object.string("webOrderLineItemId"),
            unknownFields: object.members(
                except: ["success", "effectiveDate", "originalTransactionId", "webOrderLineItemId"]))
    }
}
