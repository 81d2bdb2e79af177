-- compatible-from: 10
-- Events are told by everybody who causes one, and by the clock. No program has told any so far: what the last migration
-- made for them is empty.

-- What was told last is read and written whole, for each notification, by programs alone: one text costs a third of twenty columns.
-- Its fields, separated by |, with \ before what it stands for (\p is |, \e nothing): version 1 of it is, of a purchase,
-- 1|since|status|basis|product|transaction|expires|period ends|grace ends|trial|renews|renews to|price pending|intent|signed
-- account|account|ends of periods told unheard|end warned of|days warned ahead; instants in milliseconds since 1970, null empty.
drop table storehook.purchase_tellings;
create table storehook.purchase_tellings (
    original_transaction_id text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    environment             text        collate "C" not null,
    sequence                bigint      not null default 0 check (sequence >= 0),
    due_at                  timestamptz,
    told                    text        check (octet_length(told) <= 65536),
    primary key (original_transaction_id, bundle_id, environment)
) with (fillfactor = 70);
comment on table storehook.purchase_tellings is 'what was told last of each purchase, and when something is to be told next';
comment on column storehook.purchase_tellings.sequence is 'the last number in its own order, which it has while it is no account''s';
comment on column storehook.purchase_tellings.due_at is 'when it changes by itself, or is to be warned of: the clock''s queue';
comment on column storehook.purchase_tellings.told is 'what it was; null of what was bought once, and where nothing was told';
create index purchase_tellings_due on storehook.purchase_tellings (due_at) where due_at is not null;

-- Of an account: 1|since|status|tier|source|product|app|purchase|act|expires|renews|trial.
drop table storehook.access_tellings;
create table storehook.access_tellings (
    token                   uuid        not null,
    environment             text        collate "C" not null,
    sequence                bigint      not null default 0 check (sequence >= 0),
    due_at                  timestamptz,
    catalog                 bigint,
    told                    text        check (octet_length(told) <= 65536),
    primary key (token, environment),
    check (told is null or catalog is not null)
) with (fillfactor = 70);
comment on table storehook.access_tellings is 'what was told last of each account, and when something is to be told next';
comment on column storehook.access_tellings.sequence is 'the number of its last event';
comment on column storehook.access_tellings.due_at is 'when it changes by itself: the clock''s queue';
comment on column storehook.access_tellings.catalog is 'under which it was told: another one that became current since is still to be told';
comment on column storehook.access_tellings.told is 'what it was; null where nothing was told';
create index access_tellings_due on storehook.access_tellings (due_at) where due_at is not null;

-- What is to be told of everybody is told in portions, by whichever worker comes: each portion notes how far it came, in the
-- transaction that tells it. So nobody who dies in the middle leaves anything untold.
create table storehook.telling_walks (
    what            text        primary key check (what in ('purchases', 'accounts')),
    is_under_way    boolean     not null,
    after_key       text[],
    catalog         bigint,
    next_catalog    bigint,
    filled_scopes   bigint      not null default 0 check (filled_scopes >= 0),
    check (after_key is null or is_under_way)
) with (fillfactor = 50);
comment on table storehook.telling_walks is 'what is to be told of all purchases or all accounts, and how far that has come';
comment on column storehook.telling_walks.after_key is 'the last one that was gone through';
comment on column storehook.telling_walks.catalog is 'accounts: under which all of them have been told';
comment on column storehook.telling_walks.next_catalog is 'accounts: under which they are being told';
comment on column storehook.telling_walks.filled_scopes is
    'purchases: how many apps and environments had their whole history when all were gone through the last time';
-- What was known before there were events is told as it stands.
insert into storehook.telling_walks (what, is_under_way)
values ('purchases', exists (select from storehook.purchase_lines)), ('accounts', false);

-- The day of an event that was placed long ago: rows come in the order of their days, but for those that were late.
create index event_positions_told_at on storehook.event_positions using brin (told_at);

