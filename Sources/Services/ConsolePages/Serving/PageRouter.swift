import APIKit
import AccountStore
import AdminAPI
import Base
import Foundation
import HTTPKit
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Postgres

/// What all pages share: who asks, by which way, how often; the marks of a form; how answers and errors are written, counted and logged.
struct PageRouter: Sendable {
    let pages: [Page]
    let visitors: Visitors
    let desk: EndpointCaller<AdminAccess>
    let layout: PageLayout
    let words: Words
    let gate: SchemaGate
    let watch: DatabaseWatch?
    let configuration: PageConfiguration
    let addressRates: RateLimit<NetworkAddress>
    let memberRates: RateLimit<String>
    let sentForms = SentForms()
    let metrics: PageMetrics
    let logger: Logger

    /// What the port serves beside the admin API.
    var routes: OtherRoutes {
        OtherRoutes { routes in
            // The proxy in front may pass the path as it is, or without what stands before it.
            for prefix in Set(["", configuration.prefix]) { add(to: routes, prefix) }
        } elsewhere: { request, context, problem in
            await elsewhere(request, context, problem)
        }
    }

    private func add(to routes: HTTPRoutes, _ prefix: String) {
        for path in Set(pages.map(\.path)) {
            var answers: [HTTPRequest.Method: HTTPRoutes.Answer] = [:]
            for page in pages where page.path == path {
                answers[page.method] = { request, context in await answer(request, context, page) }
            }
            // Behind a proxy the first page is where the prefix is, without a slash behind it.
            routes.serve(RouterPath(prefix.isEmpty || path != "/" ? prefix + path : prefix), answers)
        }
        for name in layout.files.names {
            routes.serve(
                RouterPath("\(prefix)/\(name)"),
                [
                    .get: { request, _ in
                        let query = FormFields((request.uri.query ?? "").utf8)
                        var response = layout.files.answer(name, version: query?.values["v"]).response
                        PageHeaders.add(to: &response.headers)
                        return response
                    }
                ])
        }
    }

    // MARK: A page

    private func answer(_ request: Request, _ context: HTTPContext, _ page: Page) async -> Response {
        let began = ContinuousClock.now
        var reader = PageReader(request, context, self)
        var response: Response
        do {
            let outcome = try await outcome(request, context, page, &reader)
            response = self.response(outcome, of: page, reader)
        } catch {
            response = self.response(error, of: page, reader)
        }
        finish(&response, reader)
        metrics.answered(page.name, response.status.code, after: .now - began)
        log(response.status.code, page, reader, after: .now - began)
        return response
    }

    private func outcome(
        _ request: Request, _ context: HTTPContext, _ page: Page, _ reader: inout PageReader
    ) async throws -> PageOutcome {
        if let sender = reader.sender, let rest = addressRates.refusal(of: sender) { throw Self.tooFast(rest) }
        guard visitors.isReachedSafely(reader.evidence) else {
            throw APIProblem(
                .forbidden,
                "over plain HTTP the console is for this machine alone: reach it by TLS, and start it with --behind-tls where a proxy speaks that"
            )
        }
        try reader.readPlace(request, context)
        reader.visitor = try await visitor(reader.evidence)
        if let visitor = reader.visitor, let rest = memberRates.refusal(of: visitor.member.actor) {
            throw Self.tooFast(rest)
        }
        guard page.access == .anyone || reader.visitor != nil else { return try withoutVisitor(page, reader) }
        if page.method == .post { try await reader.readForm(request, upTo: page.mostBytes) }
        let (call, id, place) = (reader.call(desk), reader.id, reader.place)
        reader.record = call.record
        return try await watching {
            try await RequestID.$current.withValue(id) {
                try await passGate()
                return try await once(page, call, at: place)
            }
        }
    }

