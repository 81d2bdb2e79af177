import AppStorePayloads
public import Base

/// Get Status of Subscription Renewal Date Extensions: how far Apple is with a mass extension.
public struct MassExtensionStatusRequest: ServerRequest {
    /// How far Apple is.
    public struct Answer: Sendable, Hashable {
        /// Whether it is done.
        public let complete: Bool
        /// When it was.
        public let completeDate: Timestamp?
        /// The request.
        public let requestIdentifier: String?
        /// How many were extended.
        public let succeededCount: Int64?
        /// How many were not.
        public let failedCount: Int64?
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// The product.
    public var productId: String
    /// The request.
    public var requestIdentifier: UniqueIdentifier

    /// Asks about this one.
    public init(_ productId: String, requestIdentifier: UniqueIdentifier) {
        self.productId = productId
        self.requestIdentifier = requestIdentifier
    }

    /// The call.
    public var endpoint: Endpoint { .massExtensionStatus }

    /// The path of its URL.
    public var path: String {
        PercentEncoding.path(
            "inApps", "v1", "subscriptions", "extend", "mass", productId, requestIdentifier.description)
    }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer {
        let object = reader.object
        guard let complete = object.bool("complete") else { throw .unreadable("complete is missing") }
        return Answer(
            complete: complete,
            completeDate: object.integer("completeDate").map(Timestamp.init(millisecondsSince1970:)),
            requestIdentifier: object.string("requestIdentifier"), succeededCount: object.integer("succeededCount"),
            failedCount: object.integer("failedCount"),
            unknownFields: object.members(
                except: ["complete", "completeDate", "requestIdentifier", "succeededCount", "failedCount"]))
    }
}