-- Whether Apple's list of an app's past is still being gone through for the first time: until then what comes of it is
-- half of a story, and is told when all of it is there. SECURITY DEFINER: who tells need not read what Apple was asked.
create function storehook.is_filling(bundle_id text, environment text) returns boolean
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select exists (
        select from storehook.history_windows w
         where w.bundle_id = is_filling.bundle_id and w.environment = is_filling.environment
           and w.first_asked_at is null
           and w.starts_at < (select min(f.planned_at) from storehook.history_windows f
                               where f.bundle_id = is_filling.bundle_id and f.environment = is_filling.environment))
$$;
revoke all on function storehook.is_filling(text, text) from public;

-- How many apps and environments have their whole history, and how many are still to get it.
create function storehook.history_fills() returns table (filled bigint, filling bigint)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select count(*) filter (where not f.is_filling), count(*) filter (where f.is_filling)
      from (select storehook.is_filling(s.bundle_id, s.environment) as is_filling
              from (select distinct bundle_id, environment from storehook.history_windows) s) f
$$;
revoke all on function storehook.history_fills() from public;

-- As before, but it waits for who is at it, which takes milliseconds: who asks after a commit finds that placed afterwards.
--
-- Events are noted as unplaced by those who write them although their transactions' numbers could tell the same: an event is placed
-- once no transaction older than its own is running. But then a single one that stays open, of anybody on the server, would hold up
-- what everybody is told; and writing the note is a fifteenth of what an event costs.
create or replace function storehook.place_events(most integer default 10000) returns integer
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
    -- Mostly there is nothing, and then nobody is to wait.
    if not exists (select from storehook.events_unplaced) then
        return 0;
    end if;
    select last_position into base from storehook.event_feed for update;
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

-- Drops a day's events with their positions, if it is over for so many days and all of it is placed; answers whether it did.
-- Waits for nobody: a day that somebody reads goes another time.
create function storehook.drop_event_day(day date, kept_days integer) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '250ms'
as $$
declare
    opens  constant timestamptz := day::timestamp at time zone 'UTC';
    closes constant timestamptz := (day + 1)::timestamp at time zone 'UTC';
    name   constant text := 'events_' || to_char(day, 'YYYYMMDD');
begin
    if kept_days not between 7 and 36500 then
        raise exception 'kept_days must be between 7 and 36500' using errcode = 'invalid_parameter_value';
    end if;
    if day >= (now() at time zone 'UTC')::date - kept_days or to_regclass('storehook.' || name) is null then
        return false;
    end if;
    if exists (select from storehook.events_unplaced u where u.told_at >= opens and u.told_at < closes) then
        return false;
    end if;
    delete from storehook.event_positions p where p.told_at >= opens and p.told_at < closes;
    -- No cascade: it takes nothing along but its own day.
    execute format('drop table storehook.%I', name);
    return true;
end
$$;
revoke all on function storehook.drop_event_day(date, integer) from public;

-- The days that may be dropped, the oldest first.
create function storehook.event_days(kept_days integer) returns setof date
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select to_date(substr(c.relname, 8), 'YYYYMMDD')
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'storehook.events'::regclass and c.relname ~ '^events_[0-9]{8}$'
       and to_date(substr(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date - kept_days
     order by 1
$$;
revoke all on function storehook.event_days(integer) from public;

-- What is still to be told, for whoever watches.
create view storehook.telling_status as
    select (select count(*) from storehook.events_unplaced) as unplaced,
           greatest(extract(epoch from clock_timestamp() - (
               select min(due_at) from (
                   select min(due_at) as due_at from storehook.purchase_tellings where due_at is not null
                    union all
                   select min(due_at) from storehook.access_tellings where due_at is not null) due)), 0)::float8 as due_seconds,
           (select last_position from storehook.event_feed) as last_position;
comment on view storehook.telling_status is 'events without a place so far, and how long ago what is due first was due';
