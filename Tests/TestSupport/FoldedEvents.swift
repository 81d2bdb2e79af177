public import Postgres

/// What holds of all events and reads of a database, however it was filled.
public enum FoldedEvents {
    /// Each counts what contradicts it, in words.
    public static var checks: [(what: String, query: PostgresQuery)] {
        [
            (
                "an order has a gap, or a number twice",
                """
                select count(*) from (
                    select from storehook.events
                     group by token, environment, case when token is null then original_transaction_id end
                    having count(*) <> max(sequence) or count(distinct sequence) <> count(*)) odd
                """
            ),
            (
                "the last event of a subscription says something else than its status",
                """
                select count(*) from storehook.subscription_status s
                  left join (
                       select distinct on (original_transaction_id) original_transaction_id,
                              ('{' || content || '}')::jsonb -> 'subscription' as said
                         from storehook.events where kind like 'subscription.%'
                        order by original_transaction_id, id desc) e using (original_transaction_id)
                 where e.said is null or e.said ->> 'status' <> s.status or (e.said ->> 'access')::boolean <> s.access
                """
            ),
            (
                "the last event of an account says something else than its status",
                """
                select count(*) from storehook.account_status_now s
                  left join (
                       select distinct on (token, environment) token, environment,
                              ('{' || content || '}')::jsonb -> 'access' as said
                         from storehook.events where kind = 'account.access_changed'
                        order by token, environment, sequence desc) e using (token, environment)
                 where coalesce(e.said ->> 'tier', 'free') <> s.tier or coalesce(e.said ->> 'status', 'free') <> s.status
                """
            ),
            (
                "an account that has access knows no end that the clock comes to",
                """
                select count(*) from storehook.account_status_now s
                  left join storehook.access_tellings t using (token, environment)
                 where s.access and (t.due_at is null or t.due_at > now() + interval '100 years')
                """
            ),
        ]
    }
}
