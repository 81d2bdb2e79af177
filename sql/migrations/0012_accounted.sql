-- compatible-from: 10
-- What was answered 200 is accounted for whatever a session, a partition or a restored backup looks like.

-- Rows stored, counted where they are stored and by nobody who counts the outbox: one row for each commit, summed up by
-- the day when the commit is an hour old. What vanishes from the outbox is missing by this.
create table storehook.outbox_stored (
    stored_at timestamptz not null default now(),
    rows      integer     not null check (rows > 0)
) with (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 50000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 1000000
);
comment on table storehook.outbox_stored is
    'how many rows each commit stored, of the last hour or two; sum_outbox_stored adds them to outbox_acknowledged';
create table storehook.outbox_acknowledged (
    day  date   primary key,
    rows bigint not null check (rows >= 0)
);
comment on table storehook.outbox_acknowledged is
    'how many rows were stored in each day (UTC), by the counter that stands in the storing statement itself; -infinity: all that was there when counting began';
insert into storehook.outbox_acknowledged (day, rows) select '-infinity', received from storehook.conservation;

-- Adds up what is older than an hour; answers how many commits that were. Safe to run from many machines at once.
-- SECURITY DEFINER, because workers do this and may not touch what was counted.
create function storehook.sum_outbox_stored() returns bigint
    language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    with summed as (
        delete from storehook.outbox_stored where stored_at < now() - interval '1 hour' returning stored_at, rows
    ), days as (
        insert into storehook.outbox_acknowledged as total (day, rows)
        select (stored_at at time zone 'UTC')::date, sum(rows) from summed group by 1 order by 1
            on conflict (day) do update set rows = total.rows + excluded.rows
    )
    select count(*) from summed
$$;
revoke all on function storehook.sum_outbox_stored() from public;

-- What a partition of the outbox really holds, as the server knows it; empty where there is none of that name. Partitions
-- are named for their day, and a session's settings may once have bounded one otherwise.
create function storehook.outbox_partition_bounds(day date, out opens timestamptz, out closes timestamptz) returns record
    language sql stable
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    -- FOR VALUES FROM ('2026-01-31 00:00:00+00') TO ('2026-02-01 00:00:00+00'), in the settings above.
    select bound[1]::timestamptz, bound[2]::timestamptz
      from pg_class c
      join pg_inherits i on i.inhrelid = c.oid and i.inhparent = 'storehook.outbox'::regclass
     cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([^'']+)''\) TO \(''([^'']+)''\)') as bound
     where c.relname = 'outbox_' || to_char(outbox_partition_bounds.day, 'YYYYMMDD')
$$;
revoke all on function storehook.outbox_partition_bounds(date) from public;

-- As before, with every instant computed and written in UTC, whatever zone and style the session has: in them an instant's
-- text may read as another one (IST is India's or Israel's, 04/05 is April or May). A partition whose bounds are not its
-- day's is refused before anything is moved into it.
create or replace function storehook.ensure_outbox_partitions(days_ahead integer default 7) returns integer
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '10s'
as $$
declare
    today  date := (now() at time zone 'UTC')::date;
    days   date[];
    day    date;
    name   text;
    bounds record;
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
        select * into bounds from storehook.outbox_partition_bounds(day);
        if bounds.opens is distinct from day::timestamp at time zone 'UTC'
           or bounds.closes is distinct from (day + 1)::timestamp at time zone 'UTC' then
            raise exception 'partition % holds % to %, which is not its day', name, bounds.opens, bounds.closes
                using errcode = 'data_exception';
        end if;
    end loop;
    return cardinality(days);
end
$$;

-- As before, and:
-- - a partition is counted, and held against keep_days, by the bounds that it really has, not by those that its name
--   promises; and all of its rows are counted a second time, apart from what became of them: where the two differ nothing
--   is dropped;
-- - no row of the queue is left without its bytes.
create or replace function storehook.drop_outbox_day(
    day date, keep_days integer, out outcome text, out gone bigint, out kept bigint
)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' set lock_timeout = '10s'
as $$
declare
    opens       timestamptz := drop_outbox_day.day::timestamp at time zone 'UTC';
    closes      timestamptz := (drop_outbox_day.day + 1)::timestamp at time zone 'UTC';
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
    bounds      record;
    rows_there  bigint;
    rows_moved  bigint;
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
        select * into bounds from storehook.outbox_partition_bounds(drop_outbox_day.day);
        if bounds.opens is null or bounds.closes is null then
            raise exception 'the bounds of partition % cannot be read', name using errcode = 'data_exception';
        end if;
        -- A day of its own keeps, or one that was bounded otherwise and holds younger rows, too.
        if bounds.closes > ((now() at time zone 'UTC')::date - keep_days)::timestamp at time zone 'UTC' then
            outcome := 'stays';
            return;
        end if;
        opens := bounds.opens;
        closes := bounds.closes;
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
    if is_whole then
        execute format('select count(*) from storehook.%I', name) into rows_there;
        if rows_there <> gone + kept then
            raise exception 'partition % holds % rows, and % were accounted for', name, rows_there, gone + kept
                using errcode = 'data_exception';
        end if;
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
        -- Where the bounds were not its day's, its neighbours were counted with some of its rows.
        delete from storehook.outbox_settled s
         where s.day <> drop_outbox_day.day
           and s.day between (opens at time zone 'UTC')::date and ((closes - interval '1 microsecond') at time zone 'UTC')::date;
    end if;

    if is_whole then
        perform set_config('lock_timeout', '250ms', true);
        execute format('alter table storehook.outbox detach partition storehook.%I', name);
        execute format(
            'insert into storehook.outbox_default select * from storehook.%I where id = any($1)', name) using kept_ids;
        get diagnostics rows_moved = row_count;
        if rows_moved <> kept then
            raise exception '% rows of partition % were to be kept, and % were', kept, name, rows_moved
                using errcode = 'data_exception';
        end if;
        if exists (select from storehook.outbox_queue q
                    where q.received_at >= opens and q.received_at < closes and q.id between first_id and last_id
                      and not exists (select from storehook.outbox_default o
                                       where o.received_at = q.received_at and o.id = q.id)
                      and q.id <> all(kept_ids)) then
            raise exception 'something of partition % is still queued', name using errcode = 'data_exception';
        end if;
        execute format('drop table storehook.%I', name);
    elsif gone > 0 then
        delete from storehook.outbox_default o
         where o.received_at >= opens and o.received_at < closes and o.id = any(gone_ids);
    end if;
    outcome := case when is_whole or gone > 0 then 'dropped' else 'stays' end;
