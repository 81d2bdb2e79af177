import APIKit
import AccountStore
import Accounts
import AuditStore
import Base
import HTTPTypes
import Operations
import Staff

extension AdminHandlers {
    /// What staff did, the latest first.
    var auditList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/audit", "listAudit",
            "Acts of staff, the latest first: actor, time, reason, before and after.", for: .staff,
            successes: [Self.auditPages(AuditFilter()).success("AuditPage", "A page of the audit.")]
        ) { try await answerAudit($0) }
        endpoint.query =
            AdminList<ShownAuditRow>.query + Opening.query + [
                .init(
                    "account", .string(.init(1, 1000)),
                    "Only about this account: its id, or token: and its appAccountToken."),
                .init(
                    "subject", .string(.init(1, 320)), "Only about this thing: a kind, a colon and its number or id."),
                .init("actor", .string(.init(1, 210)), "Only by this actor, such as staff:7 or cli:anna."),
                .init("act", .string(.init(1, 60)), "Only acts of this kind, such as grant."),
                .init("app", .string(.init(1, 255)), "Only of this app (bundle id)."),
                .init("environment", Environment.schema, "Only in this environment."),
                .init("from", .string(.init(1, 40)), "Only those from this instant on, such as 2026-01-31T12:00:00Z."),
                .init("to", .string(.init(1, 40)), "Only those before this instant."),
                Self.at(
                    "Those that there were at this instant, such as 2026-01-31T12:00:00Z; all by default. What an erasure has taken since is gone."
                ),
            ]
        endpoint.refusesFitting =
            "after is next of a page before, account names one, subject has a colon, from, to and at are instants, a file of opened texts has a reason"
        return endpoint
    }

    private func answerAudit(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        var filter = AuditFilter()
        if case .some(let apps) = member.scope { filter.apps = apps.sorted() }
        if let text = request.query["account"] { filter.account = try await namedAccount(text).token }
        if let text = request.query["subject"] {
            guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, filter.account == nil else {
                throw APIProblem(
                    .invalidRequest, "subject takes a kind, a colon and a number or id, and does not go with account")
            }
            filter.subject = (String(text[..<colon]), String(text[text.index(after: colon)...]))
        }
        (filter.actor, filter.act) = (request.query["actor"], request.query["act"])
        (filter.app, filter.environment) = (request.query["app"], request.query["environment"])
        (filter.from, filter.to) = (try Self.instant("from", request), try Self.instant("to", request))
        filter.at = try Self.instant("at", request)
        return try await Self.auditPages(filter, audit).answer(request, self)
    }

    /// An instant of the query.
    static func instant(_ name: String, _ request: AdminRequest) throws(APIProblem) -> Timestamp? {
        guard let text = request.query[name] else { return nil }
        return try instant(name, text)
    }

    /// An instant that is sent as text.
    static func instant(_ name: String, _ text: String) throws(APIProblem) -> Timestamp {
        guard let instant = Timestamp(iso8601: text) else {
            throw APIProblem(
                .invalidRequest, ProblemText(english: "\(name) takes a date like 2026-01-31 or 2026-01-31T03:00:00Z"))
        }
        return instant
    }

    /// - Parameter log: the audit; nil where only the shape of pages is needed.
    private static func auditPages(_ filter: AuditFilter, _ log: AuditLog? = nil) -> AdminList<ShownAuditRow> {
        AdminList(
            name: "rows", shape: AdminShapes.auditRow, subject: ("audit", "texts"), cursorParts: AuditLog.cursorParts,
            takes: { Int64($0.parts[0]) != nil }, openedTexts: { $0.openedTexts }
        ) { opening, cursor, limit in
            guard let log else { return ListPage() }
            return try await log.list(filter, after: cursor, limit: limit).map {
                ShownAuditRow($0, isOpen: opening.isOpen)
            }
        }
    }
}
