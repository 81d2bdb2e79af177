-- The conservation of notifications at a cost that does not grow with what is kept: what is in its place for good is
-- counted once for each day, and only today and what is still to do are counted again.

-- A day that has been counted. Places that end a notification's way (applied, duplicate, parked, discarded) are never left
-- again, so their sums hold; what was in none of them then stands in open_ids and is looked up whenever somebody asks.
create table storehook.outbox_settled (
    day        date        primary key,
    received   bigint      not null,
    applied    bigint      not null,
    duplicate  bigint      not null,
    parked     bigint      not null,
    discarded  bigint      not null,
    open_ids   bigint[]    not null,
    changes    bigint      not null,
    counted_at timestamptz not null default now(),
    check (least(applied, duplicate, parked, discarded, changes) >= 0),
    check (received = applied + duplicate + parked + discarded + cardinality(open_ids))
);
comment on table storehook.outbox_settled is
    'days (UTC) that are over, as they were counted; written by settle_outbox_day, read by the view conservation';
comment on column storehook.outbox_settled.open_ids is
    'notifications whose way had not ended by then (pending, dead) or that were not where they should be; counted live';
comment on column storehook.outbox_settled.changes is
    'rows ever written to the day''s partition by then: one that was written to since is counted anew';

-- How many rows were ever inserted, updated or deleted in a day's partition, by the server's statistics; null where there
-- is none. Statistics may be behind by a second, and begin anew after a crash: only a larger number says anything.
create function storehook.outbox_day_changes(day date) returns bigint
    language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select pg_stat_get_tuples_inserted(partition) + pg_stat_get_tuples_updated(partition)
           + pg_stat_get_tuples_deleted(partition)
      from to_regclass('storehook.outbox_' || to_char(outbox_day_changes.day, 'YYYYMMDD')) as partition
     where partition is not null
$$;
revoke all on function storehook.outbox_day_changes(date) from public;

-- Where the notifications of one day are, each looked at. Asked with_open, open_ids are those whose way has not ended, or
-- that are not in one place, in no order; no sum of a place that ends the way holds any of them then. Planned with the day's instants and ids known, which leaves one partition and, of the tables that say
-- where a notification is, the part that belongs to the day.
-- SECURITY DEFINER, because monitors ask for counts and may see none of the rows.
create function storehook.count_outbox_day(
    day date, with_open boolean,
    out received bigint, out pending bigint, out applied bigint, out duplicate bigint, out parked bigint, out dead bigint,
    out discarded bigint, out missing bigint, out doubled bigint, out open_ids bigint[]
)
    language plpgsql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    opens    constant timestamptz := count_outbox_day.day::timestamp at time zone 'UTC';
    closes   constant timestamptz := (count_outbox_day.day + 1)::timestamp at time zone 'UTC';
    first_id bigint;
    last_id  bigint;
begin
    execute 'select min(id), max(id) from storehook.outbox where received_at >= $1 and received_at < $2'
       into first_id, last_id using opens, closes;
    execute
        $q$
        with located as (
            select o.id, count(p.place) as places, min(p.place) as place
              from storehook.outbox o
              left join (select * from storehook.outbox_places where outbox_id between $3 and $4) p on p.outbox_id = o.id
             where o.received_at >= $1 and o.received_at < $2
             group by o.id
        )
        select count(*),
               count(*) filter (where place = 'pending'),
               count(*) filter (where place = 'applied' and (places = 1 or not $5)),
               count(*) filter (where place = 'duplicate' and (places = 1 or not $5)),
               count(*) filter (where place = 'parked' and (places = 1 or not $5)),
               count(*) filter (where place = 'dead'),
               count(*) filter (where place = 'discarded' and (places = 1 or not $5)),
               count(*) filter (where places = 0), count(*) filter (where places > 1),
               coalesce(array_agg(id) filter (where $5 and (places <> 1 or place in ('pending', 'dead'))), '{}')
          from located
        $q$
       into received, pending, applied, duplicate, parked, dead, discarded, missing, doubled, open_ids
      using opens, closes, first_id, last_id, with_open;
end
$$;
revoke all on function storehook.count_outbox_day(date, boolean) from public;

-- Counts a day that is over, or takes over from its open_ids what has come to its end since; answers whether the day is
-- settled. Not settled is a day of which too much is still to do, or that another session is at. Safe to run at any time,
-- from many machines at once: whatever was true when it looked stays true.
-- SECURITY DEFINER, because workers do this and own no tables.
create function storehook.settle_outbox_day(day date) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    -- Looked up one by one whenever somebody asks.
    most_open   constant integer := 10000;
    now_changes bigint;
    settled     storehook.outbox_settled%rowtype;
    counted     record;
