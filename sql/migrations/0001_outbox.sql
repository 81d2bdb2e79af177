-- The queue: what Apple posted, what is still to do, and what could not be done.
-- Everything stands in schema storehook; the migrator creates it before the first migration.

-- Ids grow in the order of storing. A sequence rather than an identity column: the receiver draws ids itself, so that it
-- can fill outbox and outbox_queue in one statement without the right to read either.
create sequence storehook.outbox_id as bigint;

-- Apple's bytes. Append-only: no row is ever updated, and old ones leave by dropping their day's partition.
create table storehook.outbox (
    id          bigint      not null default nextval('storehook.outbox_id'),
    received_at timestamptz not null default now(),
    body        bytea       not null check (octet_length(body) <= 262144),
    primary key (received_at, id)
) partition by range (received_at);
comment on table storehook.outbox is
    'the compact JWS of each POST that was answered 200, byte for byte; append-only, one partition a day (UTC)';

-- A JWS is base64 text: compressing it costs more than it saves, so the bytes are stored as they are.
alter table storehook.outbox alter column body set storage external;

-- Nothing may be refused because a partition is missing: what no day's partition takes lands here, and
-- ensure_outbox_partitions moves it out when that day is made.
create table storehook.outbox_default partition of storehook.outbox default;

-- Makes the partitions from yesterday to `days_ahead` days from now; answers how many it made. Safe to run from many
-- machines at once. SECURITY DEFINER, because a worker may make tomorrow's partition without owning the tables.
create function storehook.ensure_outbox_partitions(days_ahead integer default 7) returns integer
    language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
    today   date := (now() at time zone 'UTC')::date;
    day     date;
    opens   timestamptz;
    closes  timestamptz;
    name    text;
    made    integer := 0;
begin
    if days_ahead not between 0 and 366 then
        raise exception 'days_ahead must be between 0 and 366' using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint);
    for day in select generate_series(today - 1, today + days_ahead, interval '1 day')::date loop
        name := 'outbox_' || to_char(day, 'YYYYMMDD');
        continue when to_regclass('storehook.' || name) is not null;
        opens := day::timestamp at time zone 'UTC';
        closes := (day + 1)::timestamp at time zone 'UTC';
        execute format('create table storehook.%I (like storehook.outbox including all)', name);
        -- Rows that came while the day had no partition move over before it is attached; a concurrent insert waits.
        lock table storehook.outbox_default in access exclusive mode;
        execute format('with moved as (delete from storehook.outbox_default
                                       where received_at >= %L and received_at < %L returning *)
                        insert into storehook.%I select * from moved', opens, closes, name);
        execute format('alter table storehook.outbox attach partition storehook.%I for values from (%L) to (%L)',
                       name, opens, closes);
        made := made + 1;
    end loop;
    return made;
end
$$;
revoke all on function storehook.ensure_outbox_partitions(integer) from public;

-- One narrow row for each notification still to do; deleted when it is settled.
--
-- A lease is not a flag beside the due time: claiming moves due_at to the lease's end, so a row whose worker died simply
-- falls due again, and one index serves new rows, retries and expired leases alike. lease_token fences: settling names
-- it, and a worker whose lease was taken over holds a token that matches nothing.
create table storehook.outbox_queue (
    id           bigint      primary key,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (
    -- Every row is updated once and deleted once within seconds: vacuum by count, not by share, and do not dawdle.
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 100000,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 50000,
    autovacuum_vacuum_cost_delay = 0
);
create index outbox_queue_due on storehook.outbox_queue (due_at, id);
comment on column storehook.outbox_queue.due_at is
    'when the row may be claimed; while it is leased, when the lease ends';
comment on column storehook.outbox_queue.attempts is
    'claims so far, counted and committed before the work begins';

-- What could not be done. A table of its own, so that what failed never slows what is to come.
create table storehook.dead_letters (
    id                bigint      primary key generated always as identity,
    outbox_id         bigint      not null,
    received_at       timestamptz not null,
    notification_uuid uuid,
    type              text        check (length(type) <= 100),
    subtype           text        check (length(subtype) <= 100),
    category          text        not null check (category in ('unverified', 'unprocessable')),
    reason            text        not null check (reason ~ '^[a-z0-9_]{1,60}$'),
    message           text        not null check (length(message) <= 1000),
    attempts          smallint    not null check (attempts >= 0),
    dead_at           timestamptz not null default now(),
    resolution        text        not null default 'open' check (resolution in ('open', 'replayed', 'discarded')),
    resolved_at       timestamptz,
    resolved_by       text        check (length(resolved_by) <= 200),
    resolved_why      text        check (length(resolved_why) <= 1000),
    check ((resolution = 'open') = (resolved_at is null)),
    check ((resolved_at is null) = (resolved_by is null)),
    check (resolution <> 'discarded' or resolved_why is not null)
);
-- Of one notification at most one letter is open; replayed ones stay as its history.
create unique index dead_letters_one_open on storehook.dead_letters (outbox_id) where resolution = 'open';
create index dead_letters_open_by_reason on storehook.dead_letters (reason, id) where resolution = 'open';
create index dead_letters_by_outbox on storehook.dead_letters (outbox_id);
comment on column storehook.dead_letters.category is
    'unverified: we could not trust it; unprocessable: we trust it and could not apply it';
comment on column storehook.dead_letters.notification_uuid is
    'as the letter itself says: for an unverified one nobody vouches for it, nor for type and subtype';

-- Repeats of a notification that is recorded already: Apple's retries, and posts whose answer was lost.
create table storehook.duplicates (
    outbox_id         bigint      primary key,
    notification_uuid uuid        not null,
    settled_at        timestamptz not null default now()
);
