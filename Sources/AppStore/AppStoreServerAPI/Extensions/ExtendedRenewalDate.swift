import AppStorePayloads
public import Base

/// What became of a subscription's extension.
public struct ExtendedRenewalDate: Sendable, Hashable {
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

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        let object = reader.object
        guard let success = object.bool("success") else { throw .unreadable("success is missing") }
        self.success = success
        effectiveDate = object.integer("effectiveDate").map(Timestamp.init(millisecondsSince1970:))
        originalTransactionId = try reader.text(.originalTransactionId)
        webOrderLineItemId = try reader.text(.webOrderLineItemId)
        unknownFields = object.members(
            except: ["success", "effectiveDate", "originalTransactionId", "webOrderLineItemId"])
    }
}
