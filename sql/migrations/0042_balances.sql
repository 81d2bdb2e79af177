-- compatible-from: 10
-- Whose consumables are, how many, and whose purchases are not the nil UUID's.

-- By those who have them, signed for or not. Shares that were taken back are added up exactly and rounded down at the end: nothing is
-- left of one of which 99 % was paid back.
create or replace view storehook.consumable_balances as
select p.environment, p.bundle_id, p.app_account_token, p.product_id,
       sum(p.quantity)::bigint                                            as bought,
       div(sum(p.revoked_parts), 100000)::bigint                          as revoked,
       div(sum(p.quantity * 100000 - p.revoked_parts), 100000)::bigint    as balance,
       sum(p.revoked_parts)::bigint                                       as revoked_parts,
       sum(p.quantity * 100000 - p.revoked_parts)::bigint                 as balance_parts
  from (select l.token as app_account_token, o.environment, o.bundle_id, o.product_id, o.quantity,
               coalesce((select sum(s.quantity * s.revoked_share)
                           from json_to_recordset(o.sales::json) as s (quantity bigint, revoked_share bigint)),
                        o.quantity * o.revoked_share) as revoked_parts
          from (select token, environment, bundle_id, original_transaction_id from storehook.account_lines
                union
                select app_account_token, environment, bundle_id, original_transaction_id
                  from storehook.one_time_purchases
                 where kind = 'consumable' and app_account_token is not null
                union
                -- Nobody's.
                select null::uuid, environment, bundle_id, original_transaction_id from storehook.one_time_purchases
                 where kind = 'consumable') l
          join storehook.one_time_purchases o
               on o.original_transaction_id = l.original_transaction_id and o.bundle_id = l.bundle_id
              and o.environment = l.environment and o.kind = 'consumable'
         where l.token is not distinct from coalesce(
                -- Staff's last move, unless the account was erased since.
                (select b.token from storehook.purchase_bindings b
                  where b.original_transaction_id = o.original_transaction_id and b.bundle_id = o.bundle_id
                    and b.environment = o.environment and b.kind = 'staff'
                    and not exists (
                        select from storehook.purchase_bindings e
                         where e.original_transaction_id = b.original_transaction_id and e.bundle_id = b.bundle_id
                           and e.environment = b.environment and e.kind = 'erasure' and (e.at, e.id) > (b.at, b.id))
                  order by b.at desc, b.id desc limit 1),
                -- What Apple signed, unless that account was erased. The nil UUID is no account.
                (select o.app_account_token
                  where o.app_account_token <> '00000000-0000-0000-0000-000000000000'
                    and not exists (
                        select from storehook.purchase_bindings e
                         where e.original_transaction_id = o.original_transaction_id and e.bundle_id = o.bundle_id
                           and e.environment = o.environment and e.kind = 'erasure' and e.token = o.app_account_token)),
                -- The last proof, or the last transfer.
                (select b.token from storehook.purchase_bindings b
                  where b.original_transaction_id = o.original_transaction_id and b.bundle_id = o.bundle_id
                    and b.environment = o.environment and b.kind in ('proof', 'transfer')
                    and not exists (
                        select from storehook.purchase_bindings e
                         where e.original_transaction_id = b.original_transaction_id and e.bundle_id = b.bundle_id
                           and e.environment = b.environment and e.kind = 'erasure' and (e.at, e.id) > (b.at, b.id))
                  order by b.at desc, b.id desc limit 1))) p
 group by p.environment, p.bundle_id, p.app_account_token, p.product_id;
comment on column storehook.consumable_balances.app_account_token is
    'the account that has them: that staff moved them to, that Apple signed, or that proved them; null where they are nobody''s';
comment on column storehook.consumable_balances.balance is 'whole units, rounded down';
comment on column storehook.consumable_balances.balance_parts is 'exactly, in 1/100,000 of a unit';

-- The nil UUID is no account: what earlier releases have stored of it is shown as none.
create or replace function storehook.status_at(at timestamptz)
    returns table (
        environment             text,
        bundle_id               text,
        original_transaction_id text,
        product_id              text,
        subscription_group_id   text,
        app_account_token       uuid,
        status                  text,
        access                  boolean,
        expires_at              timestamptz,
        will_renew              boolean,
        renewal_product_id      text,
        in_trial                boolean,
        price_increase_pending  boolean,
        apple_status            smallint,
        access_until            timestamptz,
        period_ends_at          timestamptz,
        grace_ends_at           timestamptz,
        expiration_intent       smallint,
        basis                   text,
        since                   timestamptz,
        transaction_id          text,
        ownership               text,
        offer_type              smallint,
        offer_id                text,
        price                   bigint,
        currency                text,
        storefront              text,
        app_transaction_id      text,
        renewal_price           bigint,
        renewal_currency        text,
        paid_until              timestamptz,
        latest_account_token    uuid,
        former_account_token    uuid
    )
    language sql stable parallel safe
