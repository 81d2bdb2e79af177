import AppStorePayloads
package import Base
import Foundation
package import Postgres
import PurchaseStore

/// How many bytes an account's callers may add to the database in a day of UTC: ten million, whatever the number of processes.
///
/// Consents, attempts to buy, profiles, keys of usage, and evidence that apps hand in are counted. A row counts with its indexes; the weights are
/// measured, and `WriteBudgetTests` checks them. A call that repeats an earlier one writes nothing, and spends nothing.
/// The one statement that spends is the schema's, `spend_write_budget`; keys of usage are paid for inside `count_usage`.
///
/// Locks are taken in one order: the token of consents, the budget, purchases, accounts.
package enum WriteBudget {
    /// The account's budget of the day does not suffice. Nothing was written.
    package struct Exhausted: Error, Sendable, Hashable {
        /// Seconds until the day of UTC ends by the database's clock, 1 to 86,400.
        package let retryAfter: Int

        /// The rest of the day of an instant of the database's.
        init(at clock: PostgresTimestamp) {
            let seconds = Int(Timestamp(clock).millisecondsSince1970 / 1000 % 86_400)
            retryAfter = 86_400 - (seconds + 86_400) % 86_400
        }
    }

    /// Spends in the caller's transaction, and holds the account's budget until it ends.
    /// - Parameter bytes: 0 or less spends and holds nothing.
    /// - Throws: ``Exhausted``; then nothing was spent, and the transaction may go on. `PostgresError`.
    package static func spend(
        _ bytes: Int, of account: UniqueIdentifier, _ session: borrowing PostgresSession
    ) throws {
        guard bytes > 0 else { return }
        let row = try session.query(
            PostgresQuery(
                "budget.spend",
                """
                select storehook.spend_write_budget(\(UUID(account)), \(Int64(bytes))) as is_within, now() as clock
                """)
        ).one()
        guard try row.decode("is_within", as: Bool.self) else { throw Exhausted(at: try row.decode("clock")) }
    }

    /// Deletes the budgets of days that are over, in portions.
    /// - Returns: how many.
    package static func dropOld(_ pool: PostgresPool) async throws -> Int64 {
        try await Portions.repeating { portion in
            try await pool.query(
                PostgresQuery(
                    "budget.drop",
                    // Kept for a day more: a transaction that began before midnight may still spend of it.
                    """
                    delete from storehook.write_budgets
                     where ctid = any (array(select b.ctid from storehook.write_budgets b
                                              where b.day < (now() at time zone 'UTC')::date - 1
                                              order by b.day
                                              limit \(portion)))
                    """)
            ).affectedRows
        }
    }

    /// Deletes an account's budget, for its erasure, and holds it. The caller has locked no purchase and no account yet.
    /// - Returns: whether there was one.
    package static func erase(_ account: UniqueIdentifier, _ session: borrowing PostgresSession) throws -> Bool {
        try session.query(
            PostgresQuery("budget.erase", "delete from storehook.write_budgets where token = \(UUID(account))")
        ).affectedRows > 0
    }
}

/// The price of a row: the bytes that it takes in the database with its indexes, rounded up. Each has the measured number in its comment.
package enum WriteWeight {
    /// An attempt to buy: 170 bytes, 40 more until orders took note of it, and its texts. Long texts leave room in their pages that no other row fits in.
    /// - Parameter texts: what the app wrote; nil for what it did not.
    package static func attempt(_ texts: [String?]) -> Int {
        240 + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } * 3 / 2
    }

    /// A profile: 200 bytes, and its texts, once in the row and once in an index.
    /// - Parameter texts: name and mail address; nil for what is missing.
    package static func profile(_ texts: [String?]) -> Int {
        250 + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } * 5 / 2
    }

    /// A consent without its text, and the note that it was superseded: 290 bytes with a short name.
    package static func consent(of account: String) -> Int { 320 + account.utf8.count * 3 / 2 }

    /// A text of a consent that is not stored yet: 180 bytes, and the text in pieces.
    package static func consentText(_ text: String) -> Int { 200 + text.utf8.count * 3 / 2 }

    /// A record that an app hands in: its bytes, and the facts, states and events that come of it. 5,400 bytes where each record is of
    /// another purchase.
    /// - Parameter bytes: the record's own, without what is stored elsewhere.
    package static func evidence(_ bytes: Int) -> Int { 5_000 + bytes * 3 }

    /// A receipt, or Apple's answer to one. Nothing is derived from it.
    package static func receipt(_ bytes: Int) -> Int { 1_000 + bytes * 5 / 4 }
}
