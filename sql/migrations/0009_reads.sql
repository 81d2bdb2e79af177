-- What backends, people and monitors read: functions and views over the derived rows.

-- Every subscription at an instant, by the facts known now. There is no row before the first purchase.
create function storehook.status_at(at timestamptz)
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
           p.phase_account[p.n],
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

create view storehook.subscription_status as
select * from storehook.status_at(now());

-- Who has access to what, one row for each account and product: the best of its purchases speaks for it, and one that ends
-- takes nothing from another. Without an account nothing ties purchases together, and each speaks for itself.
--
-- access of a term that does not renew by itself is null where Apple names no end: how long it lasts only the app knows,
-- from purchased_at.
create view storehook.entitlements as
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
    select environment, bundle_id, app_account_token, product_id, kind,
           case when revoked_at is not null then false
                when kind = 'non_consumable' then true
                else expires_at > now() end,
           coalesce(revoked_at, expires_at), original_transaction_id, purchased_at, ownership, false, null
      from storehook.one_time_purchases
     where kind <> 'consumable'
)
select distinct on (environment, bundle_id, app_account_token, own_purchase, product_id)
       environment, bundle_id, app_account_token, product_id, kind, access, access_until, purchased_at, ownership, in_trial,
       status, original_transaction_id
  from (select purchases.*, case when app_account_token is null then original_transaction_id end as own_purchase
          from purchases) p
 order by environment, bundle_id, app_account_token, own_purchase, product_id,
          access desc nulls last, access_until desc nulls first, original_transaction_id;

-- Whether an account has access to a product now, in Production: the question that apps ask, a few index look-ups whatever
-- the number of purchases. Null where only the app knows how long what was bought lasts.
--
-- In PL/pgSQL, whose plan a session keeps: planning the view takes ten times as long as answering.
create function storehook.has_access(app_account_token uuid, product_id text) returns boolean
    language plpgsql stable parallel safe
as $$
begin
    return (select bool_or(e.access)
              from storehook.entitlements e
             where e.environment = 'Production' and e.app_account_token = has_access.app_account_token
               and e.product_id = has_access.product_id);
end
$$;

-- Consumables: credited once for each transaction, debited by the share that was taken back, credited again where a refund
-- was reversed. What was used up the app knows.
create view storehook.consumable_balances as
select environment, bundle_id, app_account_token, product_id,
       sum(quantity)::bigint                                        as bought,
       sum(quantity * revoked_share / 100000)::bigint               as revoked,
       (sum(quantity) - sum(quantity * revoked_share / 100000))::bigint as balance
  from storehook.one_time_purchases
 where kind = 'consumable'
 group by environment, bundle_id, app_account_token, product_id;

-- Money, for operations (Apple's reports are for the books): one row a paid period or purchase, even where a restore
-- repeats it under another transaction_id. What a family shares was paid for once, by somebody else; old records without
-- an ownership were bought, which is said so that the planner can count them: it knows no values of an expression.
create view storehook.paid_periods as
select environment, bundle_id, original_transaction_id, transaction_id, product_id, kind, purchased_at, expires_at, price,
       currency, quantity, revoked_at, revocation_type, revocation_reason, revocation_percentage, storefront, offer_type,
       offer_id, billing_plan_type, payload->'commitmentInfo' as commitment_info
  from storehook.transactions t
 where (ownership = 'PURCHASED' or ownership is null)
   and not exists (
        select from storehook.transactions later
         where later.web_order_line_item_id = t.web_order_line_item_id and later.bundle_id = t.bundle_id
           and later.environment = t.environment and later.transaction_id <> t.transaction_id
           and (later.ownership = 'PURCHASED' or later.ownership is null)
           and (later.signed_at, later.digest, later.transaction_id) > (t.signed_at, t.digest, t.transaction_id));
comment on view storehook.paid_periods is
    'price in milliunits of currency, quantity and offer included: 9990 is 9.99, and 230000 is 230 yen';

-- Purchases of which something is missing, or about which a rule is wrong: an alarm in production.
create view storehook.contradictions as
select environment, bundle_id, original_transaction_id, kind, signed_at, transaction_id, reported_status, derived_status
  from storehook.anomalies
 where kind in ('status_contradicted', 'period_missing', 'upgrade_missing');

-- Refund requests that Apple wants data for, within twelve hours.
create index notifications_consumption
    on storehook.notifications (signed_at) where type = 'CONSUMPTION_REQUEST';
create view storehook.consumption_requests as
select environment, bundle_id, original_transaction_id, transaction_id, notification_uuid,
       consumption_request_reason as reason, signed_at, signed_at + interval '12 hours' as deadline
  from storehook.notifications
 where type = 'CONSUMPTION_REQUEST';

-- When each thing was learned, beside when Apple said it: for audits. What happened is told by `storehook subscription`.
create view storehook.learned as
select environment, bundle_id, original_transaction_id, notification_uuid, type, subtype, signed_at, received_at, applied_at,
       received_at - signed_at as signed_to_received,
       applied_at - received_at as received_to_applied
  from storehook.notifications;
