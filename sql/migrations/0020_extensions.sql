-- compatible-from: 10
-- Extensions of renewal dates: who asked Apple for which, why, and what became of it. Each is recorded before Apple is asked,
-- and asked for again only where it was found out that Apple has done nothing.

create table storehook.extensions (
    id                      bigint      primary key generated always as identity,
    environment             text        collate "C" not null check (length(environment) <= 50),
    bundle_id               text        collate "C" not null check (length(bundle_id) <= 255),
    request_identifier      text        not null check (length(request_identifier) between 1 and 128),
    -- One subscription, or all active ones of a product.
    original_transaction_id text        collate "C" check (length(original_transaction_id) <= 255),
    product_id              text        collate "C" check (length(product_id) <= 255),
    storefronts             text[]      not null default '{}',
    days                    smallint    not null check (days between 1 and 90),
    reason_code             smallint    not null check (reason_code between 0 and 3),
    requested_at            timestamptz not null default now(),
    requested_by            text        not null check (length(requested_by) between 1 and 200),
    why                     text        check (length(why) <= 1000),
    state                   text        not null default 'requested' check (state in
        ('requested', 'unknown', 'accepted', 'completed', 'extended', 'refused', 'not_extended', 'closed')),
    -- What Apple said of the subscription right before it was asked.
    period_before           text        check (length(period_before) <= 255),
    renews_before           timestamptz,
    signed_before           timestamptz,
    asked_at                timestamptz,
    asked_again             smallint    not null default 0 check (asked_again >= 0),
    accepted_at             timestamptz,
    effective_at            timestamptz,
    confirmed_at            timestamptz,
    notification_uuid       uuid,
    completed_at            timestamptz,
    succeeded               bigint,
    failed                  bigint,
    heard_until             timestamptz,
    code                    text        check (code ~ '^[a-z0-9_]{1,100}$'),
    message                 text        check (length(message) <= 1000),
    settled_at              timestamptz,
    closed_by               text        check (length(closed_by) <= 200),
    closed_why              text        check (length(closed_why) <= 1000),
    unique (bundle_id, environment, request_identifier),
    check ((original_transaction_id is null) <> (product_id is null)),
    check ((settled_at is null) = (state in ('requested', 'unknown', 'accepted', 'completed'))),
    check (state <> 'requested' or asked_at is null),
    check (state not in ('unknown', 'accepted', 'completed', 'extended', 'not_extended') or asked_at is not null),
    check (state <> 'completed' or product_id is not null),
    check ((state = 'refused') = (code is not null)),
    check ((state = 'closed') = (closed_why is not null) and (closed_why is null) = (closed_by is null))
);
comment on table storehook.extensions is
    'extensions of renewal dates: recorded before Apple is asked, asked for once unless Apple has done nothing, and '
    'followed until they are applied';
comment on column storehook.extensions.state is
    'requested: Apple was not asked yet, or has done nothing; unknown: it was, and what it did is not known; '
    'accepted: Apple took it on; completed: Apple is done with all, and which failed is still being heard; '
    'extended: done; refused: Apple does not do it; not_extended: found out that Apple did not do it; closed: given up by somebody';
comment on column storehook.extensions.period_before is 'the transaction whose period is to last longer';
comment on column storehook.extensions.asked_at is 'right before Apple was asked';
comment on column storehook.extensions.asked_again is
    'how often it was found out that Apple had done nothing, so that it is asked again';
comment on column storehook.extensions.effective_at is 'the new renewal date, by Apple';
comment on column storehook.extensions.confirmed_at is 'since when Apple''s status of the subscription shows it';
comment on column storehook.extensions.notification_uuid is
    'the RENEWAL_EXTENDED that was applied, or the RENEWAL_EXTENSION with the summary once it came; '
    'null where only Apple''s status told';
comment on column storehook.extensions.completed_at is 'when Apple was done with all of them, by Apple''s clock';
comment on column storehook.extensions.heard_until is 'up to when notifications were looked through for failures and the summary';
comment on column storehook.extensions.code is 'why Apple refuses';
-- One at a time for each subscription, and each product with its countries: a second could not be told from the first. Whoever
-- records one looks for those that overlap, too.
create unique index extensions_open_one on storehook.extensions (original_transaction_id, bundle_id, environment)
    where settled_at is null and original_transaction_id is not null;
create unique index extensions_open_all on storehook.extensions (bundle_id, environment, product_id, storefronts)
    where settled_at is null and product_id is not null;

-- Subscriptions that a mass extension could not extend, as Apple names them one by one.
create table storehook.extension_failures (
    extension_id            bigint      not null references storehook.extensions on delete cascade,
    notification_uuid       uuid        not null,
    original_transaction_id text        collate "C" not null,
    signed_at               timestamptz not null,
    primary key (extension_id, notification_uuid)
);
comment on table storehook.extension_failures is
    'subscriptions that a mass extension could not extend: each RENEWAL_EXTENSION with subtype FAILURE';

-- Which of them are to be looked after, when, and by whom: see the queue's own comments at outbox_queue.
create table storehook.extension_queue (
    id           bigint      primary key references storehook.extensions on delete cascade,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lapses       smallint    not null default 0 check (lapses >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (fillfactor = 70);
create index extension_queue_due on storehook.extension_queue (due_at, id);

-- What is not finished: how many of each state, and for how long the oldest of them has been waited for.
create view storehook.extensions_open as
select environment,
       bundle_id,
       case when product_id is null then 'one' else 'all' end as kind,
       state,
       count(*)                                               as count,
       extract(epoch from greatest(interval '0', now() - min(
           case state when 'accepted' then accepted_at
                      when 'completed' then coalesce(completed_at, accepted_at)
                      else requested_at end)))::double precision as oldest_age_seconds
  from storehook.extensions
 where settled_at is null
 group by environment, bundle_id, product_id is null, state;
comment on view storehook.extensions_open is
    'extensions of renewal dates that are not finished: how many of each state, and how long the oldest is waited for';
