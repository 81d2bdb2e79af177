import AppStorePayloads

/// Request a Test Notification: Apple posts a notification of type TEST to the URL set for the environment.
public struct TestNotificationRequest: ServerRequest {
    /// What names the notification afterwards.
    public struct Answer: Sendable, Hashable {
        /// Asks what became of it: ``TestNotificationStatusRequest``.
        public let testNotificationToken: String
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// Asks for one.
    public init() {}

    /// The call.
    public var endpoint: Endpoint { .testNotification }

    /// The path of its URL.
    public var path: String { PercentEncoding.path("inApps", "v1", "notifications", "test") }

    /// Reads its answer.
    public func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer {
        Answer(
            testNotificationToken: try reader.required("testNotificationToken"),
            unknownFields: reader.object.members(except: ["testNotificationToken"]))
    }
}
