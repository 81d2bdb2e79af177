import Postgres

/// The row that serializes recording a consent and acting on one: both transactions lock it, also where the request did
/// not exist yet when the consent was recorded. It is locked before a row of the queue, never after.
enum ConsumptionToken {
    /// The account of a transaction `t`. The nil UUID, which earlier releases have stored, is none.
    static let account = "nullif(t.app_account_token, '00000000-0000-0000-0000-000000000000')"

    /// Holds the rows of these tokens until the transaction ends, and makes those that are not there.
    /// - Parameter tokens: gives them in a column `app_account_token`, each once.
    static func hold(_ tokens: PostgresQuery, _ session: borrowing PostgresSession) throws {
        try session.query(
            PostgresQuery(
                "consumption.hold_token",
                """
                with wanted as (\(embedding: tokens))
                insert into storehook.consumption_tokens (app_account_token)
                select app_account_token from wanted where app_account_token is not null
                    on conflict (app_account_token) do update set app_account_token = excluded.app_account_token
                """))
    }

    /// Holds the row of the account that a request is about; none where the purchase names no account.
    static func hold(of request: ConsumptionRequest, _ session: borrowing PostgresSession) throws {
        try hold(
            """
            select \(unescaped: account) as app_account_token
              from storehook.consumption_answers a
              join storehook.transactions t
                   on t.transaction_id = a.transaction_id and t.bundle_id = a.bundle_id and t.environment = a.environment
             where a.id = \(request.id)
            """, session)
    }
}
