-- compatible-from: 10
-- What is not reported while an app's history is fetched for the first time is owed, and each debt stands in its own row.
--
-- A first fill is the windows that were planned first, all at once. What they bring belongs to the fill, whenever it is applied: it was
-- received by the instant at which the last of them was asked. A window that is planned later belongs to none, also one that began
-- before: what was lost in it is reported like anything else that was lost.

-- What was reported last has one more field in its text, the last one (see migration 30): since when the standing and product, or the
-- tier and access, were reported without a break. Programs that came before neither read nor write it.

-- By when all that the first fill brought was received; the end of time while a window of it was not asked; null of an app whose
-- history nobody asks for. SECURITY DEFINER: who reports need not read what Apple was asked.
create function storehook.history_filled_at(bundle_id text, environment text) returns timestamptz
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select case when bool_and(w.first_asked_at is not null) then max(w.first_asked_at)
                when count(*) > 0 then timestamptz '9999-12-31 00:00:00+00' end
      from storehook.history_windows w
     where w.bundle_id = history_filled_at.bundle_id and w.environment = history_filled_at.environment
       and w.planned_at = (select min(f.planned_at) from storehook.history_windows f
                            where f.bundle_id = history_filled_at.bundle_id
                              and f.environment = history_filled_at.environment)
$$;
revoke all on function storehook.history_filled_at(text, text) from public;

-- The due_at of what is owed until the fill of an app in an environment is over: an instant that never comes, and that is the app's own,
-- so that what an unfinished fill owes is not gone through for what another one owes. Apps that share one cost time and nothing else.
create function storehook.owed_at(bundle_id text, environment text) returns timestamptz
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select timestamptz '9000-01-01 00:00:00+00'
           + make_interval(secs => ('x' || substr(pg_catalog.md5(owed_at.bundle_id || ' ' || owed_at.environment), 1, 6))::bit(24)::integer)
$$;
revoke all on function storehook.owed_at(text, text) from public;

-- Whether a first fill is under way, or what it brought is not applied yet. What was tried in vain before is not waited for. The queue's
-- rows come in the order of their numbers, so that the first one is found at once.
create or replace function storehook.is_filling(bundle_id text, environment text) returns boolean
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select coalesce(
               f.at >= timestamptz '9999-12-31 00:00:00+00'
               or (select q.received_at from storehook.outbox_queue q where q.attempts <= 1 order by q.id limit 1) <= f.at,
               false)
      from (select storehook.history_filled_at(is_filling.bundle_id, is_filling.environment) as at) f
$$;

-- The apps and environments whose first fill is over, with the due_at of what each may still owe.
create function storehook.filled_apps() returns table (bundle_id text, environment text, owed_at timestamptz, filled_at timestamptz)
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select s.bundle_id, s.environment, storehook.owed_at(s.bundle_id, s.environment),
           storehook.history_filled_at(s.bundle_id, s.environment)
      from (select distinct w.bundle_id, w.environment from storehook.history_windows w) s
     where not storehook.is_filling(s.bundle_id, s.environment)
$$;
revoke all on function storehook.filled_apps() from public;
comment on column storehook.purchase_tellings.due_at is
    'when it changes by itself, or is to be warned of: the clock''s queue; from the year 9000 on: owed, see owed_at';
comment on column storehook.access_tellings.due_at is
    'when it changes by itself: the clock''s queue; from the year 9000 on: owed, see owed_at';

-- Holds accounts' last events against their statuses, so many accounts from anywhere on: which of them say something else, without
-- those that are about to be told or that are owed to a fill that is not over; and how many owed ones nobody has told for five minutes
-- after it was. SECURITY DEFINER: who watches counts, and reads no account.
create function storehook.telling_differences(most integer default 20000, out looked bigint, out differing bigint, out overdue bigint)
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
                   greatest(clock_timestamp(), to_timestamp(nullif(split_part(t.told, '|', 2), '')::bigint / 1000.0)),
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
revoke all on function storehook.telling_differences(integer) from public;

-- What was left unreported until now: all purchases and all accounts are gone through once more, in portions, beside the work.
update storehook.telling_walks
   set is_under_way = exists (select from storehook.purchase_lines), after_key = null
 where what = 'purchases';
update storehook.telling_walks set catalog = null, next_catalog = null, is_under_way = false, after_key = null
 where what = 'accounts';
