-- Facts: what Apple signed, merged by one rule. Keys begin with (environment, bundle_id): nothing crosses apps or
-- environments. They are compared as bytes (collate "C"): they are names, not words, and that is the cheapest order. Key columns stand with the
-- most telling one first, so that a comparison is decided by its first bytes. Digests are SHA-256 over the signed payload's bytes and decide between records signed in the same
-- millisecond, so that every order of arrival ends in the same rows.

create table storehook.notifications (
    notification_uuid       uuid        primary key,
    outbox_id               bigint      not null unique,
    type                    text        not null,
    subtype                 text,
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    app_apple_id            bigint,
    original_transaction_id text        collate "C",
    transaction_id          text        collate "C",
    apple_status            smallint,
    signed_at               timestamptz not null,
    received_at             timestamptz not null,
    applied_at              timestamptz not null default now(),
    outcome                 text        not null check (outcome in ('applied', 'parked'))
);
comment on table storehook.notifications is
    'every verified notification, once: the idempotency key and the audit. parked: of a type this release does not know';
create index notifications_by_line
    on storehook.notifications (original_transaction_id, bundle_id, environment, signed_at)
    where original_transaction_id is not null;
-- Rows come in the order of applied_at, so the smallest of indexes serves "how many in the last minute".
create index notifications_by_applied_at on storehook.notifications using brin (applied_at);

-- One row for each original_transaction_id that any fact speaks of, with Apple's own verdict on it, the latest by the
-- outer signedDate. Writing it first is also what keeps two workers off the same line at once: an upsert locks its row
-- even when the verdict it brings is not newer.
create table storehook.purchase_lines (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    apple_status            smallint,
    apple_status_signed_at  timestamptz,
    primary key (original_transaction_id, bundle_id, environment),
    check ((apple_status is null) = (apple_status_signed_at is null))
) with (fillfactor = 80);
comment on column storehook.purchase_lines.apple_status is
    'data.status: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked; null where Apple never gave one';

create table storehook.transactions (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    transaction_id          text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    web_order_line_item_id  text,
    product_id              text,
    subscription_group_id   text,
    kind                    text,
    ownership               text,
    purchased_at            timestamptz,
    expires_at              timestamptz,
    revoked_at              timestamptz,
    is_upgraded             boolean     not null,
    reason                  text,
    offer_discount_type     text,
    app_account_token       uuid,
    price                   bigint,
    currency                text,
    quantity                integer,
    signed_at               timestamptz not null,
    digest                  bytea       not null check (octet_length(digest) = 32),
    notification_uuid       uuid        not null,
    payload                 json        not null,
    primary key (transaction_id, bundle_id, environment)
) with (fillfactor = 90);
comment on column storehook.transactions.price is
    'milliunits of currency, quantity and offer included, as Apple sent it: 9990 is 9.99, and 230000 is 230 yen';
comment on column storehook.transactions.notification_uuid is 'the notification whose record stands here';
create index transactions_by_line
    on storehook.transactions (original_transaction_id, bundle_id, environment);
-- One-time purchases are few beside renewals: the view on entitlements finds them here.
create index transactions_one_time
    on storehook.transactions (bundle_id, environment, original_transaction_id)
    where kind in ('Non-Consumable', 'Non-Renewing Subscription');

create table storehook.renewals (
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    product_id              text,
    renewal_product_id      text,
    auto_renew              boolean,
    renews_at               timestamptz,
    expiration_intent       smallint,
    in_billing_retry        boolean,
    grace_expires_at        timestamptz,
    price_increase_status   smallint,
    app_account_token       uuid,
    signed_at               timestamptz not null,
    digest                  bytea       not null check (octet_length(digest) = 32),
    notification_uuid       uuid        not null,
    payload                 json        not null,
    primary key (original_transaction_id, bundle_id, environment)
) with (fillfactor = 80);
