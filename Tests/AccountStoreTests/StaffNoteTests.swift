import AccountStore
import Accounts
import AuditStore
import Base
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// What staff writes about customers.
struct StaffNoteTests {
    private func prepared(_ body: (AccountDatabase, AuditLog) async throws -> Void) async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "cli:test")
            try await database.apply([
                Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1)),
                Purchases.period(purchase(2), "basic", from: -5, to: 25, account: token(2)),
            ])
            // One that was handed its token, and bought nothing.
            try await hand(3, database)
            try await body(database, AuditLog(database.pool))
        }
    }

    private func hand(_ number: Int, _ database: AccountDatabase) async throws {
        try await database.pool.query(
            "insert into storehook.account_names (token, account) values (\(UUID(token(number))), \(name(number)))")
    }

    @Test func `A note about who is known is kept and on record; of others there is none`() async throws {
        try await prepared { database, log in
            let store = database.store
            let before = try await log.tail().place
            #expect(try await store.addNote("who?", about: account(9), by: "cli:anna") == nil)
            #expect(try await log.tail().place == before)
            for (number, text) in [(1, "called"), (3, "asked before buying"), (1, "called again")] {
                let note = try #require(try await store.addNote(text, about: account(number), by: "cli:anna"))
                #expect(note.token == token(number) && note.text == text && note.person == "cli:anna")
                #expect(note.account == (number == 3 ? name(3) : nil) && note.erasedAt == nil)
                let row = try #require(try await log.rows(after: 0, through: .max).last)
                #expect(row.act == "add_note" && row.actor == "cli:anna" && row.role == "admin" && row.before == nil)
                #expect(row.subjectKind == "account" && row.subject == "\(token(number))")
                #expect(row.record == "staff_notes:\(note.id)" && row.after == #"{"note": \#(note.id)}"#)
                #expect(row.text.members == (number == 3 ? ["account": name(3), "note": text] : ["note": text]))
            }
            #expect(
                try await store.notes(limit: 9).elements.map(\.text) == [
                    "called again", "asked before buying", "called",
                ])
            #expect(
                try await store.notes(about: token(1), limit: 9).elements.map(\.text) == ["called again", "called"])
            #expect(try await store.notes(about: token(2), limit: 9).elements.isEmpty)
            let first = try await store.notes(limit: 2)
            let next = try #require(first.next)
            let second = try await store.notes(after: next, limit: 2)
            #expect(first.elements.count == 2 && second.elements.map(\.text) == ["called"] && second.next == nil)
            #expect(
                try await store.notes(by: "cli:anna", limit: 2).elements.map(\.text) == [
                    "called again", "asked before buying",
                ])
            let bounded = try await store.notes(by: "cli:ben", limit: 1, lookingThrough: 2)
            #expect(bounded.elements.isEmpty && bounded.lookedThrough == 2)
            let place: ListCursor = try #require(bounded.next)
            let end = try await store.notes(by: "cli:ben", after: place, limit: 1, lookingThrough: 2)
            #expect(end.elements.isEmpty && end.next == nil && end.lookedThrough == nil)
            #expect(try await store.notes(about: token(1), by: "cli:ben", limit: 9, lookingThrough: 1).elements.isEmpty)
            // A note does not make an account a customer.
            #expect(try await store.known([token(3)]).map(\.isCustomer) == [false])
            for text in ["", String(repeating: "x", count: 1001)] {
                await #expect(throws: PostgresError.self) {
                    try await store.addNote(text, about: account(1), by: "cli:anna")
                }
            }
            #expect(try await log.verify().fault == nil)
        }
    }

    @Test func `An erasure takes the text of notes here and in the audit, and leaves those about others`() async throws
    {
        try await prepared { database, log in
            for number in [1, 2, 3] {
                _ = try await database.store.addNote("private \(number)", about: account(number), by: "cli:anna")
            }
            for number in [1, 3] {
                let erased = try #require(try await database.pipeline.erase(account(number), by: "cli:kim"))
                #expect(erased.textsForgotten == 1, "\(number)")
            }
            let notes = try await database.store.notes(limit: 9).elements
            #expect(notes.map(\.text) == [nil, "private 2", nil] && notes.map(\.account) == [nil, nil, nil])
            #expect(notes.map { $0.erasedAt != nil } == [true, false, true])
            #expect(notes.allSatisfy { $0.person == "cli:anna" }, "who wrote it stays, as in the audit")
            let rows = try await log.rows(after: 0, through: .max).filter { $0.act == "add_note" }
            #expect(rows.map { $0.text.members["note"] } == [nil, "private 2", nil])
            #expect(try await log.verify().fault == nil)
            // Who comes back after the erasure is written about anew, and erased anew.
            _ = try await database.store.addNote("is back", about: account(1), by: "cli:anna")
            #expect(try await database.pipeline.erase(account(1), by: "cli:kim")?.textsForgotten == 1)
            #expect(try await database.store.notes(about: token(1), limit: 9).elements.map(\.text) == [nil, nil])
        }
    }

    @Test(arguments: [1, 3])
    func `A note that is written while its account is erased is erased, too`(number: Int) async throws {
        try await prepared { database, log in
            let writing = try await HeldTransaction(
                in: database.database,
                """
                insert into storehook.staff_notes (token, recorded_by, body)
                values (\(UUID(token(number))), 'cli:anna', 'a private matter')
                """)
            async let erased = database.pipeline.erase(account(number), by: "cli:kim")
            try await eventually("the erasure waits for the note") {
                try await database.value(
                    """
                    select count(*) > 0 from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock' and wait_event <> 'advisory'
                    """)
            }
            try await writing.release()
            #expect(try await erased != nil)
            #expect(try await database.store.notes(limit: 9).elements.map(\.text) == [nil])
            let left: Int64 = try await database.value(
                "select count(*) from storehook.audit_texts where body like '%a private matter%'")
            #expect(left == 0)
            #expect(try await log.verify().fault == nil)
        }
    }
}
