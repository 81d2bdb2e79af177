import AppStorePayloads

/// Apple is going to post a test notification.
public struct RequestedTestNotification: Sendable, Hashable {
    /// Names it when its status is asked.
    public let testNotificationToken: String
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        testNotificationToken = try reader.required(.testNotificationToken)
        unknownFields = reader.object.members(except: ["testNotificationToken"])
    }
}
