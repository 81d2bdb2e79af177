import Accounts
import AppStorePayloads
import Base
import Foundation
package import Postgres
import PurchaseStore

/// Customers' consents, given and withdrawn, to sending Apple how they used what they bought.
package struct Consents: Sendable {
    private let pool: PostgresPool

    /// The consents behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Records that an account agrees or no longer does. It counts from the moment that this returns: an answer that was not
    /// begun by then sees it.
    /// - Parameters:
    ///   - text: what the customer was shown; of a grant it has to be there.
    ///   - person: the person who records it.
    package func record(
        _ account: String, granted: Bool, text: String?, by person: String
    ) async throws -> RecordedConsent {
        let token = UUID(AccountToken.of(account))
        return try await pool.withTransaction(TransactionOptions(isDurable: true)) { session in
            // A transaction that is about to answer Apple holds the token until the answer is recorded: the two run in
            // order.
            try ConsumptionToken.hold("select \(token)::uuid as app_account_token", session)
            let waiting = try session.query(
                PostgresQuery(
                    "consent.hold",
                    """
                    select q.id
                      from storehook.consumption_queue q
                      join storehook.consumption_answers a using (id)
                      join storehook.transactions t
                           on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                          and t.environment = a.environment
                     where t.app_account_token = \(token)
                     order by q.id
                       for update of q
                    """))
            let row = try session.query(
                PostgresQuery(
                    "consent.record",
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                    values (\(account), \(token), \(granted), \(text), \(String(person.prefix(200))))
                    returning *
                    """)
            ).one()
            // Which of them were begun, as it is now that they are held.
            let ids = try waiting.map { try $0.decode("id", as: Int64.self) }
            let begun = try session.query(
                PostgresQuery(
                    "consent.under_way",
                    """
                    select transaction_id from storehook.consumption_answers
                     where id = any(\(ids)) and began_at is not null and outcome is null
                     order by id
                    """)
            ).map { try $0.decode(0, as: String.self) }
            if granted {
                try session.query(
                    PostgresQuery(
                        "consent.wake",
                        """
                        update storehook.consumption_queue set due_at = least(due_at, now())
                         where id = any(\(ids)) and lease_token is null
                        """))
            }
            var consent = try RecordedConsent(row)
            consent.underWay = begun
            return consent
        }
    }

    /// All that was recorded for an account, the latest first.
    package func history(of account: String) async throws -> [RecordedConsent] {
        try await pool.query(
            PostgresQuery(
                "consent.history",
                """
                select * from storehook.consumption_consents
                 where app_account_token = \(UUID(AccountToken.of(account))) order by id desc limit 1000
                """)
        ).map { try RecordedConsent($0) }
    }
}

extension Consents {
    /// Holds an account's token, for its erasure: a worker that is about to answer Apple under a consent of the account's waits for the end of
    /// the transaction. Before any purchase or account is locked.
    /// - Returns: whether anything was recorded for the account.
    package static func hold(_ account: String, _ session: borrowing PostgresSession) throws -> Bool {
        let token = UUID(AccountToken.of(account))
        try ConsumptionToken.hold("select \(token)::uuid as app_account_token", session)
        return try session.query(
            PostgresQuery(
                "consent.is_recorded",
                """
                select exists (select from storehook.consumption_consents where app_account_token = \(token))
                """)
        ).one().decode(0)
    }

    /// Forgets what an account, which the caller holds, agreed to. From then on it has no consent. Consents under which Apple was answered
    /// something stay without a name.
    /// - Returns: how many were recorded, how many of these stay, and the transactions about which an answer is on its way to Apple.
    package static func erase(
        _ account: String, _ session: borrowing PostgresSession
    ) throws -> (all: Int, kept: Int, underWay: [String]) {
        let token = UUID(AccountToken.of(account))
        let underWay = try session.query(
            PostgresQuery(
                "consent.under_way_of",
                """
                select a.transaction_id
                  from storehook.consumption_queue q
                  join storehook.consumption_answers a using (id)
                  join storehook.transactions t
                       on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                      and t.environment = a.environment
                 where t.app_account_token = \(token) and a.began_at is not null and a.outcome is null
                 order by a.id
                """)
        ).map { try $0.decode(0, as: String.self) }
        let row = try session.query(
            PostgresQuery("consent.erase", "select deleted, kept from storehook.erase_consents(\(token))")
        ).one()
        let (deleted, kept) = (try row.decode(0, as: Int64.self), try row.decode(1, as: Int64.self))
        return (Int(deleted + kept), Int(kept), underWay)
    }
}
