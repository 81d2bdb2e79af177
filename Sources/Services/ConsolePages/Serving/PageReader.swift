import APIKit
import AccountStore
import AdminAPI
import Base
import Foundation
import HTTPKit
import HTTPTypes
import Hummingbird
import NIOCore

/// What is read of a request to a page, bit by bit: a page about what went wrong is written by what was read until then.
struct PageReader: Sendable {
    /// What the request is called in its answer and in logs.
    let id: String
    /// What it says of its caller.
    let evidence: CallerEvidence
    /// The sender's address; nil where only proxies are known.
    let sender: NetworkAddress?
    /// The secret that forms of a browser without a session are bound to; nil where it has none.
    let formSecret: String?
    /// How values are written for the reader.
    private(set) var speaker: Speaker
    /// Where the page is.
    private(set) var place = Place()
    /// The caller; nil where it is not logged in.
    var visitor: Visitor?
    /// What was asked.
    var record: CallRecord?
    private var path: [String: String] = [:]
    private var form: [String: String] = [:]

    init(_ request: Request, _ context: HTTPContext, _ router: PageRouter) {
        id = RequestID.of(request.headers)
        evidence = CallerEvidence(
            headers: request.headers, method: request.method,
            authority: request.head.authority, peer: context.peer)
        sender = router.configuration.proxies.sender(peer: context.peer, request.headers)?.party
        let cookies = router.visitors.cookies
        formSecret = cookies.value(of: .form, in: request.headers).flatMap { $0.utf8.count <= 64 ? $0 : nil }
        let view = PageView(cookies.value(of: .view, in: request.headers))
        speaker = Speaker(
            words: router.words, language: view.language ?? Language(request.headers.acceptedLanguages),
            zone: view.zone ?? PageView.utc, prefix: router.configuration.prefix,
            environment: Environment.production.rawValue,
            instant: nil)
    }

    /// Path and query, decoded and checked.
    mutating func readPlace(_ request: Request, _ context: HTTPContext) throws(APIProblem) {
        for (name, value) in context.parameters {
            guard let text = String(value).removingPercentEncoding, text.utf8.count <= 1000, !text.utf8.contains(0)
            else { throw APIProblem(.notFound, "nothing is called so") }
            path[String(name)] = text
        }
        guard let query = FormFields((request.uri.query ?? "").utf8) else {
            throw APIProblem(.invalidRequest, "the address is not one that a page has written")
        }
        var parts = request.uri.path.split(separator: "/").map { String($0).removingPercentEncoding ?? "" }
        let before = speaker.prefix.split(separator: "/").map { String($0) }
        if !before.isEmpty, parts.starts(with: before) { parts.removeFirst(before.count) }
        place = Place(parts: parts, query: query.values)
        if let environment = query.values["environment"], !environment.isEmpty {
            guard [Environment.production, .sandbox].contains(where: { $0.rawValue == environment }) else {
                throw APIProblem(.invalidRequest, "environment is Production or Sandbox")
            }
            speaker.environment = environment
        }
        if let text = query.values["at"], !text.isEmpty {
            guard let instant = ZonedTime.instant(text, in: speaker.zone) else {
                throw APIProblem(.invalidRequest, "at is an instant like 2026-01-31T12:00:00Z, or a time on your clock")
            }
            speaker.instant = instant
        }
    }

    /// What a form has sent, which a page of ours has to have made.
    /// - Parameter most: the most bytes that are read.
    mutating func readForm(_ request: Request, upTo most: Int) async throws {
        guard RequestOrigin.isOwnPage(evidence) else {
            throw APIProblem(
                .forbidden,
                ProblemText(
                    "this form was not sent by a page of the console", "此表单不是由控制台页面提交的", "此表單不是由控制台頁面提交的"))
        }
        let type = (request.headers[.contentType] ?? "").prefix { $0 != ";" }.lowercased()
        guard type == "application/x-www-form-urlencoded" else {
            throw APIProblem(.invalidRequest, "a form is sent as application/x-www-form-urlencoded")
        }
        let buffer = try await request.wholeBody(upTo: most)
        guard let fields = FormFields(buffer.readableBytesView) else {
            throw APIProblem(.invalidRequest, "the form holds what cannot be kept")
        }
        let expected = visitor?.token ?? formSecret.map { FormToken(of: $0) }
        guard let expected, expected.matches(fields.values["csrf"]) else {
            throw APIProblem(
                .forbidden,
                ProblemText(
                    "this form is of another login, or too old: load its page again", "表单已过期或属于另一次登录：请重新加载页面",
                    "表單已過期或屬於另一次登入：請重新載入頁面"))
        }
        form = fields.values
    }

    /// The request as a page sees it.
    func call(_ desk: EndpointCaller<AdminAccess>) -> PageCall {
        PageCall(
            path: path, query: place.query, form: form, visitor: visitor, speaker: speaker, evidence: evidence,
            sender: sender, desk: desk)
    }
}

/// How a reader wants pages written, as a cookie keeps it: the language and the zone.
struct PageView: Sendable, Hashable {
    /// The language; nil for what the browser says.
    var language: Language?
    /// The zone; nil for UTC.
    var zone: TimeZone?

    /// A view.
    init(language: Language?, zone: TimeZone?) {
        self.language = language
        self.zone = zone
    }

    /// Reads ``text``; of what is none of ours nothing counts.
    init(_ text: String?) {
        let parts = (text ?? "").split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        language = Language(rawValue: String(parts[0]))
        zone = ZonedTime.zone(String(parts[1]))
    }

    /// The zone of who has chosen none.
    static let utc = TimeZone(identifier: "UTC") ?? .gmt

    /// For the cookie.
    var text: String { "\(language?.rawValue ?? "")~\(zone.map { ZonedTime.name(of: $0) } ?? "")" }
}
