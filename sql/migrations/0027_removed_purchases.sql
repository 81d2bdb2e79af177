-- compatible-from: 10
-- Whoever knows nothing of accounts deletes no purchase either, and what ends soon is said once.

-- A purchase whose records turn out to be another's can lose all that it was: then its row is deleted, and where the other one has
-- none by them nothing is inserted, which is all that 0026's triggers see.
create trigger one_time_purchases_deleted_by_who_knows_accounts
    before delete on storehook.one_time_purchases
    for each statement execute function storehook.require_accounts();
create trigger subscriptions_deleted_by_who_knows_accounts
    before delete on storehook.subscriptions
    for each statement execute function storehook.require_accounts();

-- What it answers is what it answered. The end of access stands once here, in the words of index account_status_by_end: PostgreSQL
-- writes what stands in the lateral out before it looks for an index. The index itself is not built anew by a function that would
-- say it once for both, because that holds up workers for as long as ten million accounts take.
create or replace function storehook.expiring_soon(within interval, at timestamptz default now())
    returns table (
        token                   uuid,
        account                 text,
        environment             text,
        tier                    text,
        status                  text,
        source                  text,
        product_id              text,
        bundle_id               text,
        original_transaction_id text,
        access_until            timestamptz,
        days_left               integer
    )
    language sql stable parallel safe
as $$
    select s.token, a.account, s.environment, s.phase_tier[p.n], s.phase_status[p.n], s.phase_source[p.n],
           s.phase_product[p.n], s.phase_bundle[p.n], s.phase_purchase[p.n], e.access_until,
           ceil(extract(epoch from e.access_until - at) / 86400)::integer
      from storehook.catalog_state c
      join storehook.account_status s on s.catalog = c.current_version
     cross join lateral (
            select width_bucket(at, s.phase_starts) as n) p
     cross join lateral (
            select case when s.phase_status[cardinality(s.phase_starts)] in ('expired', 'trial_expired', 'revoked', 'free')
                             and (s.phase_status[cardinality(s.phase_starts) - 1] = 'grace_period'
                                  or (s.phase_status[cardinality(s.phase_starts) - 1] in ('active', 'trial', 'cancelled')
                                      and not s.phase_will_renew[cardinality(s.phase_starts) - 1]))
                        then s.phase_starts[cardinality(s.phase_starts)] end as access_until) e
      left join storehook.accounts a on a.token = s.token
     where e.access_until > at and e.access_until <= at + within
       and s.phase_status[p.n] in ('active', 'trial', 'cancelled', 'grace_period')
       and (s.phase_status[p.n] = 'grace_period' or not s.phase_will_renew[p.n])
     order by e.access_until, s.token, s.environment
$$;