as $$
    select s.environment,
           s.bundle_id,
           s.original_transaction_id,
           p.phase_product[p.n],
           s.subscription_group_id,
           nullif(p.phase_account[p.n], '00000000-0000-0000-0000-000000000000'),
           p.phase_status[p.n],
           p.phase_status[p.n] in ('trial', 'active', 'cancelled', 'grace_period'),
           p.phase_expires[p.n],
           p.phase_will_renew[p.n],
           p.phase_renewal_product[p.n],
           p.phase_trial[p.n],
           p.phase_price_pending[p.n],
           (case p.phase_status[p.n]
                when 'expired' then 2
                when 'billing_retry' then 3
                when 'grace_period' then 4
                when 'revoked' then 5
                else 1
            end)::smallint,
           coalesce(p.phase_grace_ends[p.n], p.phase_expires[p.n]),
           p.phase_period_ends[p.n],
           p.phase_grace_ends[p.n],
           p.phase_intent[p.n],
           p.phase_basis[p.n],
           p.phase_starts[p.n],
           p.phase_transaction[p.n],
           t.ownership,
           t.offer_type,
           t.offer_id,
           t.price,
           t.currency,
           t.storefront,
           coalesce(t.app_transaction_id, r.app_transaction_id),
           r.renewal_price,
           r.currency,
           s.paid_until,
           s.app_account_token,
           s.former_account_token
      from storehook.subscriptions s
     cross join lateral (
            select width_bucket(at, s.phase_starts) as n, s.phase_starts, s.phase_status, s.phase_basis, s.phase_product,
                   s.phase_transaction, s.phase_expires, s.phase_period_ends, s.phase_grace_ends, s.phase_trial,
                   s.phase_will_renew, s.phase_renewal_product, s.phase_price_pending, s.phase_intent, s.phase_account
             where at >= s.phase_starts[1]
            union all
            (select width_bucket(at, h.phase_starts), h.phase_starts, h.phase_status, h.phase_basis, h.phase_product,
                    h.phase_transaction, h.phase_expires, h.phase_period_ends, h.phase_grace_ends, h.phase_trial,
                    h.phase_will_renew, h.phase_renewal_product, h.phase_price_pending, h.phase_intent, h.phase_account
               from storehook.subscription_history h
              where at < s.phase_starts[1] and s.earlier_phases > 0
                and h.original_transaction_id = s.original_transaction_id and h.bundle_id = s.bundle_id
                and h.environment = s.environment and h.starts_at <= at
              order by h.starts_at desc
              limit 1)
           ) p
      left join storehook.transactions t
           on t.transaction_id = p.phase_transaction[p.n] collate "C" and t.bundle_id = s.bundle_id
          and t.environment = s.environment
      left join storehook.renewals r
           on r.original_transaction_id = s.original_transaction_id and r.bundle_id = s.bundle_id
          and r.environment = s.environment
$$;


create or replace view storehook.entitlements as
with purchases as (
    select environment, bundle_id, latest_account_token as app_account_token, product_id, 'subscription'::text as kind,
           access, access_until, original_transaction_id, null::timestamptz as purchased_at, ownership, in_trial, status
      from storehook.status_at(now())
     where app_account_token is not distinct from latest_account_token
    union all
    -- The next period is another account's; until it begins the purchase is this one's.
    select environment, bundle_id, former_account_token, product_id, 'subscription', access, access_until,
           original_transaction_id, null, ownership, in_trial, status
      from storehook.status_at(now())
     where former_account_token is not null and app_account_token = former_account_token
    union all
    -- By the indexes of the stored columns: an expression would have none.
    select environment, bundle_id, null::uuid, product_id, 'subscription', access, access_until,
           original_transaction_id, null, ownership, in_trial, status
      from storehook.status_at(now())
     where app_account_token is null
       and (latest_account_token = '00000000-0000-0000-0000-000000000000' or former_account_token = '00000000-0000-0000-0000-000000000000')
    union all
    select environment, bundle_id, null::uuid, product_id, kind,
           case when revoked_at is not null then false
                when kind = 'non_consumable' then true
                else expires_at > now() end,
           coalesce(revoked_at, expires_at), original_transaction_id, purchased_at, ownership, false, null
      from storehook.one_time_purchases
     where kind <> 'consumable' and app_account_token = '00000000-0000-0000-0000-000000000000'
    union all
    select environment, bundle_id, app_account_token, product_id, kind,
           case when revoked_at is not null then false
                when kind = 'non_consumable' then true
                else expires_at > now() end,
           coalesce(revoked_at, expires_at), original_transaction_id, purchased_at, ownership, false, null
      from storehook.one_time_purchases
     where kind <> 'consumable' and app_account_token is distinct from '00000000-0000-0000-0000-000000000000'
)
select distinct on (environment, bundle_id, app_account_token, own_purchase, product_id)
       environment, bundle_id, app_account_token, product_id, kind, access, access_until, purchased_at, ownership, in_trial,
       status, original_transaction_id
  from (select purchases.*, case when app_account_token is null then original_transaction_id end as own_purchase
          from purchases) p
 order by environment, bundle_id, app_account_token, own_purchase, product_id,
          access desc nulls last, access_until desc nulls first, original_transaction_id;
