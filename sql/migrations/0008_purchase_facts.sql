-- What each piece of evidence said about a purchase, kept for good, and everything derived from that as functions of time.

-- One row for each piece of evidence about a purchase: the status that Apple reported, and what the transaction and the
-- renewal info in it said, reduced to what state is derived from. Append-only: a superseded record says what was true until
-- its successor was signed (a refund that was reversed, auto-renew that was off for a while). The whole latest record of
-- each transaction, and of each purchase's renewal info, stands in transactions and renewals.
create table storehook.purchase_facts (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    outbox_id               bigint      not null,
    signed_at               timestamptz not null,
    reported_status         smallint,
    transaction_id          text        collate "C",
    transaction_signed_at   timestamptz,
    transaction_digest      bytea       check (octet_length(transaction_digest) = 32),
    web_order_line_item_id  text        collate "C",
    product_id              text,
    subscription_group_id   text,
    kind                    text,
    ownership               text,
    purchased_at            timestamptz,
    expires_at              timestamptz,
    revoked_at              timestamptz,
    revocation_percentage   bigint,
    is_upgraded             boolean,
    is_renewal              boolean,
    is_free_trial           boolean,
    quantity                bigint,
    app_account_token       uuid,
    renewal_signed_at       timestamptz,
    renewal_digest          bytea       check (octet_length(renewal_digest) = 32),
    current_product_id      text,
    renewal_product_id      text,
    auto_renew              boolean,
    renews_at               timestamptz,
    expiration_intent       smallint,
    in_billing_retry        boolean,
    grace_expires_at        timestamptz,
    price_increase_pending  boolean,
    renewal_account_token   uuid,
    primary key (original_transaction_id, bundle_id, environment, signed_at, outbox_id),
    check ((transaction_id is null) = (transaction_signed_at is null)),
    check ((transaction_id is null) = (transaction_digest is null)),
    check ((renewal_signed_at is null) = (renewal_digest is null))
);
comment on table storehook.purchase_facts is
    'what each piece of evidence said about a purchase; append-only and kept for good, since what was true is told by superseded records';
comment on column storehook.purchase_facts.signed_at is 'when the evidence was signed: the outer signedDate of a notification';

-- What the tables held of it so far. Superseded records were not kept: `storehook rebuild` reads them out of Apple's bytes.
insert into storehook.purchase_facts
       (environment, bundle_id, original_transaction_id, outbox_id, signed_at, reported_status,
        transaction_id, transaction_signed_at, transaction_digest, web_order_line_item_id, product_id, subscription_group_id,
        kind, ownership, purchased_at, expires_at, revoked_at, revocation_percentage, is_upgraded, is_renewal, is_free_trial,
        quantity, app_account_token,
        renewal_signed_at, renewal_digest, current_product_id, renewal_product_id, auto_renew, renews_at, expiration_intent,
        in_billing_retry, grace_expires_at, price_increase_pending, renewal_account_token)
select n.environment, n.bundle_id, n.original_transaction_id, n.outbox_id, n.signed_at, n.apple_status,
       t.transaction_id, t.signed_at, t.digest, t.web_order_line_item_id, t.product_id, t.subscription_group_id,
       t.kind, t.ownership, t.purchased_at, t.expires_at, t.revoked_at, (t.payload->>'revocationPercentage')::numeric::bigint,
       t.is_upgraded, t.reason is not distinct from 'RENEWAL',
       coalesce(t.offer_discount_type = 'FREE_TRIAL' and t.payload->>'offerType' = '1', false), t.quantity,
       t.app_account_token,
       r.signed_at, r.digest, r.product_id, r.renewal_product_id, r.auto_renew, r.renews_at, r.expiration_intent,
       coalesce(r.in_billing_retry, false), r.grace_expires_at, coalesce(r.price_increase_status = 0, false),
       r.app_account_token
  from storehook.notifications n
  left join storehook.transactions t
       on t.notification_uuid = n.notification_uuid and t.original_transaction_id = n.original_transaction_id
      and t.bundle_id = n.bundle_id and t.environment = n.environment
  left join storehook.renewals r
       on r.notification_uuid = n.notification_uuid and r.original_transaction_id = n.original_transaction_id
      and r.bundle_id = n.bundle_id and r.environment = n.environment
 where n.original_transaction_id is not null;

-- Reported statuses stand among the facts. What is left is the row that two workers meet at, and where something about a
-- purchase that its records do not explain is counted.
alter table storehook.purchase_lines
    drop column apple_status,
    drop column apple_status_signed_at,
    add column anomalies integer not null default 0 check (anomalies >= 0);
comment on table storehook.purchase_lines is
    'one row for each purchase that any fact speaks of; locked by whoever derives its state';
comment on column storehook.purchase_lines.anomalies is 'rows of it in table anomalies';

-- What the records of a purchase do not explain: something is missing, or a rule is wrong.
create table storehook.anomalies (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    kind                    text        not null check (kind in ('status_contradicted', 'period_missing', 'upgrade_missing',
                                                                 'transaction_unusable', 'transaction_shared')),
    signed_at               timestamptz not null,
    transaction_id          text,
    reported_status         smallint,
    derived_status          smallint
);
create index anomalies_by_purchase
    on storehook.anomalies (original_transaction_id, bundle_id, environment, signed_at);

