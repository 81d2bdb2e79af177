-- compatible-from: 10
-- What accounts need to know of a subscription beside its status, and what an account's access comes to as a whole.
-- Rows that were written before, or by an older program since, say nothing of it: then the line has one stretch and one purchase,
-- and access ends with the source that decides. storehook rebuild derives them anew.

alter table storehook.subscriptions
    add column phase_origin text[],
    add column stretches    text;
comment on column storehook.subscriptions.phase_origin is
    'for each phase bought|charged|upcoming account|named product, instants in milliseconds since 1970; null where nothing is to be said';
comment on column storehook.subscriptions.stretches is
    'where the customer bought again after a lapse: the instant in milliseconds since 1970, and the account that was signed last before it';

alter table storehook.subscription_history
    add column phase_origin text[];
comment on column storehook.subscription_history.phase_origin is 'as in subscriptions';

alter table storehook.account_status
    add column phase_source_ends timestamptz[],
    add column phase_tier_until  timestamptz[],
    add column phase_period_ends timestamptz[],
    add column phase_goes_on     boolean[];
comment on column storehook.account_status.phase_expires is
    'with access the end of all of it without a gap, as known then; without access when it ended';
comment on column storehook.account_status.phase_source_ends is
    'when the deciding source itself ends; null, or an element that is null: as phase_expires';
comment on column storehook.account_status.phase_tier_until is
    'until when the tier is the present one; null, or an element that is null: as phase_expires';
comment on column storehook.account_status.phase_period_ends is
    'when the running period of the deciding source ends; null, or an element that is null: as phase_source_ends';
comment on column storehook.account_status.phase_goes_on is
    'whether access goes on by itself; null, or an element that is null: where it will renew and is not in grace';

-- As before, but an account whose access goes on by itself is not among them, whatever its deciding source does.
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
       and not coalesce(s.phase_goes_on[p.n], s.phase_will_renew[p.n] and s.phase_status[p.n] <> 'grace_period')
     order by s.phase_starts[cardinality(s.phase_starts)], s.token, s.environment
$$;
