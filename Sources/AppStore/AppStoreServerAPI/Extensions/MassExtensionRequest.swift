import AppStorePayloads
public import Base

/// Extend Subscription Renewal Dates for All Active Subscribers of a product; Apple does it over hours.
public struct MassExtensionRequest: ServerRequest {
    /// That Apple has taken it on.
    public struct Answer: Sendable, Hashable {
        /// The request's name, by which ``MassExtensionStatusRequest`` asks.
        public let requestIdentifier: String
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// The product.
    public var productId: String
    /// By how many days: 1 to 90.
    public var extendByDays: Int64
    /// Why.
    public var extendReasonCode: ExtendReasonCode
    /// A name of the caller's own for this request: a UUID.
    public var requestIdentifier: UniqueIdentifier
    /// In these countries alone, ISO 3166-1 alpha-3; in all if empty.
    public var storefrontCountryCodes: [String]

    /// Extends every active subscription to this product.
    public init(
        _ productId: String, byDays days: Int64, reason: ExtendReasonCode, requestIdentifier: UniqueIdentifier,
        storefrontCountryCodes: [String] = []
    ) {
        self.productId = productId
        extendByDays = days
        extendReasonCode = reason
        self.requestIdentifier = requestIdentifier
        self.storefrontCountryCodes = storefrontCountryCodes
    }

    /// The call.
    public var endpoint: Endpoint { .massExtension }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "subscriptions", "extend", "mass") }

    /// The JSON text that is sent.
    public var body: [UInt8]? {
        var body = RequestBody()
        body.add("productId", productId)
        body.add("extendByDays", extendByDays)
        body.add("extendReasonCode", extendReasonCode.rawValue)
        body.add("requestIdentifier", requestIdentifier.description)
        body.add("storefrontCountryCodes", storefrontCountryCodes)
        return body.bytes
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer {
        Answer(
            requestIdentifier: try reader.required("requestIdentifier"),
            unknownFields: reader.object.members(except: ["requestIdentifier"]))
    }
}
