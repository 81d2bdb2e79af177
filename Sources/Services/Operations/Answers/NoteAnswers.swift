package import AccountStore
package import Base
import Postgres

/// A note about a customer as it is shown: in full, or shortened.
package struct ShownStaffNote: Sendable {
    /// The note.
    package var note: StaffNote
    /// Whether texts are shown in full.
    package var isOpen: Bool

    /// A note.
    package init(_ note: StaffNote, isOpen: Bool = false) {
        self.note = note
        self.isOpen = isOpen
    }

    /// A personal text as it is shown.
    package func text(_ text: String?) -> String? { text.map { isOpen ? $0 : PersonalText.shortened($0) } }

    /// How many are shown in full.
    package var openedTexts: Int64 { isOpen ? Int64([note.account, note.text].count { $0 != nil }) : 0 }

    fileprivate var name: String? { CommandAnswer.shown(text(note.account), note.token) }
}

extension CommandAnswer {
    /// Notes, a page or several.
    package init(_ page: ListPage<ShownStaffNote>) { self.init(page, "notes", Self.note) }

    /// A note that was added.
    package init(added shown: ShownStaffNote) {
        let name = shown.name ?? "\(shown.note.token)"
        self.init(shown, Self.note, text: "recorded note #\(shown.note.id) about account \(name)")
    }

    private static let note = CommandShape<ShownStaffNote>([
        .init("id", column: "NOTE", \.note.id), .init("at", column: "WRITTEN", \.note.at),
        .init("by", column: "BY", \.note.person), .init("account") { $0.text($0.note.account) },
        .init("token", \.note.token), .column("ACCOUNT", \.name), .init("note") { $0.text($0.note.text) },
        .column("TEXT") { $0.note.erasedAt == nil ? CommandAnswer.shown($0.text($0.note.text), nil) : "(erased)" },
        .init("erased_at", \.note.erasedAt),
    ])
}
