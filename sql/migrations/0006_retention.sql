-- Retention: Apple's bytes leave by whole days, and what was counted stays counted.

-- Where each stored notification is; one row for each place that it is in.
create view storehook.outbox_places as
select id as outbox_id, 'pending'::text as place from storehook.outbox_queue
union all
select outbox_id, outcome from storehook.notifications
union all
select outbox_id, 'duplicate' from storehook.duplicates
union all
select outbox_id, case resolution when 'open' then 'dead' else 'discarded' end
  from storehook.dead_letters where resolution <> 'replayed';

-- What a day's bytes were when they went: only what is settled goes, so there is no pending and no dead. The sums keep
-- the conservation of notifications checkable for ever; the check is the same promise for each day.
create table storehook.outbox_dropped (
    day        date        primary key,
    received   bigint      not null,
    applied    bigint      not null,
    duplicate  bigint      not null,
    parked     bigint      not null,
    discarded  bigint      not null,
    dropped_at timestamptz not null default now(),
    check (least(applied, duplicate, parked, discarded) >= 0),
    check (received = applied + duplicate + parked + discarded)
);
comment on table storehook.outbox_dropped is
    'days (UTC) whose bytes retention has dropped, and where their notifications were; written with the drop itself';

create or replace view storehook.conservation as
with located as (
    select o.id, count(p.place) as places, min(p.place) as place
      from storehook.outbox o left join storehook.outbox_places p on p.outbox_id = o.id
     group by o.id
), here as (
    select count(*)                                        as received,
           count(*) filter (where place = 'pending')       as pending,
           count(*) filter (where place = 'applied')       as applied,
           count(*) filter (where place = 'duplicate')     as duplicate,
           count(*) filter (where place = 'parked')        as parked,
           count(*) filter (where place = 'dead')          as dead,
           count(*) filter (where place = 'discarded')     as discarded,
           count(*) filter (where places = 0)              as missing,
           count(*) filter (where places > 1)              as doubled
      from located
), gone as (
    select coalesce(sum(received), 0)::bigint  as received,
           coalesce(sum(applied), 0)::bigint   as applied,
           coalesce(sum(duplicate), 0)::bigint as duplicate,
           coalesce(sum(parked), 0)::bigint    as parked,
           coalesce(sum(discarded), 0)::bigint as discarded
      from storehook.outbox_dropped
)
select here.received + gone.received   as received,
       here.pending,
       here.applied + gone.applied     as applied,
       here.duplicate + gone.duplicate as duplicate,
       here.parked + gone.parked       as parked,
       here.dead,
       here.discarded + gone.discarded as discarded,
       here.missing,
       here.doubled
  from here, gone;

-- The days that the outbox holds anything of or is ready for.
create view storehook.outbox_days as
with partitions as (
    select to_date(right(c.relname, 8), 'YYYYMMDD') as day
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'storehook.outbox'::regclass and c.relname ~ '^outbox_[0-9]{8}$'
), strays as (
    select distinct (received_at at time zone 'UTC')::date as day from storehook.outbox_default
)
select day, partitions.day is not null as has_partition, strays.day is not null as has_strays
  from partitions full join strays using (day);
comment on column storehook.outbox_days.has_strays is
    'rows of it stand in the default partition: the day had none of its own, or it was dropped and they were still to do';

-- As before, with two things mended. What stands in the default partition moves out before anybody is made to wait, and
-- the lock is waited for a moment only: whoever plans a query on outbox queues up behind that wait, behind a dump for as
-- long as the dump takes. And days of the last month that had no partition get theirs, so that they can be dropped as a
-- whole in their time. Not the days that were dropped: what is left of them stays where it is.
create or replace function storehook.ensure_outbox_partitions(days_ahead integer default 7) returns integer
    language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s'
as $$
declare
    today  date := (now() at time zone 'UTC')::date;
    days   date[];
    day    date;
    name   text;
    move   constant text := 'with moved as (delete from storehook.outbox_default
                                            where received_at >= %L and received_at < %L returning *)
                             insert into storehook.%I select * from moved';
