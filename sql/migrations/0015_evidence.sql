-- compatible-from: 10
-- One way in: evidence that is no notification, and whichever way it came. It is stored as signed bytes, verified, applied
-- and accounted for as notifications are.

-- What the bytes are, and which way they came; both numbers so that a row is no longer for them.
--
-- Programs of the release before go on beside this: what they store has the defaults, and what is not theirs to understand
-- looks to their workers like bytes packed in a way that they do not know (see outbox_bodies), so that they bury it as
-- body_unreadable, to be replayed by this one's.
alter table storehook.outbox
    add column kind   smallint not null default 0,
    add column source smallint not null default 0;
comment on table storehook.outbox is
    'evidence as it came, byte for byte once it is unpacked: mostly the compact JWS of POSTs that were answered 200; append-only, one partition a day (UTC)';
comment on column storehook.outbox.kind is
    '0: notification; 1: transaction; 2: renewal info; 3: app transaction (each a compact JWS); 4: old receipt, unsigned';
comment on column storehook.outbox.source is
    '0: webhook, Apple posted it; 1: history, Apple''s notification history; 2: api, an answer of Apple''s servers; 3: client, an app or a backend handed it in; 4: operator, storehook''s own command';

-- A partition made like outbox has constraints of its own, which do not go with the parent's. Not valid: what stands was
-- held to less, and nobody should wait while years of it are read again.
alter table storehook.outbox drop constraint outbox_body_check;
do $$
declare
    partition regclass;
begin
    for partition in
        select i.inhrelid::regclass from pg_inherits i join pg_constraint c on c.conrelid = i.inhrelid
         where i.inhparent = 'storehook.outbox'::regclass and c.conname = 'outbox_body_check'
    loop
        execute format('alter table %s drop constraint outbox_body_check', partition);
    end loop;
end
$$;
alter table storehook.outbox
    add constraint outbox_body_check
        check (octet_length(body) <= case when kind = 4 then 4194304 else 262144 end) not valid,
    add constraint outbox_kind_check check (kind between 0 and 4) not valid,
    add constraint outbox_source_check check (source between 0 and 4) not valid;

-- As before; the two bytes tell kind and source as well: packing + 256 × kind + 4096 × source. A receipt is up to 4 MiB, of
-- which a batch would fill a worker's memory, and nothing of it is applied: instead of it its SHA-256 is told.
create or replace function storehook.outbox_bodies(ids bigint[], received_at timestamptz[])
    returns table (id bigint, stored bytea)
    language plpgsql stable strict
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    opens  timestamptz;
    closes timestamptz;
begin
    for opens, closes in
        select min(at), max(at) from unnest(outbox_bodies.received_at) as at
         group by date_trunc('day', at at time zone 'UTC')
    loop
        -- A scalar subquery can only be an index lookup, whatever is thought of the partition's size.
        return query execute
            'select k.id, (select int2send(o.packing | (o.kind << 8) | (o.source << 12))
                                  || case when o.kind = 4 then sha256(o.body) else o.body end
                             from storehook.outbox o
                            where o.received_at = k.received_at and o.id = k.id and o.received_at between $3 and $4)
               from unnest($1, $2) as k (id, received_at)
              where k.received_at between $3 and $4'
            using ids, outbox_bodies.received_at, opens, closes;
    end loop;
end
$$;

-- Evidence that is no notification, once it was verified: what notifications is for those.
create table storehook.records (
    digest                  bytea       primary key check (octet_length(digest) = 32),
    outbox_id               bigint      not null unique,
    kind                    text        not null check (kind in ('transaction', 'renewal', 'app_transaction', 'receipt')),
    source                  text        not null check (source in ('webhook', 'history', 'api', 'client', 'operator')),
    environment             text        collate "C",
    bundle_id               text        collate "C",
    original_transaction_id text        collate "C",
    transaction_id          text        collate "C",
    signed_at               timestamptz,
    received_at             timestamptz not null,
    applied_at              timestamptz not null default now(),
    outcome                 text        not null check (outcome in ('applied', 'parked')),
    -- Of a receipt nobody vouches for what it says.
    check ((kind = 'receipt') = (environment is null)),
    check ((kind = 'receipt') = (bundle_id is null)),
    check ((kind = 'receipt') = (signed_at is null)),
    check ((kind in ('transaction', 'renewal')) = (original_transaction_id is not null)),
    check ((kind = 'transaction') = (transaction_id is not null))
);
comment on table storehook.records is
    'every verified record that came by itself, and every receipt, once; its own digest is the idempotency key';
comment on column storehook.records.digest is
    'SHA-256 of the JSON that was signed, as in transactions.digest; of a receipt, of its bytes';
comment on column storehook.records.source is 'which way it came the first time';
comment on column storehook.records.bundle_id is
    'as the record says; renewal info names no app: that of the purchase it is about';
comment on column storehook.records.outcome is 'parked: this release does nothing with it';
create index records_by_purchase
    on storehook.records (original_transaction_id, bundle_id, environment) where original_transaction_id is not null;
create index records_by_applied_at on storehook.records using brin (applied_at);

alter table storehook.notifications
    add column source text not null default 'webhook';
alter table storehook.notifications
    add constraint notifications_source_check
        check (source in ('webhook', 'history', 'api', 'client', 'operator')) not valid;
comment on column storehook.notifications.source is 'which way it came the first time';

-- A repeat is of the one or of the other.
alter table storehook.duplicates
    alter column notification_uuid drop not null,
    add column digest bytea;
alter table storehook.duplicates
    add constraint duplicates_digest_check check (octet_length(digest) = 32) not valid,
    add constraint duplicates_check check ((notification_uuid is null) <> (digest is null)) not valid;
comment on column storehook.duplicates.digest is 'of a record that came by itself: its key in records';

alter table storehook.dead_letters
    add column kind   text not null default 'notification',
    add column source text not null default 'webhook';
alter table storehook.dead_letters
    add constraint dead_letters_kind_check
        check (kind in ('notification', 'transaction', 'renewal', 'app_transaction', 'receipt')) not valid,
    add constraint dead_letters_source_check
        check (source in ('webhook', 'history', 'api', 'client', 'operator')) not valid;
create or replace view storehook.dead_letters_open as
select id, notification_uuid, type, category, reason, message, attempts, received_at, dead_at, kind, source
  from storehook.dead_letters
 where resolution = 'open';

create or replace view storehook.outbox_places as
select id as outbox_id, 'pending'::text as place from storehook.outbox_queue
union all
select outbox_id, outcome from storehook.notifications
union all
select outbox_id, outcome from storehook.records
union all
select outbox_id, 'duplicate' from storehook.duplicates
union all
select outbox_id, case resolution when 'open' then 'dead' else 'discarded' end
  from storehook.dead_letters where resolution <> 'replayed';

create or replace view storehook.learned as
select environment, bundle_id, original_transaction_id, notification_uuid, type, subtype, signed_at, received_at, applied_at,
       received_at - signed_at as signed_to_received,
       applied_at - received_at as received_to_applied,
       'notification' as kind, source
  from storehook.notifications
union all
select environment, bundle_id, original_transaction_id, null, null, null, signed_at, received_at, applied_at,
       received_at - signed_at,
       applied_at - received_at,
       kind, source
  from storehook.records
 where signed_at is not null;
