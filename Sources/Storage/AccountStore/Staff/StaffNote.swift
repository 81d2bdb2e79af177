package import Accounts
package import Base
import Foundation
package import Postgres
import PurchaseStore

/// What a member of the staff wrote about a customer.
package struct StaffNote: Sendable, Hashable {
    /// Its number.
    package var id: Int64
    /// The account's token.
    package var token: UniqueIdentifier
    /// What the app's own tokens call the account; nil where none has named it, or it was erased.
    package var account: String?
    /// When it was written.
    package var at: PostgresTimestamp
    /// The actor.
    package var person: String
    /// The text; nil where an erasure took it.
    package var text: String?
    /// When an erasure took it.
    package var erasedAt: PostgresTimestamp?

    fileprivate init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        token = UniqueIdentifier(try row.decode("token", as: UUID.self))
        account = try row.decode("account")
        at = try row.decode("at")
        person = try row.decode("recorded_by")
        text = try row.decode("body")
        erasedAt = try row.decode("erased_at")
    }
}

extension AccountStore {
    /// The longest note, in characters (Unicode scalars).
    package static let longestNote = 1000

    /// Adds a note about a customer. The database takes it into the audit when the transaction commits.
    /// - Parameters:
    ///   - text: 1 to ``longestNote`` characters.
    ///   - person: who writes it.
    /// - Returns: the note; nil where no such account is known, also not as one that was handed its token.
    /// - Throws: `PostgresError`.
    package func addNote(
        _ text: String, about account: AccountIdentity, by person: String
    ) async throws -> StaffNote? {
        let token = UUID(account.token)
        return try await pool.withTransaction(TransactionOptions(isDurable: true, name: "notes.add")) { session in
            let isKnown: Bool = try session.query(
                PostgresQuery(
                    "notes.account",
                    """
                    select exists (select from storehook.accounts where token = \(token))
                        or exists (select from storehook.account_names where token = \(token))
                    """)
            ).one().decode(0)
            guard isKnown else { return nil }
            let id: Int64 = try session.query(
                PostgresQuery(
                    "notes.add",
                    """
                    insert into storehook.staff_notes (token, recorded_by, body)
                    values (\(token), \(String(person.prefix(200))), \(text))
                    returning id
                    """)
            ).one().decode(0)
            return try StaffNote(session.query(.notes(before: id + 1, of: token, limit: 1)).one())
        }
    }

    /// The parts of a note's ``ListCursor``.
    package static let noteCursorParts = 1

    /// Notes, the latest first. An index answers it.
    /// - Parameters:
    ///   - token: about this account; nil for all.
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    /// - Throws: `PostgresError`.
    package func notes(
        about token: UniqueIdentifier? = nil, after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<StaffNote> {
        let last = cursor.flatMap { Int64($0.parts[0]) } ?? .max
        let rows = try await pool.query(.notes(before: last, of: token.map { UUID($0) }, limit: limit + 1))
        let page = try rows.prefix(limit).map { try StaffNote($0) }
        return ListPage(page, next: rows.count > limit ? page.last.map { ListCursor(behind: ["\($0.id)"]) } : nil)
    }
}

extension PostgresQuery {
    /// - Parameter last: a number; those below it are read.
    fileprivate static func notes(before last: Int64, of token: UUID?, limit: Int) -> PostgresQuery {
        PostgresQuery(
            "notes.list",
            """
            select n.id, n.token, \(unescaped: AccountName.column(token: "n.token")), n.at, n.recorded_by, n.body, n.erased_at
              from storehook.staff_notes n
              left join storehook.accounts a on a.token = n.token
             where n.id < \(last) and (\(token)::uuid is null or n.token = \(token))
             order by n.id desc
             limit \(Int64(limit))
            """)
    }
}
