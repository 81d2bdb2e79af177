import AppStorePayloads
public import AppStoreVerification

/// A test notification, and how posting it went.
public struct TestNotificationStatus: Sendable {
    /// The notification.
    public let record: SignedRecord<VerifiedNotification>
    /// Each attempt, at most six.
    public let sendAttempts: [SendAttempt]
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        record = try reader.requiredNotification(reader.required(.signedPayload))
        sendAttempts = try SendAttempt.list(in: reader.object)
        unknownFields = reader.object.members(except: ["signedPayload", "sendAttempts"])
    }
}
