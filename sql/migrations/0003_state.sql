-- Derived state: written only from facts, and at any time to be derived again from them.

-- One row for each auto-renewable line. Its status is a function of time, so what is stored is that function: phases,
-- each with the instant it begins, in order; the first one reaches back for ever, the last one has no end. Evaluating at an instant is a binary search.
create table storehook.subscriptions (
    environment             text          collate "C" not null,
    bundle_id               text          collate "C" not null,
    original_transaction_id text          collate "C" not null,
    subscription_group_id   text,
    app_account_token       uuid,
    ownership               text,
    will_renew              boolean,
    renewal_product_id      text,
    price_increase_pending  boolean       not null,
    expiration_intent       smallint,
    phase_starts            timestamptz[] not null,
    phase_status            text[]        not null,
    phase_product           text[]        not null,
    phase_expires           timestamptz[] not null,
    phase_trial             boolean[]     not null,
    primary key (original_transaction_id, bundle_id, environment),
    check (phase_status <@ array['trial', 'active', 'cancelled', 'grace_period', 'billing_retry', 'expired', 'revoked']),
    check (cardinality(phase_starts) > 0
           and cardinality(phase_status) = cardinality(phase_starts)
           and cardinality(phase_product) = cardinality(phase_starts)
           and cardinality(phase_expires) = cardinality(phase_starts)
           and cardinality(phase_trial) = cardinality(phase_starts))
) with (fillfactor = 80);
-- status_at and the views on it give ids in the default collation, which an index of collation "C" cannot serve.
create index subscriptions_by_id on storehook.subscriptions (original_transaction_id collate "default");
create index subscriptions_by_account
    on storehook.subscriptions (app_account_token) where app_account_token is not null;
comment on column storehook.subscriptions.will_renew is 'auto-renew as last known; null where Apple never said';

-- The timeline: what each notification changed in its line, before and after each seen as of the latest instant that was
-- heard of by then. A notification that came too late to change anything stands here too, with an empty set of changes.
create table storehook.subscription_changes (
    id                      bigint      primary key generated always as identity,
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    notification_uuid       uuid        not null,
    signed_at               timestamptz not null,
    received_at             timestamptz not null,
    applied_at              timestamptz not null default now(),
    status_before           text,
    status_after            text        not null,
    changes                 jsonb       not null check (jsonb_typeof(changes) = 'object')
);
create index subscription_changes_by_line
    on storehook.subscription_changes (original_transaction_id, bundle_id, environment, id);
comment on column storehook.subscription_changes.changes is
    'column name to [before, after]; {} where the notification changed nothing';

-- The state of every line at an instant, by the facts known now.
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
        access_until            timestamptz
    )
    language sql stable parallel safe
as $$
    select s.environment,
           s.bundle_id,
           s.original_transaction_id,
           s.phase_product[p.n],
           s.subscription_group_id,
           s.app_account_token,
           s.phase_status[p.n],
           s.phase_status[p.n] in ('trial', 'active', 'cancelled', 'grace_period'),
           s.phase_expires[p.n],
           s.will_renew,
           s.renewal_product_id,
           s.phase_trial[p.n],
           s.price_increase_pending,
           (case s.phase_status[p.n]
                when 'expired' then 2
                when 'billing_retry' then 3
                when 'grace_period' then 4
                when 'revoked' then 5
                else 1
            end)::smallint,
           -- A grace period outlasts what was paid for, and always has a phase after it.
           case s.phase_status[p.n] when 'grace_period' then s.phase_starts[p.n + 1] else s.phase_expires[p.n] end
      from storehook.subscriptions s
     cross join lateral (select greatest(width_bucket(at, s.phase_starts), 1) as n) p
$$;

create view storehook.subscription_status as
select * from storehook.status_at(now());

-- Who has access to what. An account may hold several lines of one subscription group (a purchase made while an older
-- one was in billing retry): the best of them speaks for the account, and one that ends takes nothing from another.
-- Without an account token nothing ties lines together, and each speaks for itself.
create view storehook.entitlements as
select environment, bundle_id, app_account_token, product_id, kind, access, access_until
  from (select distinct on (environment, bundle_id, app_account_token, own_line, subject)
               environment, bundle_id, app_account_token, product_id, 'subscription'::text as kind, access, access_until
          from (select status.*,
                       coalesce(subscription_group_id, product_id) as subject,
                       case when app_account_token is null then original_transaction_id end as own_line
                  from storehook.subscription_status status) lines
         order by environment, bundle_id, app_account_token, own_line, subject,
                  access desc, access_until desc, original_transaction_id) best
union all
select environment,
       bundle_id,
       (array_agg(app_account_token order by signed_at desc) filter (where app_account_token is not null))[1],
       (array_agg(product_id order by signed_at desc))[1],
       case kind when 'Non-Consumable' then 'non_consumable' else 'non_renewing' end,
       bool_or(revoked_at is null),
       max(expires_at)
  from storehook.transactions
 where kind in ('Non-Consumable', 'Non-Renewing Subscription')
 group by environment, bundle_id, original_transaction_id, kind;

-- Money, for operations (Apple's reports are for the books): one row a paid period or purchase, even where a restore
-- repeats it under another transaction_id. What a family shares was paid for once, by somebody else.
create view storehook.paid_periods as
select distinct on (environment, bundle_id, period)
       environment, bundle_id, original_transaction_id, transaction_id, product_id, kind, purchased_at, expires_at,
       price, currency, quantity, revoked_at
  from (select t.*,
               -- Line items and transactions are numbered apart: a letter keeps the two from meeting.
               case when web_order_line_item_id is null then 't' || transaction_id
                    else 'w' || web_order_line_item_id end as period
          from storehook.transactions t) records
 where ownership = 'PURCHASED'
 order by environment, bundle_id, period, signed_at desc, digest desc;
comment on view storehook.paid_periods is
    'price in milliunits of currency, quantity and offer included: 9990 is 9.99, and 230000 is 230 yen';