end
$$;

-- As before, and four more answers:
-- - acknowledged: rows stored, by the counter of their own. Fewer than received where rows were stored by others than
--   this release's receivers. Rows that it knows of and that are in no partition are missing, too.
-- - without_bytes: rows of the queue whose bytes are gone: 0 or something is wrong. Reckoned, not looked up: one that hides
--   behind a doubled row is found by conservation_audit.
-- - waiting_for_header: pending ones that cannot be read until a signature's header is there again.
create or replace view storehook.conservation_audit as
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
), counted as (
    select ((select coalesce(sum(rows), 0) from storehook.outbox_acknowledged)
            + (select coalesce(sum(rows), 0) from storehook.outbox_stored))::bigint as acknowledged
), queued as (
    select count(*) filter (where not exists (select from storehook.outbox o where o.id = q.id)) as without_bytes,
           count(*) filter (where q.last_reason = 'header_missing') as waiting_for_header
      from storehook.outbox_queue q
)
select here.received + gone.received   as received,
       here.pending,
       here.applied + gone.applied     as applied,
       here.duplicate + gone.duplicate as duplicate,
       here.parked + gone.parked       as parked,
       here.dead,
       here.discarded + gone.discarded as discarded,
       here.missing + greatest(counted.acknowledged - here.received - gone.received, 0) as missing,
       here.doubled,
       counted.acknowledged,
       queued.without_bytes,
       queued.waiting_for_header
  from here, gone, counted, queued;

create or replace view storehook.conservation as
with settled as (
    select s.*
      from storehook.outbox_settled s
     where not exists (select from storehook.outbox_dropped gone where gone.day = s.day)
       -- Null where there is no such partition: then its rows are missing, and the day is not settled.
       and storehook.outbox_day_changes(s.day) <= s.changes
), unsettled as materialized (
    -- Told apart before anything is counted.
    select day from storehook.outbox_days except select day from settled
), live as (
    select c.* from unsettled u cross join lateral storehook.count_outbox_day(u.day, false) c
), open as (
    -- An aggregate, so that each is looked up by itself: joined to all places they would be read whole.
    select p.*
      from settled s
     cross join lateral unnest(s.open_ids) as o (id)
     cross join lateral (select count(*) as places, min(place) as place
                           from storehook.outbox_places where outbox_id = o.id) p
), parts as (
    select received, pending, applied, duplicate, parked, dead, discarded, missing, doubled from live
    union all
    select received, 0, applied, duplicate, parked, 0, discarded, 0, 0 from settled
    union all
    select received, 0, applied, duplicate, parked, 0, discarded, 0, 0 from storehook.outbox_dropped
    union all
    -- Received among the settled ones already.
    select 0,
           count(*) filter (where place = 'pending'),
           count(*) filter (where place = 'applied'),
           count(*) filter (where place = 'duplicate'),
           count(*) filter (where place = 'parked'),
           count(*) filter (where place = 'dead'),
           count(*) filter (where place = 'discarded'),
           count(*) filter (where places = 0),
           count(*) filter (where places > 1)
      from open
), sums as (
    select coalesce(sum(received), 0)::bigint  as received,
           coalesce(sum(pending), 0)::bigint   as pending,
           coalesce(sum(applied), 0)::bigint   as applied,
           coalesce(sum(duplicate), 0)::bigint as duplicate,
           coalesce(sum(parked), 0)::bigint    as parked,
           coalesce(sum(dead), 0)::bigint      as dead,
           coalesce(sum(discarded), 0)::bigint as discarded,
           coalesce(sum(missing), 0)::bigint   as missing,
           coalesce(sum(doubled), 0)::bigint   as doubled
      from parts
), counted as (
    select ((select coalesce(sum(rows), 0) from storehook.outbox_acknowledged)
            + (select coalesce(sum(rows), 0) from storehook.outbox_stored))::bigint as acknowledged
), queued as (
    select count(*) as rows, count(*) filter (where last_reason = 'header_missing') as waiting_for_header
      from storehook.outbox_queue
)
select received, pending, applied, duplicate, parked, dead, discarded,
       missing + greatest(acknowledged - received, 0) as missing,
       doubled,
       acknowledged,
       greatest(queued.rows - pending - doubled, 0) as without_bytes,
       queued.waiting_for_header
  from sums, counted, queued;

-- Apart from whoever asks: what a session or a database sets must not change an answer.
alter function storehook.has_access(uuid, text) set search_path = pg_catalog, pg_temp;
alter function storehook.has_access(uuid, text) set timezone = 'UTC';
alter function storehook.has_access(uuid, text) set datestyle = 'ISO';
alter function storehook.outbox_bodies(bigint[], timestamptz[]) set timezone = 'UTC';
alter function storehook.outbox_bodies(bigint[], timestamptz[]) set datestyle = 'ISO';