-- Transactions that turned up under more than one original transaction: one row for each. The latest-signed record, which
-- stands in transactions, says whose it is; the others derive nothing from it.
create table storehook.shared_transactions (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    transaction_id          text        collate "C" not null,
    primary key (original_transaction_id, bundle_id, environment, transaction_id)
);
create index shared_transactions_by_transaction
    on storehook.shared_transactions (transaction_id, bundle_id, environment);

-- Columns that readers asked for; the rest is in payload.
alter table storehook.transactions
    add column revocation_type       text,
    add column revocation_reason     smallint,
    add column revocation_percentage bigint,
    add column offer_type            smallint,
    add column offer_id              text,
    add column storefront            text,
    add column app_transaction_id    text,
    add column billing_plan_type     text,
    alter column notification_uuid drop not null;
comment on column storehook.transactions.revocation_percentage is 'thousandths of a percent: 100000 is all of the price';
comment on column storehook.transactions.notification_uuid is
    'the notification whose record stands here; null where it came by itself';
update storehook.transactions
   set revocation_type = payload->>'revocationType',
       revocation_reason = (payload->>'revocationReason')::numeric::smallint,
       revocation_percentage = (payload->>'revocationPercentage')::numeric::bigint,
       offer_type = (payload->>'offerType')::numeric::smallint,
       offer_id = payload->>'offerIdentifier',
       storefront = payload->>'storefront',
       app_transaction_id = payload->>'appTransactionId',
       billing_plan_type = payload->>'billingPlanType';
alter table storehook.renewals
    add column renewal_price      bigint,
    add column currency           text,
    add column offer_type         smallint,
    add column offer_id           text,
    add column app_transaction_id text,
    alter column notification_uuid drop not null;
comment on column storehook.renewals.renewal_price is 'milliunits of currency; of the coming renewal, as is the offer';
update storehook.renewals
   set renewal_price = (payload->>'renewalPrice')::numeric::bigint,
       currency = payload->>'currency',
       offer_type = (payload->>'offerType')::numeric::smallint,
       offer_id = payload->>'offerIdentifier',
       app_transaction_id = payload->>'appTransactionId';

-- By purchase and in the order of time: what is derived anew after a renewal reads only the end of it.
drop index storehook.transactions_by_line;
create index transactions_by_purchase
    on storehook.transactions (original_transaction_id, bundle_id, environment, purchased_at);
-- Questions by date over all purchases: what was paid today.
create index transactions_by_purchase_date on storehook.transactions (purchased_at);
-- Copies of one paid period, which a restore makes.
create index transactions_by_line_item
    on storehook.transactions (web_order_line_item_id, bundle_id, environment)
    where web_order_line_item_id is not null;
drop view storehook.entitlements, storehook.subscription_status, storehook.paid_periods;
drop function storehook.status_at(timestamptz);
drop index storehook.transactions_one_time;

-- Phases carry all that changes with time. The last four to seven stand in subscriptions, so that a row stays small
-- however long the purchase has lasted; earlier ones, in fours, in subscription_history.
alter table storehook.subscriptions
    add column earlier_phases          integer not null default 0 check (earlier_phases >= 0),
    add column is_regular              boolean not null default false,
    add column carried_account_token   uuid,
    add column former_account_token    uuid,
    add column paid_until              timestamptz,
    add column phase_basis             text[],
    add column phase_transaction       text[],
    add column phase_period_ends       timestamptz[],
    add column phase_grace_ends        timestamptz[],
    add column phase_will_renew        boolean[],
    add column phase_renewal_product   text[],
    add column phase_price_pending     boolean[],
    add column phase_intent            smallint[],
    add column phase_account           uuid[];
-- What stood there, until `storehook rebuild` derives it anew.
update storehook.subscriptions s
   set paid_until = phase_expires[cardinality(phase_expires)],
       phase_basis = array_fill('records'::text, array[n]),
       phase_transaction = array_fill(null::text, array[n]),
       phase_period_ends = phase_expires,
       phase_grace_ends = array(select case when s.phase_status[i] = 'grace_period' then s.phase_starts[i + 1] end
                                  from generate_series(1, n) i order by i),
       phase_will_renew = array_fill(will_renew, array[n]),
       phase_renewal_product = array_fill(renewal_product_id, array[n]),
       phase_price_pending = array_fill(price_increase_pending, array[n]),
       phase_intent = array_fill(expiration_intent, array[n]),
       phase_account = array_fill(app_account_token, array[n])
  from (select original_transaction_id as id, bundle_id as bundle, environment as env, cardinality(phase_starts) as n
          from storehook.subscriptions) sizes
 where s.original_transaction_id = sizes.id and s.bundle_id = sizes.bundle and s.environment = sizes.env;
