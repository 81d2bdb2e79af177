-- compatible-from: 10
-- A condition does not guard a cast beside it: PostgreSQL may evaluate either first, and releases differ. So each cast of a name or a text
-- that may be no such value is inside a CASE, or takes only what a pattern matched.
create or replace view storehook.outbox_days as
with partitions as (
    select p.day
      from (select case when c.relname ~ '^outbox_[0-9]{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end as day
              from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = 'storehook.outbox'::regclass) p
     where p.day is not null
), strays as (
    select distinct (received_at at time zone 'UTC')::date as day from storehook.outbox_default
)
select day, partitions.day is not null as has_partition, strays.day is not null as has_strays
  from partitions full join strays using (day);

-- The days that may be dropped, the oldest first.
create or replace function storehook.event_days(kept_days integer) returns setof date
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select p.day
      from (select case when c.relname ~ '^events_[0-9]{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end as day
              from pg_inherits i join pg_class c on c.oid = i.inhrelid
             where i.inhparent = 'storehook.events'::regclass) p
     where p.day < (now() at time zone 'UTC')::date - kept_days
     order by 1
$$;

-- As before, but only digits of `told` become an instant.
create or replace function storehook.telling_differences(most integer default 20000, out looked bigint, out differing bigint, out overdue bigint)
    returns record
    language sql volatile security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    with start as materialized (
        select gen_random_uuid() as token
    ), page as materialized (
        select * from (
            (select s.token, s.environment, s.catalog, s.phase_starts, s.phase_status, s.phase_tier
               from storehook.account_status s
              where s.token >= (select token from start)
                and s.catalog = (select current_version from storehook.catalog_state)
              order by s.token, s.environment limit telling_differences.most)
            union all
            (select s.token, s.environment, s.catalog, s.phase_starts, s.phase_status, s.phase_tier
               from storehook.account_status s
              where s.token < (select token from start)
                and s.catalog = (select current_version from storehook.catalog_state)
              order by s.token, s.environment limit telling_differences.most)) both_sides
         limit telling_differences.most
    ), held as (
        select p.*, t.told, t.due_at, t.catalog as told_catalog,
               greatest(width_bucket(
                   greatest(clock_timestamp(), to_timestamp(substring(t.told from '^[^|]*[|](-?[0-9]{1,15})[|]')::bigint / 1000.0)),
                   p.phase_starts), 1) as n
          from page p left join storehook.access_tellings t using (token, environment)
    )
    select count(*),
           count(*) filter (
               where (case when h.told is null then h.phase_status[h.n] <> 'free'
                           else (split_part(h.told, '|', 3), split_part(h.told, '|', 4))
                                <> (h.phase_status[h.n], h.phase_tier[h.n]) end)
                 and coalesce(h.due_at > clock_timestamp() and h.due_at < timestamptz '9000-01-01 00:00:00+00', true)
                 and (h.told is null or h.told_catalog = h.catalog)
                 and not exists (select from storehook.telling_walks w
                                  where w.is_under_way or (w.what = 'accounts' and w.catalog is distinct from h.catalog))),
           (select coalesce(sum((select count(*) from storehook.purchase_tellings o where o.due_at = f.owed_at)
                              + (select count(*) from storehook.access_tellings o where o.due_at = f.owed_at)), 0)::bigint
              from storehook.filled_apps() f where f.filled_at < now() - interval '5 minutes')
      from held h
$$;

-- Each session parses a function's body under its own settings, and these two have a backslash in a literal.
alter function storehook.account_token(text, text) set standard_conforming_strings = on;
alter function storehook.outbox_partition_bounds(date) set standard_conforming_strings = on;
