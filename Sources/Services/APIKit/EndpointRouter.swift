import AppStorePayloads
import Base
import Foundation
package import HTTPKit
import HTTPTypes
package import Hummingbird
package import Logging
import NIOCore
import Postgres

/// What all endpoints share: callers, rate limits, body limits, how problems are written, what is counted and logged.
package struct EndpointRouter<Identification: CallerIdentification>: Sendable {
    package typealias Access = Identification.Access

    private let endpoints: [APIEndpoint<Access>]
    private let callers: Identification
    private let gate: SchemaGate
    private let watch: DatabaseWatch?
    private let proxies: TrustedProxies
    private let cors: CORSPolicy
    private let callerRates: RateLimit<String>
    private let addressRates: RateLimit<NetworkAddress>
    private let largeBodies: LargeBodies
    private let metrics: APIMetrics
    private let logger: Logger
    private let nothingHere: ProblemText
    private let prefix: String

    /// A router.
    /// - Parameters:
    ///   - description: the path of the description, which answers about other paths name.
    ///   - gate: opens once the schema has been seen to fit.
    ///   - watch: notices that the database is silent; nil to do without.
    package init(
        _ endpoints: [APIEndpoint<Access>], _ callers: Identification, _ gate: SchemaGate, _ watch: DatabaseWatch?,
        _ configuration: APIConfiguration, describedAt description: String = "/openapi.json", metrics: APIMetrics,
        logger: Logger
    ) {
        nothingHere = ProblemText(
            "there is nothing here; see \(description)", "接口不存在；请参阅 \(description)", "介面不存在；請參閱 \(description)")
        self.endpoints = endpoints
        self.callers = callers
        self.gate = gate
        self.watch = watch
        proxies = configuration.http.trustedProxies
        prefix = configuration.prefix
        cors = configuration.cors
        callerRates = RateLimit(perMinute: configuration.callerRate.perMinute, burst: configuration.callerRate.burst)
        addressRates = RateLimit(perMinute: configuration.addressRate.perMinute, burst: configuration.addressRate.burst)
        largeBodies = LargeBodies(budget: configuration.bodyMemory)
        self.metrics = metrics
        self.logger = logger
    }

    /// The routes of all endpoints.
    /// - Parameter others: what the same port serves beside them.
    package func router(beside others: OtherRoutes? = nil) -> Router<HTTPContext> {
        let routes = HTTPRoutes(elsewhere: nothingHere.english) { request, context, next in
            let began = ContinuousClock.now
            return await elsewhere(request, began, { await others?.elsewhere(request, context, $0) }) {
                try await next(request, context)
            }
        }
        for path in Set(endpoints.map(\.path)) {
            var answers: [HTTPRequest.Method: HTTPRoutes.Answer] = [:]
            for endpoint in endpoints where endpoint.path == path {
                answers[endpoint.method] = { request, context in
                    await answer(request, context, endpoint)
                }
            }
            // The proxy in front may pass the path as it is, or without what stands before it.
            for place in Set(["", prefix]) { routes.serve(RouterPath(place + path), answers) }
        }
        others?.add(routes)
        return routes.router
    }

    /// What reaches no endpoint: another path, another method, a browser's question.
    /// - Parameter page: the answer where the path belongs to another part of the port; nil where it belongs to none.
    private func elsewhere(
        _ request: Request, _ began: ContinuousClock.Instant, _ page: (HTTPProblem) async -> Response?,
        _ next: () async throws -> Response
    ) async -> Response {
        if let preflight = cors.preflight(request) { return preflight.response }
        do {
            return try await next()
        } catch let problem as HTTPProblem {
            if let page = await page(problem) { return page }
            let answer = APIProblem(
                problem.status == .methodNotAllowed ? .methodNotAllowed : .notFound,
                problem.status == .methodNotAllowed ? ProblemText(english: problem.why) : nothingHere,
                headers: problem.headers)
            metrics.answered(APIMetrics.elsewhere, problem.status.code, after: .now - began)
            let headers = request.headers
            var response = ProblemStyle.problem.answer(answer) { AnswerLanguage(headers.acceptedLanguages) }.response
            finish(&response, request, RequestID.of(request.headers))
            return response
        } catch {
            metrics.answered(APIMetrics.elsewhere, 500, after: .now - began)
            return Response(status: .internalServerError)
        }
    }

    /// Answers a request to an endpoint; counts and logs it.
    private func answer(_ request: Request, _ context: HTTPContext, _ endpoint: APIEndpoint<Access>) async -> Response {
        let began = ContinuousClock.now
        var call = APIRequest<Access>(
            id: RequestID.of(request.headers), route: "\(endpoint.method) \(endpoint.path)", path: [:], query: [:],
            headers: request.headers,
            sender: proxies.sender(peer: context.peer, request.headers)?.party)
        let evidence = CallerEvidence(
            headers: request.headers, method: endpoint.method, authority: request.head.authority, peer: context.peer)
        call.isStillGood = { [callers] in callers.areStillGood(evidence) }
        call.cutOff = context.cutOff
        var answer: APIAnswer
        var isProblem = false
        var room: LargeBodies.Room?
        defer { room?.release() }
        do {
            try await prepare(&call, by: evidence, &room, request, context, endpoint)
            answer = try await RequestID.$current.withValue(call.id) { try await handle(call, endpoint) }
        } catch {
            isProblem = true
            answer = endpoint.style.answer(problem(error, call, endpoint)) { AnswerLanguage(call.languages) }
        }
        let duration = ContinuousClock.now - began
        metrics.answered(endpoint.name, answer.status.code, after: duration)
        log(answer, isProblem: isProblem, call, endpoint, duration)
        var response = answer.response
        finish(&response, request, call.id)
        return response
    }

    /// What every answer has.
    private func finish(_ response: inout Response, _ request: Request, _ id: String) {
        if let header = RequestID.header { response.headers[header] = id }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        cors.add(to: &response.headers, for: request.headers)
    }

    // MARK: Before the handler

    private func prepare(
        _ call: inout APIRequest<Access>, by evidence: CallerEvidence, _ room: inout LargeBodies.Room?,
        _ request: Request, _ context: HTTPContext, _ endpoint: APIEndpoint<Access>
    ) async throws {
        // A request that comes too soon is refused before anything is looked at, unless it claims to be trusted: then its
        // credentials come first.
        let claimsTrust = callers.claimsTrust(request.headers)
        if !claimsTrust { try limitAddress(call, endpoint) }
        try await identify(&call, by: evidence, endpoint, claimsTrust: claimsTrust)
        if endpoint.limits == .usual, let key = call.caller.flatMap(callers.rateKey),
            let rest = callerRates.refusal(of: key)
        {
            metrics.limited(by: .account)
            throw Self.tooFast(
                ProblemText("this account asks too often", "此账号的请求过于频繁，请稍后重试", "此帳號的請求過於頻繁，請稍後再試"), rest)
        }
        try readPlace(&call, request, context, endpoint)
        if let body = endpoint.body { call.body = try await read(body, of: request, by: call.caller, &room) }
    }

    private func identify(
        _ call: inout APIRequest<Access>, by evidence: CallerEvidence, _ endpoint: APIEndpoint<Access>,
        claimsTrust: Bool
    ) async throws {
        guard !endpoint.access.isOpen else {
            if claimsTrust { try limitAddress(call, endpoint) }
            return
        }
        do {
            // Noted before it is refused, for the log.
            let caller = try await callers.caller(of: evidence)
            call.caller = caller
            if let refusal = endpoint.access.refusal(of: caller) { throw refusal }
        } catch let refusal as CallerRefusal {
            if claimsTrust { try limitAddress(call, endpoint) }
            refusal.onAnswer()
            throw refusal.problem
        }
    }

    private func limitAddress(_ call: APIRequest<Access>, _ endpoint: APIEndpoint<Access>) throws(APIProblem) {
        guard endpoint.limits == .usual, let sender = call.sender, let rest = addressRates.refusal(of: sender) else {
            return
        }
        metrics.limited(by: .address)
        throw Self.tooFast(
            ProblemText(
                "too many requests come from this address", "来自此地址的请求过多，请稍后重试", "來自此位址的請求過多，請稍後再試"), rest)
    }

    private static func tooFast(_ why: ProblemText, _ rest: Duration) -> APIProblem {
        // Rounded up: a request after that time is not refused again.
        let seconds = rest.components.seconds + (rest.components.attoseconds > 0 ? 1 : 0)
        return APIProblem(.rateLimited, why, headers: [.retryAfter: "\(max(1, seconds))"])
    }

    /// Path and query, decoded and checked.
    private func readPlace(
        _ call: inout APIRequest<Access>, _ request: Request, _ context: HTTPContext, _ endpoint: APIEndpoint<Access>
    ) throws(APIProblem) {
        for (name, value) in context.parameters {
            guard let text = String(value).removingPercentEncoding, APIEndpoint<Access>.takes(inPath: text) else {
                throw APIProblem(.notFound, nothingHere)
            }
            call.path[String(name)] = text
        }
        guard !endpoint.query.isEmpty else { return }
        for (name, value) in request.uri.queryParameters where call.query[String(name)] == nil {
            call.query[String(name)] = String(value)
        }
        try endpoint.check(query: call.query)
    }

    /// - Parameter room: what a long body takes, until it is answered.
    private func read(
        _ body: APIBody, of request: Request, by caller: Access.Caller?, _ room: inout LargeBodies.Room?
    ) async throws -> JSONObject? {
        let key = caller.flatMap(callers.rateKey)
        var taken: LargeBodies.Room?
        defer { room = taken }
        let bytes = try await request.wholeBody(upTo: body.most, short: LargeBodies.shortest) {
            (most) async throws(BodyRefusal) in taken = try await largeBodies.room(for: most, of: key)
        }
        if bytes.isEmpty, body.isOptional { return nil }
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, maximumValues: APIBody.maximumValues)
        } catch {
            throw APIProblem(
                .invalidRequest,
                ProblemText("the body is no JSON that is read here: \(error)", "请求体不是有效的 JSON", "請求內文不是有效的 JSON"))
        }
        guard let object = document.object else {
            throw APIProblem(
                .invalidRequest,
                ProblemText("the body must be a JSON object", "请求体必须是 JSON 对象", "請求內文必須是 JSON 物件"))
        }
        if let fault = body.schema.fault(in: object) { throw APIProblem(.invalidRequest, fault) }
        return object
    }

    /// Answers once all that came before is in order.
    private func handle(_ call: APIRequest<Access>, _ endpoint: APIEndpoint<Access>) async throws -> APIAnswer {
        // What needs no caller needs no database.
        guard !endpoint.access.isOpen else { return try await endpoint.answer(call) }
        guard let watch, !endpoint.isWatched || gate.whyClosed != nil else {
            try await passGate()
            return try await endpoint.answer(call)
        }
        return try await watch.watching {
            try await passGate()
            return try await endpoint.answer(call)
        }
    }

    private func passGate() async throws {
        do {
            try await gate.pass()
        } catch let closed as SchemaGate.Closed {
            throw APIProblem.unavailable(
                "the database's schema is not the one of this program", retryAfter: 5
            ).logging("\(closed)")
        }
    }

    // MARK: After the handler

    private func problem(_ error: any Error, _ call: APIRequest<Access>, _ endpoint: APIEndpoint<Access>) -> APIProblem
    {
        switch error {
        case let problem as APIProblem: return problem
        case let refusal as BodyRefusal:
            let why = refusal.problem.why
            let (code, detail): (ProblemCode, ProblemText) =
                switch refusal {
                case .tooLarge(let limit):
                    (.tooLarge, ProblemText(why, "请求内容超过 \(limit) 字节", "請求內容超過 \(limit) 位元組"))
                case .incomplete: (.invalidRequest, ProblemText(why, "请求体不完整", "請求內文不完整"))
                case .busy: (.unavailable, ProblemText(english: why))
                }
            return APIProblem(code, detail, headers: refusal.problem.headers)
        case is DatabaseWatch.Silence:
            return .unavailable("the database does not answer at the moment").logging("the database is silent")
        case let error as PostgresError where error.isTransient:
            return .unavailable("the database is not available at the moment").logging("\(error)")
        default:
            logger.error(
                "A request failed for a reason that nobody has thought of",
                metadata: ["request": "\(call.id)", "endpoint": "\(endpoint.name)", "error": "\(error)"])
            return APIProblem(
                .internalError,
                ProblemText(
                    "the request failed; its number says which it was in the logs", "请求失败；可凭请求编号在日志中查找",
                    "請求失敗；可憑請求編號在記錄中查找"))
        }
    }

    /// One line a request that matters: what changed something, what handlers say is worth it, and what was not done for a reason
    /// of ours. What reads goes unsaid, and what was refused is counted.
    private func log(
        _ answer: APIAnswer, isProblem: Bool, _ call: APIRequest<Access>, _ endpoint: APIEndpoint<Access>,
        _ duration: Duration
    ) {
        let level: Logger.Level =
            answer.status.code >= 500
            ? .warning : endpoint.isLogged || !isProblem && !answer.log.isEmpty ? .info : .debug
        guard logger.logLevel <= level else { return }
        var metadata = answer.log
        metadata["request"] = "\(call.id)"
        metadata["endpoint"] = "\(endpoint.name)"
        metadata["status"] = "\(answer.status.code)"
        metadata["milliseconds"] = "\(Int64(duration / .milliseconds(1)))"
        if let caller = call.caller { metadata.merge(callers.metadata(of: caller)) { _, caller in caller } }
        if let sender = call.sender { metadata["sender"] = "\(sender)" }
        logger.log(level: level, isProblem ? "Not done" : "Done", metadata: metadata)
    }
}

extension APIProblem {
    /// The same with what happened in its log line.
    fileprivate func logging(_ error: String) -> APIProblem {
        var problem = self
        problem.log["error"] = "\(error)"
        return problem
    }
}
