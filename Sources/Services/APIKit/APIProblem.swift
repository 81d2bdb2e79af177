package import Base
package import HTTPTypes
package import Logging

/// A request that is not done, and why. Handlers throw it; how it is written is the endpoint's ``ProblemStyle``.
package struct APIProblem: Error, Sendable {
    /// Why.
    package var code: ProblemCode
    /// Why, in a sentence of ours: nothing that came with the request.
    package var detail: ProblemText
    /// Further members of the answer, such as `retryAt`.
    package var members: [JSONValue.Member]
    /// Headers of the answer beside its type.
    package var headers: HTTPFields
    /// What its log line has beside.
    package var log: Logger.Metadata

    /// A problem.
    package init(
        _ code: ProblemCode, _ detail: ProblemText, members: [JSONValue.Member] = [], headers: HTTPFields = [:],
        log: Logger.Metadata = [:]
    ) {
        self.code = code
        self.detail = detail
        self.members = members
        self.headers = headers
        self.log = log
    }

    /// The database, or something else that is needed, does not answer: the same may succeed in so many seconds.
    package static func unavailable(_ detail: ProblemText, retryAfter seconds: Int = 2) -> APIProblem {
        APIProblem(.unavailable, detail, headers: [.retryAfter: "\(seconds)"])
    }

    /// As RFC 9457 has it.
    package func value(in language: AnswerLanguage) -> JSONValue {
        .object(
            [
                .init("type", .string("urn:storehook:problem:\(code.code)")), .init("title", .string(code.title)),
                .init("status", .integer(Int64(code.status.code))),
                .init("detail", .string(detail.text(in: language, of: code.status))), .init("code", .string(code.code)),
            ] + members)
    }
}