begin
    -- What began yesterday may commit a little later.
    if settle_outbox_day.day >= ((now() - interval '1 hour') at time zone 'UTC')::date then
        raise exception 'the day is not over' using errcode = 'invalid_parameter_value';
    end if;
    if not pg_try_advisory_xact_lock(x'73746f72655f7032'::bit(64)::bigint) then
        return false;
    end if;
    -- Before the rows are counted: what is written meanwhile must not seem counted.
    now_changes := coalesce(storehook.outbox_day_changes(settle_outbox_day.day), 0);
    select * into settled from storehook.outbox_settled s where s.day = settle_outbox_day.day;

    if found and now_changes <= settled.changes then
        with ended as (
            select o.id, p.place
              from unnest(settled.open_ids) as o (id)
             cross join lateral (select count(*) as places, min(place) as place
                                   from storehook.outbox_places where outbox_id = o.id) p
             where p.places = 1 and p.place in ('applied', 'duplicate', 'parked', 'discarded')
        )
        update storehook.outbox_settled s
           set applied   = s.applied + (select count(*) from ended where place = 'applied'),
               duplicate = s.duplicate + (select count(*) from ended where place = 'duplicate'),
               parked    = s.parked + (select count(*) from ended where place = 'parked'),
               discarded = s.discarded + (select count(*) from ended where place = 'discarded'),
               open_ids  = array(select o.id from unnest(s.open_ids) as o (id) where o.id not in (select id from ended)),
               -- Fewer than before: the statistics began anew.
               changes   = now_changes,
               counted_at = now()
         where s.day = settle_outbox_day.day;
        return true;
    end if;

    select * into counted from storehook.count_outbox_day(settle_outbox_day.day, true);
    if cardinality(counted.open_ids) > most_open then
        delete from storehook.outbox_settled s where s.day = settle_outbox_day.day;
        return false;
    end if;
    insert into storehook.outbox_settled (day, received, applied, duplicate, parked, discarded, open_ids, changes)
    select settle_outbox_day.day, counted.received, counted.applied, counted.duplicate, counted.parked,
           counted.discarded, counted.open_ids, now_changes
        on conflict on constraint outbox_settled_pkey do update
       set received = excluded.received, applied = excluded.applied, duplicate = excluded.duplicate,
           parked = excluded.parked, discarded = excluded.discarded, open_ids = excluded.open_ids,
           changes = excluded.changes, counted_at = excluded.counted_at;
    return true;
end
$$;
revoke all on function storehook.settle_outbox_day(date) from public;

-- Days to call settle_outbox_day for: they are over, and were not counted yet, or something has happened since. Days of
-- which parts stand in the default partition are few and small, and are counted live.
create view storehook.outbox_days_to_settle as
select d.day
  from storehook.outbox_days d
  left join storehook.outbox_settled s on s.day = d.day
 where d.has_partition and not d.has_strays
   and d.day < ((now() - interval '1 hour') at time zone 'UTC')::date
   and (s.day is null or s.open_ids <> '{}' or s.changes <> coalesce(storehook.outbox_day_changes(d.day), 0));

-- Everything that was ever stored, and the one place it is in, counted from every row there is: the proof, and as
-- expensive as there are rows.
create view storehook.conservation_audit as
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
comment on view storehook.conservation_audit is
    'conservation, counted from every row there is; for audits: takes seconds for each million notifications';

-- The same answer for whoever asks often: days that are over as they were counted, what was open then looked up, and the
-- rest counted. A day that was dropped is what outbox_dropped says, and what is left of it is counted.
create or replace view storehook.conservation as
with settled as (
    select s.*
      from storehook.outbox_settled s
     where not exists (select from storehook.outbox_dropped gone where gone.day = s.day)
       and coalesce(storehook.outbox_day_changes(s.day), 0) <= s.changes
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
)
select coalesce(sum(received), 0)::bigint  as received,
       coalesce(sum(pending), 0)::bigint   as pending,
       coalesce(sum(applied), 0)::bigint   as applied,
       coalesce(sum(duplicate), 0)::bigint as duplicate,
       coalesce(sum(parked), 0)::bigint    as parked,
       coalesce(sum(dead), 0)::bigint      as dead,
       coalesce(sum(discarded), 0)::bigint as discarded,
       coalesce(sum(missing), 0)::bigint   as missing,
       coalesce(sum(doubled), 0)::bigint   as doubled
  from parts;
