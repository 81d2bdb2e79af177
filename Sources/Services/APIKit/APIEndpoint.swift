package import Base
package import HTTPTypes

/// One method of one path: the access it needs, what it takes and answers, and its handler.
///
/// The router and `/openapi.json` are both made of the same list of these, so that they cannot differ.
package struct APIEndpoint<Access: APIAccess>: Sendable {
    /// GET answers HEAD as well.
    package var method: HTTPRequest.Method
    /// Such as `/v1/features/{feature}`.
    package var path: String
    /// A name of its own, for metrics, logs and generated clients: `getAccount`.
    package var name: String
    /// What it does, in a sentence.
    package var summary: String
    /// The access it needs.
    package var access: Access
    /// Which limits of rate hold.
    package var limits: APIRateLimits = .usual
    /// The values of the path's parts in braces, by their names.
    package var pathSchemas: [String: ValueSchema] = [:]
    /// The query's values.
    package var query: [APIQueryParameter] = []
    /// What it takes; nil where a body is not read.
    package var body: APIBody?
    /// What it answers where all goes well.
    package var successes: [APISuccess]
    /// Its own problems, beside those that come of its callers, body and limits.
    package var problems: [ProblemCode] = []
    /// Why a request that fits all that is described may be answered 400, where it may: a part of a sentence.
    package var refusesFitting: String?
    /// How problems are written.
    package var style: ProblemStyle = .problem
    /// Whether a line is logged for each success, and not for problems alone.
    package var isLogged = false
    /// Whether it waits for the database only where that is watched already, or not at all.
    package var isWatched = false
    /// Does it; throws ``APIProblem``.
    package var answer: @Sendable (APIRequest<Access>) async throws -> APIAnswer

    /// An endpoint; what is not given can be set.
    package init(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String, for access: Access,
        successes: [APISuccess], _ answer: @escaping @Sendable (APIRequest<Access>) async throws -> APIAnswer
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.summary = summary
        self.access = access
        self.successes = successes
        self.answer = answer
    }

    /// All problems that it may answer, each once: its own, and those of the frame.
    var allProblems: [ProblemCode] {
        var codes = problems + access.problems
        if body != nil { codes += [.invalidRequest, .tooLarge, .unavailable] }
        if !query.isEmpty { codes.append(.invalidRequest) }
        if limits == .usual { codes.append(.rateLimited) }
        if !access.isOpen || body != nil { codes.append(.internalError) }
        var seen: Set<ProblemCode> = []
        return codes.filter { seen.insert($0).inserted }
    }
}