    /// The outcome where the caller is not logged in.
    private func withoutVisitor(_ page: Page, _ reader: PageReader) throws -> PageOutcome {
        guard visitors.isByLogin else { throw APIProblem(.forbidden, "the proxy in front names nobody") }
        guard page.method == .get else {
            throw APIProblem(
                .tokenMissing,
                ProblemText(
                    "you are no longer logged in: nothing was done", "登录已失效，操作未执行", "登入已失效，操作未執行"))
        }
        if RequestOrigin.isOtherSite(reader.evidence.headers) {
            // The browser keeps the cookie back, as another site led here. By a page of ours it asks once more, and sends it.
            var content = PageContent(
                reader.speaker.word("one_moment"),
                [
                    .links([PageLink(reader.speaker.word("go_on"), reader.place)])
                ])
            content.refreshes = true
            return .page(content)
        }
        return .redirect(Place("login", query: ["next": reader.place == Place() ? nil : reader.place.text]))
    }

    /// Does what a form asks for, once for each form that was made.
    private func once(_ page: Page, _ call: PageCall, at here: Place) async throws -> PageOutcome {
        // What anybody may send is not remembered: strangers would push out what the staff has sent.
        guard page.method == .post, page.access != .anyone, let number = call.sent("once"), number.utf8.count <= 64
        else {
            return try await page.answer(call)
        }
        switch sentForms.take(number) {
        case .done(let place): return .redirect(place)
        case .underWay:
            throw APIProblem(
                .tooEarly, ProblemText("it is being done already: look again in a moment", "正在处理，请稍后查看", "正在處理，請稍後查看"))
        case nil: break
        }
        do {
            let outcome = try await page.answer(call)
            if case .redirect(let place, _) = outcome {
                sentForms.note(number, place)
            } else if case .page(let content) = outcome, content.status.code < 400 {
                // A secret that is shown once: the second time leads to what it is of.
                sentForms.note(number, Place(parts: here.parts.dropLast()))
            } else {
                sentForms.note(number, nil)
            }
            return outcome
        } catch {
            sentForms.note(number, nil)
            throw error
        }
    }

    private func visitor(_ evidence: CallerEvidence) async throws -> Visitor? {
        guard let watch else { return try await visitors.visitor(evidence) }
        return try await watch.watching { try await visitors.visitor(evidence) }
    }

    private func watching(_ body: @escaping @Sendable () async throws -> PageOutcome) async throws -> PageOutcome {
        guard let watch else { return try await body() }
        return try await watch.watching(body)
    }

    private func passGate() async throws {
        do {
            try await gate.pass()
        } catch is SchemaGate.Closed {
            throw APIProblem.unavailable("the database's schema is not the one of this program", retryAfter: 5)
        }
    }

    private static func tooFast(_ rest: Duration) -> APIProblem {
        let seconds = max(1, rest.components.seconds + 1)
        return APIProblem(
            .rateLimited, ProblemText("you ask too often", "请求过于频繁，请稍后重试", "請求過於頻繁，請稍後再試"),
            headers: [.retryAfter: "\(seconds)"])
    }

    // MARK: The answer

    private func response(_ outcome: PageOutcome, of page: Page, _ reader: PageReader) -> Response {
        switch outcome {
        case .page(let content): return written(content, of: page, reader)
        case .redirect(let place, let cookies): return redirection(to: reader.speaker.link(place), cookies)
        case .path(let path, let cookies): return redirection(to: configuration.prefix + path, cookies)
        case .file(let answer): return answer.response
        }
    }

