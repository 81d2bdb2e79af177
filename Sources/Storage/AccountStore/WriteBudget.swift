import AppStorePayloads
package import Base
import Foundation
package import Postgres
import PurchaseStore

/// How many bytes an account's callers may add to the database in a day of UTC: ten million, whatever the number of processes.
///
/// Counted are consents, attempts to buy, keys of usage, and evidence that apps hand in. A row is weighed at what it takes with its
/// indexes, measured with a test that holds it (`WriteBudgetTests`). What is repeated, and so writes nothing, spends nothing.
/// The one statement that spends is the schema's, `spend_write_budget`; keys of usage are paid for inside `count_usage`.
///
/// Locks are taken in one order: the token of consents, the budget, purchases, accounts.
package enum WriteBudget {
    /// The account has written too much today. What would have been written was not.
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
                    // A day longer than it counts: a transaction that began before midnight may still spend of it.
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

    /// Forgets what an account wrote today, for its erasure, and holds its budget: before any purchase or account is locked.
    /// - Returns: whether anything was noted.
    package static func erase(_ account: UniqueIdentifier, _ session: borrowing PostgresSession) throws -> Bool {
        try session.query(
            PostgresQuery("budget.erase", "delete from storehook.write_budgets where token = \(UUID(account))")
        ).affectedRows > 0
    }
}

/// What a row takes in the database with its indexes, in bytes, as it is paid for. Rounded up: what is measured stands beside it.
package enum WriteWeight {
    /// An attempt to buy: 150 bytes, and its texts: longer ones leave room in their pages that nothing else fits in.
    package static func attempt(productID: String, reason: String?) -> Int {
        200 + (productID.utf8.count + (reason?.utf8.count ?? 0)) * 3 / 2
    }

    /// A consent without its text, and the note that it was superseded: 290 bytes with a short name.
    package static func consent(of account: String) -> Int { 320 + account.utf8.count * 3 / 2 }

    /// A text that a consent names and nobody had before: 180 bytes, and the text in pieces.
    package static func consentText(_ text: String) -> Int { 200 + text.utf8.count * 3 / 2 }

    /// A record that was handed in: the bytes, and the facts, states and events that come of it. 5,400 bytes, of purchases each of its own.
    /// - Parameter bytes: its own, without what is stored elsewhere.
    package static func evidence(_ bytes: Int) -> Int { 5_000 + bytes * 3 }

    /// A receipt, or an answer to one: nothing is derived from it.
    package static func receipt(_ bytes: Int) -> Int { 1_000 + bytes * 5 / 4 }
}
