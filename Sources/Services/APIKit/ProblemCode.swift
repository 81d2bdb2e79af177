package import HTTPTypes

/// Why a request is not done, as a code that stays: clients decide by it, and never by a sentence.
package struct ProblemCode: Sendable, Hashable {
    /// The answer's status.
    package var status: HTTPResponse.Status
    /// What stays.
    package var code: String
    /// The same in a few words, for people.
    package var title: String

    /// A code.
    package init(_ status: HTTPResponse.Status, _ code: String, _ title: String) {
        self.status = status
        self.code = code
        self.title = title
    }

    /// What was sent is not what this path takes.
    package static let invalidRequest = ProblemCode(.badRequest, "invalid_request", "The request is not understood")
    /// A server key came without the account that it asks for.
    package static let accountMissing = ProblemCode(.badRequest, "account_missing", "No account is named")
    /// The request names no caller.
    package static let tokenMissing = ProblemCode(.unauthorized, "token_missing", "No token")
    /// The token was good once.
    package static let tokenExpired = ProblemCode(.unauthorized, "token_expired", "The token has expired")
    /// The token is none of the app's, or not for here.
    package static let tokenInvalid = ProblemCode(.unauthorized, "token_invalid", "The token is not accepted")
    /// An app asks what is for the operator's servers.
    package static let serverKeyRequired = ProblemCode(
        .forbidden, "server_key_required", "For the operator's own servers")
    /// There is no such path.
    package static let notFound = ProblemCode(.notFound, "not_found", "There is nothing here")
    /// The path does not take this method.
    package static let methodNotAllowed = ProblemCode(.methodNotAllowed, "method_not_allowed", "Not with this method")
    /// The body is longer than what is read.
    package static let tooLarge = ProblemCode(.contentTooLarge, "too_large", "The request is too large")
    /// Too many requests in too short a time.
    package static let rateLimited = ProblemCode(.tooManyRequests, "rate_limited", "Too many requests")
    /// The same may succeed soon.
    package static let unavailable = ProblemCode(.serviceUnavailable, "unavailable", "Not available at the moment")
    /// An unexpected error here.
    package static let internalError = ProblemCode(.internalServerError, "internal_error", "Something is wrong here")
}
