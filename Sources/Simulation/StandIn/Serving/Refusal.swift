/// Why the stand-in refuses a request, in Apple's words.
struct Refusal: Error, Sendable, Hashable, Codable {
    /// The HTTP status.
    var status: Int
    /// Apple's code; nil for a bare status.
    var code: Int64?
    /// What Apple says with it.
    var message: String
    /// `Retry-After`, in milliseconds since 1970.
    var retryAfter: Int64?
    /// `Allow`: the method that the path has.
    var allow: String?
    /// verifyReceipt's word on whether to ask again (`is-retryable`).
    var isRetryable: Bool?

    /// One of Apple's error codes; its first digits are the HTTP status.
    init(_ code: Int64, _ message: String, retryAfter: Int64? = nil) {
        status = Int(code / 10_000)
        // 4000183 and 5000001 alike: three digits of status, four of its own.
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// A status without a code: 401, and what is no path of Apple's.
    init(status: Int, _ message: String = "") {
        self.status = status
        code = nil
        self.message = message
    }

    /// 405: the path is called otherwise.
    init(notAllowed message: String, instead method: String) {
        self.init(status: 405, message)
        allow = method
    }

    static let noTransaction = Refusal(4_040_010, "Transaction id not found.")
    static let badTransaction = Refusal(4_000_006, "Invalid transaction id.")
    static let noOriginal = Refusal(4_040_005, "Original transaction id not found.")
}
