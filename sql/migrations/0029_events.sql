-- compatible-from: 10
-- Events: what changed, told once, in order. Written in the transaction that causes them; delivered from here by who delivers them.
--
-- Who tells holds what it tells of: purchases by their keys, then accounts by their tokens, as everywhere. So the events of one
-- account, and those of a purchase of no account, are numbered and committed one after the other.

-- Ids grow in the order of writing, which is not that of committing: see event_positions.
create sequence storehook.event_id as bigint;

-- Append-only: no row is ever updated, and old ones leave by dropping their day's partition.
create table storehook.events (
    told_at                 timestamptz not null default now(),
    id                      bigint      not null default nextval('storehook.event_id'),
    kind                    text        not null check (kind ~ '^[a-z_]+(\.[a-z_]+)?$' and length(kind) <= 60),
    environment             text        collate "C" not null,
    bundle_id               text        collate "C",
    token                   uuid,
    original_transaction_id text        collate "C",
    sequence                bigint      not null check (sequence > 0),
    version                 bigint      check (version >= 0),
    at                      timestamptz not null,
    is_late                 boolean     not null,
    is_correction           boolean     not null,
    content                 text        not null check (octet_length(content) <= 65536),
    primary key (told_at, id),
    check (token is not null or original_transaction_id is not null or kind = 'test'),
    check ((token is null) = (version is null))
) partition by range (told_at);
comment on table storehook.events is 'what was told, append-only, one partition a day (UTC)';
comment on column storehook.events.told_at is 'the beginning of the transaction that caused it';
comment on column storehook.events.token is 'the account in whose order it stands; null for a purchase of no account, which has an order of its own';
comment on column storehook.events.sequence is 'its number in that order, from 1 on, without a gap';
comment on column storehook.events.version is 'of the account, by then: every read after it shows at least this';
comment on column storehook.events.at is 'when what it tells came to be';
comment on column storehook.events.content is 'the members of the body''s data that do not depend on who reads it';
create index events_by_account on storehook.events (token, sequence) where token is not null;
create index events_by_purchase on storehook.events (original_transaction_id, sequence) where token is null;

-- Nothing may be refused because a partition is missing: what no day's partition takes lands here, and
-- ensure_event_partitions moves it out when that day is made.
create table storehook.events_default partition of storehook.events default;

-- Committed events in the order in which a reader follows them, without a gap. An id says nothing about when its transaction
-- committed: a reader that went by ids would jump over the late ones. So whoever writes an event notes it as unplaced, and one
-- placer at a time gives the next positions to those that are committed by then.
create table storehook.events_unplaced (
    id      bigint      primary key,
    told_at timestamptz not null
) with (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_vacuum_cost_delay = 0
);
comment on table storehook.events_unplaced is 'events without a position so far';

create table storehook.event_positions (
    position bigint      primary key check (position > 0),
    id       bigint      not null,
    told_at  timestamptz not null
);
comment on table storehook.event_positions is 'committed events in the order in which readers follow them, without a gap';

-- One row, held by the placer. Not an advisory lock: any login may hold one of those.
create table storehook.event_feed (
    only_row      boolean primary key default true check (only_row),
    last_position bigint  not null default 0 check (last_position >= 0)
) with (fillfactor = 50);
insert into storehook.event_feed default values;
comment on table storehook.event_feed is 'the last position that was given';

-- What was told last of each purchase. Of one that was bought once only the order is kept here: what it was before is in its
-- records.
create table storehook.purchase_tellings (
    original_transaction_id text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    environment             text        collate "C" not null,
    sequence                bigint      not null default 0 check (sequence >= 0),
    due_at                  timestamptz,
    token                   uuid,
    since                   timestamptz,
    status                  text        check (status in ('trial', 'active', 'cancelled', 'grace_period', 'billing_retry', 'expired', 'revoked')),
    basis                   text        check (basis in ('records', 'renewal_info', 'reported_status')),
    product_id              text,
    transaction_id          text,
    expires_at              timestamptz,
    period_ends_at          timestamptz,
    grace_ends_at           timestamptz,
    in_trial                boolean,
    will_renew              boolean,
    renewal_product_id      text,
    price_increase_pending  boolean,
    expiration_intent       smallint,
    app_account_token       uuid,
    unheard_ends            text,
    warned_of               timestamptz,
    warned_days             smallint,
    primary key (original_transaction_id, bundle_id, environment),
    check ((status is null) = (since is null) and (status is null) = (basis is null) and (status is null) = (expires_at is null)
           and (status is null) = (period_ends_at is null) and (status is null) = (in_trial is null)
           and (status is null) = (price_increase_pending is null)),
    check ((warned_of is null) = (warned_days is null))
) with (fillfactor = 70);
comment on table storehook.purchase_tellings is 'what was told last of each purchase, and when something is to be told next';
comment on column storehook.purchase_tellings.sequence is 'the last number in its own order, which it has while it is no account''s';
comment on column storehook.purchase_tellings.due_at is 'when it changes by itself, or is to be warned of: the clock''s queue';
comment on column storehook.purchase_tellings.token is 'the account that it was told of';
comment on column storehook.purchase_tellings.unheard_ends is
    'ends of periods that were told by what renewal info presupposes: milliseconds since 1970, by commas';