begin
    if days_ahead not between 0 and 366 then
        raise exception 'days_ahead must be between 0 and 366' using errcode = 'invalid_parameter_value';
    end if;
    perform pg_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint);
    select array_agg(wanted.day order by wanted.day) into days
      from (select today + n as day from generate_series(-1, days_ahead) n
            union
            select d.day from storehook.outbox_days d
             where d.has_strays and d.day between today - 31 and today
               and not exists (select from storehook.outbox_dropped gone where gone.day = d.day)) wanted
     where to_regclass('storehook.outbox_' || to_char(wanted.day, 'YYYYMMDD')) is null;
    if days is null then
        return 0;
    end if;
    -- Keeps VACUUM away from here on, and waits for one that is at it (an automatic one gives way after deadlock_timeout);
    -- nobody else waits for that.
    lock table storehook.outbox_default in share update exclusive mode;
    foreach day in array days loop
        name := 'outbox_' || to_char(day, 'YYYYMMDD');
        execute format('create table storehook.%I (like storehook.outbox including all)', name);
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
    end loop;
    perform set_config('lock_timeout', '250ms', true);
    lock table storehook.outbox_default in access exclusive mode;
    foreach day in array days loop
        name := 'outbox_' || to_char(day, 'YYYYMMDD');
        -- What came in the meantime.
        execute format(move, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC', name);
        execute format('alter table storehook.outbox attach partition storehook.%I for values from (%L) to (%L)',
                       name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    end loop;
    return cardinality(days);
end
$$;

-- Drops the bytes of one day that is older than keep_days, with the closed dead letters and the records of repeats that
-- go with them, and adds the day's sums to outbox_dropped: all of it or nothing. Bytes that are still needed (the
-- notification waits in the queue, is an open dead letter, or is not where it should be) move to the default partition,
-- where every reader finds them as before, and go in a later round once they are settled. The move happens under a lock:
-- a day with too much still to do stays as it is.
--
-- DETACH takes ACCESS EXCLUSIVE on outbox for a moment (CONCURRENTLY is refused where there is a default partition, and
-- in a transaction: PostgreSQL 15, ALTER TABLE). Inserts queue up behind the wait for it, so the wait is short: where
-- somebody is reading the outbox for longer, this fails with lock_not_available, has changed nothing, and is tried again.
--
-- outcome: dropped: what is settled went; stays: nothing went, because what is there is still to do, or too much of it is;
-- busy: another session is at it.
-- SECURITY DEFINER, because workers do this and own no tables; that is also why it refuses less than a week.
create function storehook.drop_outbox_day(
    day date, keep_days integer, out outcome text, out gone bigint, out kept bigint
)
    language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '10s'
as $$
declare
    opens       constant timestamptz := drop_outbox_day.day::timestamp at time zone 'UTC';
    closes      constant timestamptz := (drop_outbox_day.day + 1)::timestamp at time zone 'UTC';
    name        constant text := 'outbox_' || to_char(drop_outbox_day.day, 'YYYYMMDD');
    is_whole    boolean;
    source      text;
    most        bigint;
    first_id    bigint;
    last_id     bigint;
    kept_ids    bigint[];
    kept_bytes  bigint;
    gone_ids    bigint[];
    sums        storehook.outbox_dropped%rowtype;
begin
    gone := 0;
    kept := 0;
    if keep_days < 7 then
        raise exception 'keep_days must be 7 or more' using errcode = 'invalid_parameter_value';
    end if;
    if drop_outbox_day.day >= (now() at time zone 'UTC')::date - keep_days then
        raise exception 'the day is not older than keep_days' using errcode = 'invalid_parameter_value';
    end if;
    if not pg_try_advisory_xact_lock(x'73746f72655f7031'::bit(64)::bigint) then
        outcome := 'busy';
        return;
    end if;

    is_whole := exists (select from storehook.outbox_days d where d.day = drop_outbox_day.day and d.has_partition);
    source := case when is_whole then name else 'outbox_default' end;
    -- Single rows are deleted one by one, so not too many of them at once.
    most := case when not is_whole then 20000 end;
    -- Nobody adds to the day while it is counted, and no VACUUM stands in the way later. Receivers write to today's
    -- partition, and neither they nor readers meet any of these locks or the wait for them.
    if is_whole then
        lock table only storehook.outbox in share update exclusive mode;
        lock table storehook.outbox_default in share update exclusive mode;
        execute format('lock table storehook.%I in share row exclusive mode', name);
    end if;
    execute format('select min(id), max(id) from storehook.%I where received_at >= $1 and received_at < $2', source)
       into first_id, last_id using opens, closes;
    execute format(
        $q$
        with mine as materialized (
            select id, octet_length(body) as size
              from storehook.%I
             where received_at >= $1 and received_at < $2
             order by received_at, id
             limit $5
        ), located as (
            select m.id, m.size, count(p.place) as places, min(p.place) as place
              from mine m
              left join (select * from storehook.outbox_places where outbox_id between $3 and $4) p
                   on p.outbox_id = m.id
             group by m.id, m.size
        ), judged as (
            select *, places = 1 and place in ('applied', 'duplicate', 'parked', 'discarded') as is_settled from located
        )
        select count(*) filter (where is_settled), count(*) filter (where not is_settled),
               coalesce(array_agg(id) filter (where not is_settled), '{}'),
               coalesce(sum(size) filter (where not is_settled), 0),
               case when $5 is not null then coalesce(array_agg(id) filter (where is_settled), '{}') end,
               count(*) filter (where is_settled and place = 'applied'),
               count(*) filter (where is_settled and place = 'duplicate'),
               count(*) filter (where is_settled and place = 'parked'),
               count(*) filter (where is_settled and place = 'discarded')
          from judged
        $q$, source)
       into gone, kept, kept_ids, kept_bytes, gone_ids,
            sums.applied, sums.duplicate, sums.parked, sums.discarded
      using opens, closes, first_id, last_id, most;

    -- As much as moves within some hundred milliseconds; see above.
    if is_whole and (kept > 10000 or kept_bytes > 4194304) then
        outcome := 'stays';
        gone := 0;
        return;
    end if;

    -- What is settled stays settled, so whatever is not to be kept was counted above.
    if gone > 0 then
        execute format(
            'delete from storehook.duplicates d using storehook.%I o
              where d.outbox_id = o.id and d.outbox_id between $3 and $4
                and o.received_at >= $1 and o.received_at < $2 and ($6 is null or o.id = any($6)) and o.id <> all($5)',
            source) using opens, closes, first_id, last_id, kept_ids, gone_ids;
        execute format(
            'delete from storehook.dead_letters d using storehook.%I o
              where d.outbox_id = o.id and d.outbox_id between $3 and $4 and d.resolution <> ''open''
                and o.received_at >= $1 and o.received_at < $2 and ($6 is null or o.id = any($6)) and o.id <> all($5)',
            source) using opens, closes, first_id, last_id, kept_ids, gone_ids;
    end if;
    if is_whole or gone > 0 then
        insert into storehook.outbox_dropped as total (day, received, applied, duplicate, parked, discarded)
        values (drop_outbox_day.day, gone, sums.applied, sums.duplicate, sums.parked, sums.discarded)
            on conflict on constraint outbox_dropped_pkey do update
           set received = total.received + excluded.received, applied = total.applied + excluded.applied,
               duplicate = total.duplicate + excluded.duplicate, parked = total.parked + excluded.parked,
               discarded = total.discarded + excluded.discarded, dropped_at = excluded.dropped_at;
    end if;

    if is_whole then
        perform set_config('lock_timeout', '250ms', true);
        execute format('alter table storehook.outbox detach partition storehook.%I', name);
        execute format(
            'insert into storehook.outbox_default (id, received_at, packing, body)
             select id, received_at, packing, body from storehook.%I where id = any($1)', name) using kept_ids;
        execute format('drop table storehook.%I', name);
    elsif gone > 0 then
        delete from storehook.outbox_default o
         where o.received_at >= opens and o.received_at < closes and o.id = any(gone_ids);
    end if;
    outcome := case when is_whole or gone > 0 then 'dropped' else 'stays' end;
end
$$;
revoke all on function storehook.drop_outbox_day(date, integer) from public;
