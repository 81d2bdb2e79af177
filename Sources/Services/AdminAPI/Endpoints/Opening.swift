import APIKit
import AccountStore
import AuditStore
import Base
import HTTPTypes
import Staff

/// Whether an answer shows personal texts in full, which is put on record.
struct Opening: Sendable {
    /// Whether they are.
    let isOpen: Bool
    /// Whether they leave storehook as a file.
    let isExport: Bool
    private let actor: String
    private let reason: String?
    private let subject: (kind: String, reference: String)
    private let audit: AuditLog

    /// - Parameter subject: what the texts belong to: an account by its token, or a list.
    /// - Throws: ``APIProblem`` where the member may not, or a reason is missing.
    init(
        _ request: AdminRequest, isExport: Bool, of subject: (kind: String, reference: String),
        _ handlers: AdminHandlers
    ) async throws {
        let reason = request.query["reason"].flatMap { $0.contains { !$0.isWhitespace } ? $0 : nil }
        isOpen = request.query["open"] == "true"
        if isOpen {
            actor = try await handlers.member(
                request, for: isExport ? .exportPersonalText(hasReason: reason != nil) : .openPersonalText
            ).actor
        } else {
            actor = try handlers.member(request).actor
        }
        self.isExport = isExport
        self.reason = reason
        self.subject = subject
        audit = handlers.audit
    }

    /// Personal texts shortened, for the answer of an act.
    init(shortening member: StaffMember, _ audit: AuditLog) {
        (isOpen, isExport, reason) = (false, false, nil)
        actor = member.actor
        subject = ("", "")
        self.audit = audit
    }

    /// Puts on record that so many texts are about to be shown.
    func note(_ count: Int64) async throws {
        guard isOpen, count > 0 else { return }
        try await audit.noteOpened(by: actor, why: reason, count: count, isExport: isExport, of: subject)
    }

    /// A personal text as it is shown.
    func text(_ text: String?) -> String? { text.map { isOpen ? $0 : PersonalText.shortened($0) } }

    /// The values of the query that ask for it.
    static let query = [
        APIQueryParameter(
            "open", .boolean,
            "Whether account ids, names and reasons are shown in full, on record; it takes the role support."),
        APIQueryParameter("reason", .string(.init(1, 1000)), "Why they are, for the record; a file has to have one."),
    ]
}