create index purchase_tellings_due on storehook.purchase_tellings (due_at) where due_at is not null;

create table storehook.access_tellings (
    token                   uuid        not null,
    environment             text        collate "C" not null,
    sequence                bigint      not null default 0 check (sequence >= 0),
    due_at                  timestamptz,
    since                   timestamptz,
    status                  text        check (status in ('active', 'trial', 'cancelled', 'grace_period', 'expired', 'trial_expired', 'revoked', 'free')),
    tier                    text,
    source                  text        check (source in ('apple', 'grant', 'trial', 'none')),
    product_id              text,
    bundle_id               text        collate "C",
    original_transaction_id text        collate "C",
    act                     bigint,
    expires_at              timestamptz,
    will_renew              boolean,
    in_trial                boolean,
    primary key (token, environment),
    check ((status is null) = (since is null) and (status is null) = (tier is null) and (status is null) = (source is null)
           and (status is null) = (will_renew is null) and (status is null) = (in_trial is null))
) with (fillfactor = 70);
comment on table storehook.access_tellings is 'what was told last of each account, and when something is to be told next';
comment on column storehook.access_tellings.sequence is 'the number of its last event';
comment on column storehook.access_tellings.due_at is 'when it changes by itself: the clock''s queue';
create index access_tellings_due on storehook.access_tellings (due_at) where due_at is not null;

-- Gives positions to as many of the events that are committed as are asked for, the first written first; answers to how many.
-- Where another session is at it, to none. Whatever the isolation of who calls it, an account's events keep their order: who
-- sees one of them sees those before it.
create function storehook.place_events(most integer default 10000) returns integer
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    base   bigint;
    placed integer;
begin
    if most not between 1 and 100000 then
        raise exception 'most must be between 1 and 100000' using errcode = 'invalid_parameter_value';
    end if;
    select last_position into base from storehook.event_feed for update skip locked;
    if base is null then
        return 0;
    end if;
    with next as (
        select id from storehook.events_unplaced order by id limit most
    ), taken as (
        delete from storehook.events_unplaced u using next where u.id = next.id returning u.id, u.told_at
    )
    insert into storehook.event_positions (position, id, told_at)
    select base + row_number() over (order by id), id, told_at from taken;
    get diagnostics placed = row_count;
    if placed > 0 then
        update storehook.event_feed set last_position = base + placed;
    end if;
    return placed;
end
$$;
revoke all on function storehook.place_events(integer) from public;

-- As ensure_outbox_partitions, and for the same reasons.
create function storehook.ensure_event_partitions(days_ahead integer default 7) returns integer
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '10s'
as $$
declare
    today  date := (now() at time zone 'UTC')::date;
    days   date[];
    day    date;
    name   text;
    move   constant text := 'with moved as (delete from storehook.events_default
                                            where told_at >= %L and told_at < %L returning *)
                             insert into storehook.%I select * from moved';
begin
    if days_ahead not between 0 and 366 then
        raise exception 'days_ahead must be between 0 and 366' using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(x'73746f72655f7032'::bit(64)::bigint);
    select array_agg(today + n order by n) into days
      from generate_series(-1, days_ahead) n
     where to_regclass('storehook.events_' || to_char(today + n, 'YYYYMMDD')) is null;
    if days is null then
        return 0;
    end if;
    lock table storehook.events_default in share update exclusive mode;
    foreach day in array days loop
        name := 'events_' || to_char(day, 'YYYYMMDD');
        execute format('create table storehook.%I (like storehook.events including all)', name);
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
    end loop;
    perform set_config('lock_timeout', '250ms', true);
    lock table storehook.events_default in access exclusive mode;
    foreach day in array days loop
        name := 'events_' || to_char(day, 'YYYYMMDD');
        -- What came in the meantime.
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
        execute format('alter table storehook.events attach partition storehook.%I for values from (%L) to (%L)',
                       name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    end loop;
    return cardinality(days);
end
$$;
revoke all on function storehook.ensure_event_partitions(integer) from public;
