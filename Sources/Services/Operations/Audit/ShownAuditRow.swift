package import AuditStore
package import Base
import Postgres

/// A row of the audit as it is shown: its personal text in full, or shortened.
package struct ShownAuditRow: Sendable {
    /// The row.
    package var row: AuditRow
    /// Whether the text is shown in full.
    package var isOpen: Bool

    /// A row.
    package init(_ row: AuditRow, isOpen: Bool) {
        self.row = row
        self.isOpen = isOpen
    }

    /// A personal text by its name, as it is shown.
    package func text(_ name: String) -> String? {
        row.text.members[name].map { isOpen ? $0 : PersonalText.shortened($0) }
    }

    /// When an erasure took the text.
    package var textErasedAt: Timestamp? {
        guard case .erased(let at) = row.text else { return nil }
        return at
    }
}

extension CommandShape<ShownAuditRow> {
    /// The members of a row, in the order of the columns of CSV: the place first and the hash last.
    static let audit = CommandShape<ShownAuditRow>([
        .init("place", column: "ROW", \.row.place), .init("at", column: "AT", \.row.at),
        .init("actor", \.row.actor), .init("proven", \.row.isProven),
        .column("BY") { CommandAnswer.shown($0.row.actor, nil) },
        .init("role", column: "ROLE", \.row.role), .init("act", column: "ACT", \.row.act),
        .init("environment", \.row.environment), .init("app", column: "APP", \.row.app),
        .init("subject_kind", \.row.subjectKind), .init("subject", \.row.subject),
        .column("WHAT") { CommandAnswer.shown("\($0.row.subjectKind) \($0.row.subject)", nil) },
        .init("account", \.account), .init("name", \.name), .init("mail", \.mail), .init("why", \.why),
        .init("note", \.note), .init("text_erased_at", \.textErasedAt),
        .column("WHY") { $0.textErasedAt == nil ? CommandAnswer.shown($0.why, nil) : "(erased)" },
        .init("before", column: "BEFORE", \.row.before), .init("after", column: "AFTER", \.row.after),
        .init("record", \.row.record), .init("login", \.row.login),
        .init("text_digest") { $0.row.textDigest.map { AuditMark.hex($0) } },
        .init("previous") { AuditMark.hex($0.row.previous) }, .init("hash") { AuditMark.hex($0.row.hash) },
    ])
}

extension ShownAuditRow {
    fileprivate var account: String? { text("account") }
    fileprivate var name: String? { text("name") }
    fileprivate var mail: String? { text("mail") }
    fileprivate var why: String? { text("why") }
    fileprivate var note: String? { text("note") }

    /// How many texts are shown in full.
    package var openedTexts: Int64 { isOpen ? Int64(row.text.members.count) : 0 }
}
