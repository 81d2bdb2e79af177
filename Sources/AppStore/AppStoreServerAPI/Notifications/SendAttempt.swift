import AppStorePayloads
public import Base

/// One attempt of Apple's to post a notification.
public struct SendAttempt: Sendable, Hashable {
    /// What came of an attempt (`sendAttemptResult`).
    public struct Result: AppleCode {
        /// The value as Apple writes it.
        public let rawValue: String
        /// Keeps any raw value, known or not.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Answered with success.
        public static let success = Result(rawValue: "SUCCESS")
        /// No answer in time.
        public static let timedOut = Result(rawValue: "TIMED_OUT")
        /// TLS failed.
        public static let tlsIssue = Result(rawValue: "TLS_ISSUE")
        /// Redirected in a circle.
        public static let circularRedirect = Result(rawValue: "CIRCULAR_REDIRECT")
        /// No answer.
        public static let noResponse = Result(rawValue: "NO_RESPONSE")
        /// No connection.
        public static let socketIssue = Result(rawValue: "SOCKET_ISSUE")
        /// An answer in an unknown character set.
        public static let unsupportedCharset = Result(rawValue: "UNSUPPORTED_CHARSET")
        /// An answer that is no HTTP.
        public static let invalidResponse = Result(rawValue: "INVALID_RESPONSE")
        /// The connection was closed too early.
        public static let prematureClose = Result(rawValue: "PREMATURE_CLOSE")
        /// Answered with another status than 200 to 206.
        public static let unsuccessfulHTTPResponseCode = Result(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
        /// Anything else.
        public static let other = Result(rawValue: "OTHER")

        /// The values this release knows.
        public static let known: Set<Result> = [
            .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset,
            .invalidResponse, .prematureClose, .unsuccessfulHTTPResponseCode, .other,
        ]
    }

    /// When.
    public let attemptDate: Timestamp?
    /// What came of it.
    public let sendAttemptResult: Result?

    static func list(in object: JSONObject) throws(AnswerFault) -> [SendAttempt] {
        guard object.has("sendAttempts") else { return [] }
        guard let items = object.objects("sendAttempts") else {
            throw .unreadable("sendAttempts is no list of objects")
        }
        return items.map { item in
            SendAttempt(
                attemptDate: item.integer("attemptDate").map(Timestamp.init(millisecondsSince1970:)),
                sendAttemptResult: item.string("sendAttemptResult").map(Result.init(rawValue:)))
        }
    }
}
