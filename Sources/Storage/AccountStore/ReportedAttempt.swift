import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore

/// An attempt to buy or to restore, as it was recorded.
package struct ReportedAttempt: Sendable, Hashable {
    /// Its number. Numbers are drawn in the order of time.
    package var id: Int64
    /// When it was reported.
    package var at: Timestamp
    /// What the app's own tokens call the account, where that is known.
    package var accountID: String?
    /// What the app saw.
    package var attempt: PurchaseAttempt
}

/// Some reported attempts, the latest first.
package struct ReportedAttempts: Sendable, Hashable {
    /// The attempts.
    package var attempts: [ReportedAttempt]
    /// Earlier ones are those before this number; nil where all were looked at.
    package var next: Int64?
}

/// Which reported attempts are asked for.
package struct ReportedAttemptFilter: Sendable, Hashable {
    /// Only of this account.
    package var account: UniqueIdentifier?
    /// Only of this kind.
    package var kind: PurchaseAttempt.Kind?
    /// Only with this outcome.
    package var outcome: PurchaseAttempt.Outcome?

    /// By default all.
    package init(
        account: UniqueIdentifier? = nil, kind: PurchaseAttempt.Kind? = nil, outcome: PurchaseAttempt.Outcome? = nil
    ) {
        self.account = account
        self.kind = kind
        self.outcome = outcome
    }

    /// Whether an index has those that are asked for and no others.
    fileprivate var isIndexed: Bool { kind == nil && outcome == nil }
}

extension AccountStore {
    /// How many attempts one call looks through at most: no index has kinds and outcomes, and of ten million that were reported there may
    /// be none.
    package static let mostAttemptsLookedThrough = 100_000

    /// The latest attempts that were reported, read by their numbers, which an index has, for each account too.
    /// - Parameters:
    ///   - number: those before it; all where it is nil.
    ///   - limit: the most attempts to return.
    ///   - most: how many are looked through for a kind or an outcome. Where that is less than there are,
    ///     ``ReportedAttempts/next`` says where to go on, even if none was found.
    /// - Throws: `PostgresError`.
    package func attempts(
        _ filter: ReportedAttemptFilter = .init(), before number: Int64? = nil, limit: Int,
        lookingThrough most: Int = mostAttemptsLookedThrough
    ) async throws -> ReportedAttempts {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts.attempts")) { session in
            let before = number ?? .max
            let window = filter.isIndexed ? limit + 1 : max(most, limit + 1)
            let rows = try session.query(.attempts(filter, before: before, within: window, limit: limit + 1))
            let found = try rows.map { try ReportedAttempt($0) }
            if found.count > limit {
                return ReportedAttempts(attempts: Array(found.prefix(limit)), next: found[limit - 1].id)
            }
            guard !filter.isIndexed else { return ReportedAttempts(attempts: found) }
            let ends = try session.query(.lastAttempt(filter, before: before, within: window))
            return ReportedAttempts(attempts: found, next: try ends.count > 1 ? ends[0].decode("id") : nil)
        }
    }
}

extension PostgresQuery {
    /// A statement for each of both indexes: with a parameter for "any account" PostgreSQL could use neither.
    private static func latest(
        _ columns: String, _ filter: ReportedAttemptFilter, before number: Int64, within window: Int
    ) -> PostgresQuery {
        guard let account = filter.account else {
            return PostgresQuery(
                "accounts.attempts_latest",
                """
                select \(unescaped: columns) from storehook.purchase_attempts where id < \(number)
                 order by id desc limit \(Int64(window))
                """)
        }
        return PostgresQuery(
            "accounts.attempts_latest_of_account",
            """
            select \(unescaped: columns) from storehook.purchase_attempts
             where token = \(UUID(account)) and id < \(number)
             order by id desc limit \(Int64(window))
            """)
    }

    fileprivate static func attempts(
        _ filter: ReportedAttemptFilter, before number: Int64, within window: Int, limit: Int
    ) -> PostgresQuery {
        PostgresQuery(
            "accounts.attempts",
            """
            with latest as (\(embedding: latest("*", filter, before: number, within: window))),
            found as (
                select * from latest
                 where (\(filter.kind?.rawValue)::text is null or kind = \(filter.kind?.rawValue))
                   and (\(filter.outcome?.rawValue)::text is null or outcome = \(filter.outcome?.rawValue))
                 order by id desc limit \(Int64(limit))
            )
            select f.*, a.account from found f left join storehook.accounts a using (token) order by f.id desc
            """)
    }

    /// The number of the last attempt that was looked through, and of the one before it; fewer rows where there is none before it.
    fileprivate static func lastAttempt(
        _ filter: ReportedAttemptFilter, before number: Int64, within window: Int
    ) -> PostgresQuery {
        PostgresQuery(
            "accounts.attempts_last",
            """
            with latest as (\(embedding: latest("id", filter, before: number, within: window + 1)))
            select id from latest order by id desc offset \(Int64(window - 1))
            """)
    }
}

extension ReportedAttempt {
    fileprivate init(_ row: PostgresRow) throws {
        id = try row.decode("id")
        at = Timestamp(try row.decode("at", as: PostgresTimestamp.self))
        accountID = try row.decode("account")
        attempt = PurchaseAttempt(
            account: UniqueIdentifier(try row.decode("token", as: UUID.self)),
            productID: try row.decode("product_id"), kind: try row.decode("kind", among: PurchaseAttempt.Kind.self),
            outcome: try row.decode("outcome", among: PurchaseAttempt.Outcome.self),
            reason: try row.decode("reason"), transactionID: try row.decode("transaction_id"),
            environment: try row.decode("environment", as: String?.self).map(Environment.init(rawValue:)))
    }
}
