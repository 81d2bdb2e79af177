import AccountStore
import Base
import Operations
import Postgres

extension AdminShapes {
    /// A note about a customer.
    static let note = Shape<ShownStaffNote, Void>(
        "StaffNote",
        [
            .init("id", "Its number.") { $0.note.id }, .init("at") { Timestamp($0.note.at) },
            .init("by", "staff: and a member's number, or cli: and a name that is not proven.") { $0.note.person },
            .init("account", "Its id in the app's own tokens, shortened unless it is opened.") {
                $0.text($0.note.account)
            },
            .init("appAccountToken") { $0.note.token },
            .init("note", "Shortened unless it is opened; null where an erasure took it.") { $0.text($0.note.text) },
            .init("erasedAt", "When an erasure took the text.") { $0.note.erasedAt.map { Timestamp($0) } },
        ])
}
