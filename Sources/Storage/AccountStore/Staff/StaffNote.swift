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
            return try StaffNote(session.query(.notes(before: id + 1, of: token, by: nil, limit: 1)).one())
        }
    }

    /// The parts of a note's ``ListCursor``.
    package static let noteCursorParts = 1

    /// How many notes one page looks through at most, where an actor is asked for.
    package static let mostNotesLookedThrough = 10_000

    /// Notes, the latest first. An index answers it; only for an actor's a page looks through others.
    /// - Parameters:
    ///   - token: about this account; nil for all.
    ///   - person: by this actor, as the audit names them; nil for any.
    ///   - instant: that were written by then; nil for all. The text of one that was erased since is gone.
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many are looked through for an actor's.
    /// - Throws: `PostgresError`.
    package func notes(
        about token: UniqueIdentifier? = nil, by person: String? = nil, at instant: Timestamp? = nil,
        after cursor: ListCursor? = nil, limit: Int, lookingThrough most: Int = AccountStore.mostNotesLookedThrough
    ) async throws -> ListPage<StaffNote> {
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        let place = try await pool.place(behind: then, in: "storehook.staff_notes", by: "at")
        let last = min(cursor.flatMap { Int64($0.parts[0]) } ?? .max, place)
        let window = max(most, limit)
        let floor = person == nil || token != nil ? nil : try await noteFloor(before: last, window)
        let rows = try await pool.query(
            .notes(before: last, from: floor, of: token.map { UUID($0) }, by: person, at: then, limit: limit + 1))
        let page = try rows.prefix(limit).map { try StaffNote($0) }
        if rows.count > limit { return ListPage(page, next: page.last.map { ListCursor(behind: ["\($0.id)"]) }) }
        guard let floor else { return ListPage(page) }
        return ListPage(page, next: ListCursor(behind: ["\(floor)"]), lookedThrough: window)
    }

    /// The last note that a page looks through; nil where there are fewer.
    private func noteFloor(before last: Int64, _ window: Int) async throws -> Int64? {
        try await pool.query(
            PostgresQuery(
                "notes.list_end",
                """
                select n.id from storehook.staff_notes n where n.id < \(last)
                 order by n.id desc offset \(Int64(window) - 1) limit 1
                """)
        ).first?.decode(0)
    }
}

extension PostgresQuery {
    /// - Parameters:
    ///   - last: a number; those below it are read.
    ///   - first: the least number that is read.
    ///   - instant: those that were written by then; nil for all.
    fileprivate static func notes(
        before last: Int64, from first: Int64? = nil, of token: UUID?, by person: String?,
        at instant: PostgresTimestamp? = nil, limit: Int
    ) -> PostgresQuery {
        PostgresQuery(
            "notes.list",
            """
            select n.id, n.token, \(unescaped: AccountName.column(token: "n.token")), n.at, n.recorded_by, n.body, n.erased_at
              from storehook.staff_notes n
              left join storehook.accounts a on a.token = n.token
             where n.id < \(last) and (\(first)::bigint is null or n.id >= \(first))
               and (\(token)::uuid is null or n.token = \(token))
               and (\(person)::text is null or n.recorded_by = \(person))
               and (\(instant)::timestamptz is null or n.at <= \(instant))
             order by n.id desc
             limit \(Int64(limit))
            """)
    }
}
