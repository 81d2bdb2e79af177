-- compatible-from: 10
-- Whose access ends soon, for the desk. And once there are accounts, purchases are changed only by programs that know of them.

-- Purchases first and accounts last, as workers lock them.
--
-- A worker of a release before accounts would change a purchase and leave what its account is by it as it was. Whoever derives
-- accounts says so when it locks purchases (KnownPurchase.swift). Before the first catalog nobody has to.
create function storehook.require_accounts() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
    if current_setting('storehook.knows_accounts', true) is distinct from 'yes'
       and exists (select from storehook.catalog_state where preparing_version is not null or is_linked) then
        -- What nobody who may not write here gets: workers of every release wait then, and bury nothing.
        raise exception 'this program knows nothing of accounts, and a catalog was applied: upgrade it'
            using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;
create trigger subscriptions_by_who_knows_accounts
    before insert on storehook.subscriptions
    for each statement execute function storehook.require_accounts();
create trigger one_time_purchases_by_who_knows_accounts
    before insert on storehook.one_time_purchases
    for each statement execute function storehook.require_accounts();

-- When access ends for good, as far as is known, where nothing renews it: by it those who lose it soon are found among any number of
-- accounts. The end of a grace period is one whatever is going to be renewed. The function below asks in the same words.
create index account_status_by_end
    on storehook.account_status (
        (case when phase_status[cardinality(phase_starts)] in ('expired', 'trial_expired', 'revoked', 'free')
                   and (phase_status[cardinality(phase_starts) - 1] = 'grace_period'
                        or (phase_status[cardinality(phase_starts) - 1] in ('active', 'trial', 'cancelled')
                            and not phase_will_renew[cardinality(phase_starts) - 1]))
              then phase_starts[cardinality(phase_starts)] end),
        -- Last: nobody who has accounts' tokens is to go through all rows of a catalog by it, however old the statistics are.
        catalog);

create function storehook.expiring_soon(within interval, at timestamptz default now())
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
           s.phase_product[p.n], s.phase_bundle[p.n], s.phase_purchase[p.n],
           s.phase_starts[cardinality(s.phase_starts)],
           ceil(extract(epoch from s.phase_starts[cardinality(s.phase_starts)] - at) / 86400)::integer
      from storehook.catalog_state c
      join storehook.account_status s on s.catalog = c.current_version
     cross join lateral (select width_bucket(at, s.phase_starts) as n) p
      left join storehook.accounts a on a.token = s.token
     where case when s.phase_status[cardinality(s.phase_starts)] in ('expired', 'trial_expired', 'revoked', 'free')
                     and (s.phase_status[cardinality(s.phase_starts) - 1] = 'grace_period'
                          or (s.phase_status[cardinality(s.phase_starts) - 1] in ('active', 'trial', 'cancelled')
                              and not s.phase_will_renew[cardinality(s.phase_starts) - 1]))
                then s.phase_starts[cardinality(s.phase_starts)] end > at
       and case when s.phase_status[cardinality(s.phase_starts)] in ('expired', 'trial_expired', 'revoked', 'free')
                     and (s.phase_status[cardinality(s.phase_starts) - 1] = 'grace_period'
                          or (s.phase_status[cardinality(s.phase_starts) - 1] in ('active', 'trial', 'cancelled')
                              and not s.phase_will_renew[cardinality(s.phase_starts) - 1]))
                then s.phase_starts[cardinality(s.phase_starts)] end <= at + within
       and s.phase_status[p.n] in ('active', 'trial', 'cancelled', 'grace_period')
       and (s.phase_status[p.n] = 'grace_period' or not s.phase_will_renew[p.n])
     order by s.phase_starts[cardinality(s.phase_starts)], s.token, s.environment
$$;
comment on function storehook.expiring_soon(interval, timestamptz) is
    'accounts that have access at an instant and lose it within so long, with nothing to renew it; the next to end first';
