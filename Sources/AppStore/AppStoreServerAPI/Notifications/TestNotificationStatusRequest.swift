import AppStorePayloads
public import AppStoreVerification

/// Get Test Notification Status: what became of a test notification.
public struct TestNotificationStatusRequest: ServerRequest {
    /// The notification, and how posting it went.
    public struct Answer: Sendable {
        /// The notification.
        public let record: SignedRecord<VerifiedNotification>
        /// Each attempt, at most six.
        public let sendAttempts: [SendAttempt]
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// What ``TestNotificationRequest`` gave.
    public var testNotificationToken: String

    /// Asks about this one.
    public init(_ testNotificationToken: String) { self.testNotificationToken = testNotificationToken }

    /// The call.
    public var endpoint: Endpoint { .testNotificationStatus }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "notifications", "test", testNotificationToken) }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer {
        Answer(
            record: try reader.requiredNotification(reader.required("signedPayload")),
            sendAttempts: try SendAttempt.list(in: reader.object),
            unknownFields: reader.object.members(except: ["signedPayload", "sendAttempts"]))
    }
}
