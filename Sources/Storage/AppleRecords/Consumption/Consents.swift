import AccountStore
package import Accounts
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

    /// The most Unicode scalars of a text that a customer was shown. Rows of earlier releases may have more.
    package static let maximumTextLength = 2_000

    /// Records that an account agrees or no longer does. It counts from the moment that this returns: an answer that was not
    /// begun by then sees it. Nothing is written where the same, word for word, stands already.
    ///
    /// A withdrawal is never refused for want of budget: the consent that it takes back has paid for it. Where the budget does not
    /// suffice for its text, it is recorded without the text.
    /// - Parameters:
    ///   - text: what the customer was shown; of a grant it has to be there.
    ///   - person: the person who records it.
    ///   - isBudgeted: whether the account's ``AccountStore/WriteBudget`` pays for it: false where staff records it.
    /// - Throws: `WriteBudget.Exhausted`, and then nothing was recorded; `PostgresError`.
    package func record(
        _ account: AccountIdentity, granted: Bool, text: String?, by person: String, isBudgeted: Bool = false
    ) async throws -> RecordedConsent {
        let token = account.token
        if let standing = try await pool.query(.standing(token)).first.map({ try RecordedConsent($0) }),
            standing.says(granted, text)
        {
            return try standing.withUnderWay(await pool.query(.underWay(of: token)))
        }
        return try await pool.withTransaction(TransactionOptions(isDurable: true)) { session in
            try account.holdRule(session)
            // A transaction that is about to answer Apple holds the token until the answer is recorded: the two run in
            // order.
            try ConsumptionToken.hold("select \(UUID(token))::uuid as app_account_token", session)
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
                     where t.app_account_token = \(UUID(token))
                     order by q.id
                       for update of q
                    """))
            let standing = try session.query(.standing(token)).first.map { try RecordedConsent($0) }
            if let standing, standing.says(granted, text) {
                return try standing.withUnderWay(session.query(.underWay(of: token)))
            }
            var text = text
            if isBudgeted {
                text = try Self.pay(account.name, token, granted, text, since: standing, session)
            }
            // A trigger of the table moves the text to consent_texts, which has each text once.
            let row = try session.query(
                PostgresQuery(
                    "consent.record",
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                    values (coalesce(\(account.id),
                                     (select a.account from storehook.accounts a where a.token = \(UUID(token)))),
                            \(UUID(token)), \(granted), \(text), \(String(person.prefix(200))))
                    returning id, account, app_account_token, granted, \(text)::text as text, recorded_at, recorded_by
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
            )
            if granted {
                try session.query(
                    PostgresQuery(
                        "consent.wake",
                        """
                        update storehook.consumption_queue set due_at = least(due_at, now())
                         where id = any(\(ids)) and lease_token is null
                        """))
            }
            return try RecordedConsent(row).withUnderWay(begun)
        }
    }

    /// Pays for what is about to be recorded.
    /// - Returns: the text to record.
    private static func pay(
        _ account: String, _ token: UniqueIdentifier, _ granted: Bool, _ text: String?,
        since standing: RecordedConsent?,
        _ session: borrowing PostgresSession
    ) throws -> String? {
        let row = WriteWeight.consent(of: account)
        var textWeight = 0
        if let text {
            let isKept: Bool = try session.query(
                PostgresQuery(
                    "consent.is_text_kept",
                    """
                    select exists (select from storehook.consent_texts t
                                    where t.digest = sha256(convert_to(\(text)::text, 'UTF8')))
                    """)
            ).one().decode(0)
            if !isKept { textWeight = WriteWeight.consentText(text) }
        }
        guard !granted, standing?.granted == true else {
            try WriteBudget.spend(textWeight + (granted ? 2 * row : row), of: token, session)
            return text
        }
        do {
            try WriteBudget.spend(textWeight, of: token, session)
            return text
        } catch is WriteBudget.Exhausted {
            return nil
        }
    }

    /// All that was recorded for an account, the latest first.
    package func history(of account: AccountIdentity) async throws -> [RecordedConsent] {
        try await pool.query(
            PostgresQuery(
                "consent.history",
                """
                \(embedding: .consents(of: account.token)) limit 1000
                """)
        ).map { try RecordedConsent($0) }
    }
}

extension Consents {
    /// Holds an account's token, for its erasure: a worker that is about to answer Apple under a consent of the account's waits for the end of
    /// the transaction. Before any purchase or account is locked.
    /// - Returns: whether anything was recorded for the account.
    package static func hold(_ account: AccountIdentity, _ session: borrowing PostgresSession) throws -> Bool {
        let token = UUID(account.token)
        let isNamed: Bool = try session.query(
            PostgresQuery(
                "consent.is_recorded",
                """
                select exists (select from storehook.consumption_consents where app_account_token = \(token))
                    or exists (select from storehook.consumption_tokens where app_account_token = \(token))
                """)
        ).one().decode(0)
        try ConsumptionToken.hold("select \(token)::uuid as app_account_token", session)
        return isNamed
    }

    /// Deletes the consents of an account, and the texts that no other consent has. The caller holds the account's token. From then on
    /// the account has no consent. A consent under which an answer was sent to Apple stays, without a name.
    /// - Returns: how many were recorded, how many of these stay, and the transactions about which an answer is on its way to Apple.
    package static func erase(
        _ account: AccountIdentity, _ session: borrowing PostgresSession
    ) throws -> (all: Int, kept: Int, underWay: [String]) {
        let token = account.token
        let underWay = try session.query(.underWay(of: token)).map { try $0.decode(0, as: String.self) }
        let row = try session.query(
            PostgresQuery("consent.erase", "select deleted, kept from storehook.erase_consents(\(UUID(token)))")
        ).one()
        let (deleted, kept) = (try row.decode(0, as: Int64.self), try row.decode(1, as: Int64.self))
        return (Int(deleted + kept), Int(kept), underWay)
    }

    /// Deletes consents that were superseded so many days ago, and the texts that only they had; in portions. Consents under which an
    /// answer was sent to Apple stay.
    /// - Returns: how many consents.
    package func dropSuperseded(keeping days: Int) async throws -> Int64 {
        var dropped: Int64 = 0
        _ = try await Portions.repeating { portion in
            let row = try await pool.query(
                PostgresQuery(
                    "consent.drop_superseded",
                    """
                    select looked, dropped
                      from storehook.drop_superseded_consents(\(Int32(clamping: days)), \(Int32(clamping: portion)))
                    """)
            ).one()
            dropped += try row.decode("dropped", as: Int64.self)
            return Int(try row.decode("looked", as: Int64.self))
        }
        return dropped
    }
}

extension PostgresQuery {
    /// The consents of an account, the latest first.
    fileprivate static func consents(of token: UniqueIdentifier) -> PostgresQuery {
        """
        select c.id, c.account, c.app_account_token, c.granted, coalesce(t.text, c.text) as text, c.recorded_at, c.recorded_by
          from storehook.consumption_consents c left join storehook.consent_texts t on t.id = c.text_id
         where c.app_account_token = \(UUID(token)) order by c.id desc
        """
    }

    /// The consent of an account that counts.
    fileprivate static func standing(_ token: UniqueIdentifier) -> PostgresQuery {
        PostgresQuery("consent.standing", "\(embedding: .consents(of: token)) limit 1")
    }

    /// The transactions of an account's about which an answer is on its way to Apple.
    fileprivate static func underWay(of token: UniqueIdentifier) -> PostgresQuery {
        PostgresQuery(
            "consent.under_way_of",
            """
            select a.transaction_id
              from storehook.consumption_queue q
              join storehook.consumption_answers a using (id)
              join storehook.transactions t
                   on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id
                  and t.environment = a.environment
             where t.app_account_token = \(UUID(token)) and a.began_at is not null and a.outcome is null
             order by a.id
            """)
    }
}