alter table storehook.subscriptions
    drop column ownership,
    drop column will_renew,
    drop column renewal_product_id,
    drop column price_increase_pending,
    drop column expiration_intent,
    alter column paid_until set not null,
    alter column phase_basis set not null,
    alter column phase_transaction set not null,
    alter column phase_period_ends set not null,
    alter column phase_grace_ends set not null,
    alter column phase_will_renew set not null,
    alter column phase_renewal_product set not null,
    alter column phase_price_pending set not null,
    alter column phase_intent set not null,
    alter column phase_account set not null,
    add check (phase_basis <@ array['records', 'renewal_info', 'reported_status']),
    add check (cardinality(phase_basis) = cardinality(phase_starts)
               and cardinality(phase_transaction) = cardinality(phase_starts)
               and cardinality(phase_period_ends) = cardinality(phase_starts)
               and cardinality(phase_grace_ends) = cardinality(phase_starts)
               and cardinality(phase_will_renew) = cardinality(phase_starts)
               and cardinality(phase_renewal_product) = cardinality(phase_starts)
               and cardinality(phase_price_pending) = cardinality(phase_starts)
               and cardinality(phase_intent) = cardinality(phase_starts)
               and cardinality(phase_account) = cardinality(phase_starts));
comment on column storehook.subscriptions.is_regular is
    'its records are dated as Apple dates them, so that what follows can be derived from the last of them alone';
comment on column storehook.subscriptions.app_account_token is 'the account in the last phase';
comment on column storehook.subscriptions.former_account_token is
    'the account of earlier phases that stand here, where it is another one: until the last phase begins, the purchase is its';
comment on column storehook.subscriptions.carried_account_token is
    'the account of the last period that names one, of those that began by the first phase here; for deriving what follows';
comment on column storehook.subscriptions.paid_until is 'when the latest paid stretch ends, or ended';
create index subscriptions_by_former_account
    on storehook.subscriptions (former_account_token) where former_account_token is not null;
-- Questions by date over all purchases: what ends within a week.
create index subscriptions_by_paid_until on storehook.subscriptions (paid_until);

create table storehook.subscription_history (
    environment             text          collate "C" not null,
    bundle_id               text          collate "C" not null,
    original_transaction_id text          collate "C" not null,
    starts_at               timestamptz   not null,
    phase_starts            timestamptz[] not null check (cardinality(phase_starts) = 4),
    phase_status            text[]        not null,
    phase_basis             text[]        not null,
    phase_product           text[]        not null,
    phase_transaction       text[]        not null,
    phase_expires           timestamptz[] not null,
    phase_period_ends       timestamptz[] not null,
    phase_grace_ends        timestamptz[] not null,
    phase_trial             boolean[]     not null,
    phase_will_renew        boolean[]     not null,
    phase_renewal_product   text[]        not null,
    phase_price_pending     boolean[]     not null,
    phase_intent            smallint[]    not null,
    phase_account           uuid[]        not null,
    primary key (original_transaction_id, bundle_id, environment, starts_at)
);
comment on table storehook.subscription_history is
    'phases of subscriptions that are over, four to a row; the last four to seven of each stand in subscriptions';

-- What was bought once: one row for each underlying purchase, whatever copies restores made of it.
create table storehook.one_time_purchases (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    kind                    text        not null check (kind in ('non_consumable', 'non_renewing', 'consumable')),
    product_id              text,
    ownership               text,
    app_account_token       uuid,
    transaction_id          text        not null,
    purchased_at            timestamptz not null,
    expires_at              timestamptz,
    revoked_at              timestamptz,
    quantity                bigint      not null,
    revoked_share           bigint      not null,
    primary key (original_transaction_id, bundle_id, environment)
) with (fillfactor = 90);
comment on column storehook.one_time_purchases.revoked_share is
    'how much of it was taken back, in thousandths of a percent: 0 while it stands, 100000 for all of it';
create index one_time_purchases_by_account
    on storehook.one_time_purchases (app_account_token) where app_account_token is not null;
create index one_time_purchases_by_id
    on storehook.one_time_purchases (original_transaction_id collate "default");
insert into storehook.one_time_purchases
select distinct on (environment, bundle_id, original_transaction_id)
       environment, bundle_id, original_transaction_id,
       case kind when 'Non-Consumable' then 'non_consumable' when 'Consumable' then 'consumable' else 'non_renewing' end,
       product_id, ownership, app_account_token, transaction_id, purchased_at, expires_at, revoked_at,
       coalesce(quantity, 1),
       case when revoked_at is null then 0 else coalesce(revocation_percentage, 100000) end
  from storehook.transactions
 where kind in ('Non-Consumable', 'Non-Renewing Subscription', 'Consumable') and purchased_at is not null
 order by environment, bundle_id, original_transaction_id, signed_at desc, digest desc;

-- What a notification says beside its transaction and renewal info, as it was signed: retention drops the bytes, not this.
alter table storehook.notifications
    add column consumption_request_reason text,
    add column details json;
comment on column storehook.notifications.details is
    'the summary, the external purchase token, or the app data part without its signed text; null for the rest';

-- What happened is told by the facts, in the order of signing, and needs no table; when it was learned is told by the rows
-- of notifications.
drop table storehook.subscription_changes;