    private func redirection(to path: String, _ cookies: [String]) -> Response {
        var response = Response(status: .seeOther, headers: [.location: path])
        for cookie in cookies { response.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return response
    }

    private func written(_ content: PageContent, of page: Page?, _ reader: PageReader) -> Response {
        var content = content
        var token = reader.visitor?.token
        if token == nil {
            // What a form is bound to where the visitor has no session.
            let secret = reader.formSecret ?? SessionSecret().text
            if reader.formSecret == nil { content.cookies.append(visitors.cookies.setting(.form, to: secret)) }
            token = FormToken(of: secret)
        }
        // What a form was sent to may be no page to look at.
        let place = page?.method == .post ? page?.section?.place ?? Place() : reader.place
        let bytes = layout.bytes(
            content, for: reader.visitor, token: token, in: page?.section, at: place, reader.speaker,
            reader.record, now: Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000)))
        var response = Response(
            status: content.status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        for cookie in content.cookies { response.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return response
    }

    private func response(_ error: any Error, of page: Page, _ reader: PageReader) -> Response {
        let problem = problem(error, page, reader)
        let content = ErrorPage.content(problem, id: reader.id, reader.speaker)
        var response = written(content, of: page, reader)
        for field in problem.headers where field.name == .retryAfter { response.headers.append(field) }
        return response
    }

    private func problem(_ error: any Error, _ page: Page, _ reader: PageReader) -> APIProblem {
        switch error {
        case let problem as APIProblem: return problem
        case let refusal as BodyRefusal:
            return APIProblem(
                ProblemCode(refusal.problem.status, "body", ""), ProblemText(english: refusal.problem.why))
        case is DatabaseWatch.Silence: return .unavailable("the database does not answer at the moment")
        case let error as PostgresError where error.isTransient:
            logger.warning(
                "Not done", metadata: ["request": "\(reader.id)", "page": "\(page.name)", "error": "\(error)"])
            return .unavailable("the database is not available at the moment")
        default:
            logger.error(
                "A page failed for a reason that nobody has thought of",
                metadata: ["request": "\(reader.id)", "page": "\(page.name)", "error": "\(error)"])
            return APIProblem(.internalError, "the request failed; its number says which it was in the logs")
        }
    }

    private func finish(_ response: inout Response, _ reader: PageReader) {
        PageHeaders.add(to: &response.headers)
        if let header = RequestID.header { response.headers[header] = reader.id }
        // Every page is one reader's, in one language.
        response.headers[.cacheControl] = "no-store"
        response.headers[.contentLanguage] = reader.speaker.language.rawValue
    }

    /// One line for what may have changed something, and for what was not done for a reason of ours.
    private func log(_ status: Int, _ page: Page, _ reader: PageReader, after duration: Duration) {
        let level: Logger.Level = status >= 500 ? .warning : page.method == .post && status < 400 ? .info : .debug
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "request": "\(reader.id)", "page": "\(page.name)", "status": "\(status)",
            "milliseconds": "\(Int64(duration / .milliseconds(1)))",
        ]
        if let visitor = reader.visitor { metadata["staff"] = "\(visitor.member.logName)" }
        if let sender = reader.sender { metadata["sender"] = "\(sender)" }
        logger.log(level: level, status >= 400 ? "Not done" : "Done", metadata: metadata)
    }

    /// Who asks for what is not there, so that the answer leads on; where that cannot be found out, it does without.
    private func readVisitor(_ reader: inout PageReader, _ request: Request, _ context: HTTPContext) async {
        if let sender = reader.sender, addressRates.refusal(of: sender) != nil { return }
        guard (try? reader.readPlace(request, context)) != nil,
            let visitor = try? await visitor(reader.evidence), memberRates.refusal(of: visitor.member.actor) == nil
        else { return }
        reader.visitor = visitor
    }

    /// What reaches no page: another path, or another method of one. Paths of the admin API are answered as it answers.
    private func elsewhere(_ request: Request, _ context: HTTPContext, _ problem: HTTPProblem) async -> Response? {
        let path =
            request.uri.path.hasPrefix(configuration.prefix + "/")
            ? String(request.uri.path.dropFirst(configuration.prefix.count)) : request.uri.path
        guard path != "/admin", !path.hasPrefix("/admin/"), !path.hasPrefix("//") else { return nil }
        var reader = PageReader(request, context, self)
        await readVisitor(&reader, request, context)
        let missing = APIProblem(
            problem.status == .methodNotAllowed ? .methodNotAllowed : .notFound, ProblemText(english: ""))
        let content = ErrorPage.content(missing, id: reader.id, reader.speaker)
        var response = written(content, of: nil, reader)
        if let allowed = problem.headers[.allow] { response.headers[.allow] = allowed }
        finish(&response, reader)
        metrics.answered("none", problem.status.code, after: .zero)
        return response
    }
}

extension ProblemCode {
    /// The same form is being worked on.
    fileprivate static let tooEarly = ProblemCode(.conflict, "under_way", "It is being done")
}
