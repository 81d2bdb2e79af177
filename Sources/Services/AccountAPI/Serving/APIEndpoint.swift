package import HTTPTypes

/// One method of one path: who may call it, what it takes and answers, and what does it.
///
/// The router and `/openapi.json` are both made of the same list of these, so that they cannot tell different things.
package struct APIEndpoint: Sendable {
    /// Who may call it.
    package enum Callers: Sendable, Hashable {
        /// Everybody; no token is looked at.
        case anyone
        /// An account: an app with its token, or one of the operator's servers with a key and the account's name.
        case account
        /// The operator's servers, with a key.
        case server
    }

    /// Which limits of rate hold.
    package enum Limits: Sendable, Hashable {
        /// By address, and by account.
        case usual
        /// None: it costs nothing, or answers only what a proxy understands.
        case none
    }

    /// What an endpoint answers where all goes well.
    package struct Success: Sendable {
        /// The status.
        package var status: HTTPResponse.Status
        /// What it means, in a sentence.
        package var about: String
        /// The body's; nil for none.
        package var schema: APISchema?

        /// 200.
        package init(_ about: String, _ schema: APISchema?) { self.init(.ok, about, schema) }

        /// A success.
        package init(_ status: HTTPResponse.Status, _ about: String, _ schema: APISchema?) {
            self.status = status
            self.about = about
            self.schema = schema
        }
    }

    /// A value of the query.
    package struct QueryParameter: Sendable {
        /// Its name.
        package var name: String
        /// What it is.
        package var schema: APISchema
        /// A sentence about it.
        package var about: String
        /// Whether it has to be there.
        package var isRequired: Bool

        /// An optional one unless told.
        package init(_ name: String, _ schema: APISchema, _ about: String, isRequired: Bool = false) {
            self.name = name
            self.schema = schema
            self.about = about
            self.isRequired = isRequired
        }
    }

    /// What a request may carry.
    package struct Body: Sendable {
        /// An object.
        package var schema: APISchema
        /// Whether it may be left out.
        package var isOptional: Bool
        /// The most bytes that are read.
        package var most: Int

        /// A body of at most 256 KiB unless told.
        package init(_ schema: APISchema, isOptional: Bool = false, most: Int = 256 << 10) {
            self.schema = schema
            self.isOptional = isOptional
            self.most = most
        }
    }

    /// GET answers HEAD as well.
    package var method: HTTPRequest.Method
    /// Such as `/v1/features/{feature}`.
    package var path: String
    /// A name of its own, for metrics, logs and generated clients: `getAccount`.
    package var name: String
    /// What it does, in a sentence.
    package var summary: String
    /// Who may call it.
    package var callers: Callers
    /// Which limits of rate hold.
    package var limits: Limits = .usual
    /// The values of the path's parts in braces, by their names.
    package var pathSchemas: [String: APISchema] = [:]
    /// The query's values.
    package var query: [QueryParameter] = []
    /// What it takes; nil where a body is not read.
    package var body: Body?
    /// What it answers where all goes well.
    package var successes: [Success]
    /// Its own problems, beside those that come of its callers, body and limits.
    package var problems: [ProblemCode] = []
    /// How problems are written.
    package var style: ProblemStyle = .problem
    /// Whether a line is logged for each success, and not for problems alone.
    package var isLogged = false
    /// Whether it waits for the database only where that is watched already, or not at all.
    package var isWatched = false
    /// Does it; throws ``APIProblem``.
    package var answer: @Sendable (APIRequest) async throws -> APIAnswer

    /// An endpoint; what is not given can be set.
    package init(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String, for callers: Callers,
        successes: [Success], _ answer: @escaping @Sendable (APIRequest) async throws -> APIAnswer
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.summary = summary
        self.callers = callers
        self.successes = successes
        self.answer = answer
    }

    /// All problems that it may answer, each once: its own, and those of the frame.
    var allProblems: [ProblemCode] {
        var codes = problems
        switch callers {
        case .anyone: break
        case .account: codes += [.accountMissing, .tokenMissing, .tokenExpired, .tokenInvalid, .unavailable]
        case .server: codes += [.tokenMissing, .tokenExpired, .tokenInvalid, .serverKeyRequired, .unavailable]
        }
        if body != nil { codes += [.invalidRequest, .tooLarge, .unavailable] }
        if !query.isEmpty { codes.append(.invalidRequest) }
        if limits == .usual { codes.append(.rateLimited) }
        if callers != .anyone || body != nil { codes.append(.internalError) }
        var seen: Set<ProblemCode> = []
        return codes.filter { seen.insert($0).inserted }
    }
}
