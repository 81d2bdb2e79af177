-- compatible-from: 10
-- What events cost those who write them.

-- An event's place is found by the transaction that told it. First, while readers still go on; but nothing is placed meanwhile, which
-- takes some seconds of ten million. No release that came before tells any, and programs of a commit that did go on by the view below:
-- they read all of it where those of this release read on.
create index event_places_told_at on storehook.event_positions (told_at);
drop index storehook.event_positions_told_at;

-- A transaction's events follow upon each other without another's in between, so a place for all of them tells where each of them
-- stands: placing cost a tenth of what it takes to tell, and now next to nothing.
alter table storehook.event_positions rename to event_places;
alter table storehook.event_places rename constraint event_positions_pkey to event_places_pkey;
alter table storehook.event_places rename constraint event_positions_position_check to event_places_position_check;
alter table storehook.event_places add column more bigint[];
comment on table storehook.event_places is
    'committed transactions that told something, in the order in which readers follow their events';
comment on column storehook.event_places.position is 'of the last of its events; the others have those before it';
comment on column storehook.event_places.id is 'the first of its events';
comment on column storehook.event_places.more is 'those after the first one, in order';

-- Who reads on from a position also names last: by that alone the places are found.
create view storehook.event_positions as
    select p.position - coalesce(cardinality(p.more), 0) + e.n - 1 as position, e.id, p.told_at, p.position as last
      from storehook.event_places p
     cross join lateral unnest(p.id || p.more) with ordinality as e (id, n);
comment on view storehook.event_positions is 'committed events in the order in which readers follow them, without a gap';
comment on column storehook.event_positions.last is 'position of the last event of the same transaction';
-- Who could read the table can read the view: programs that came before go on.
do $$
declare
    reader name;
begin
    for reader in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.event_places'::regclass and a.privilege_type = 'SELECT'
    loop
        execute format('grant select on storehook.event_positions to %I', reader);
    end loop;
end
$$;

create or replace function storehook.place_events(most integer default 10000) returns integer
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    base bigint;
    last bigint;
begin
    if most not between 1 and 100000 then
        raise exception 'most must be between 1 and 100000' using errcode = 'invalid_parameter_value';
    end if;
    -- Mostly there is nothing, and then nobody is to wait.
    if not exists (select from storehook.events_unplaced) then
        return 0;
    end if;
    select last_position into base from storehook.event_feed for update;
    -- Whole transactions: the last one may go beyond.
    with next as (
        select first.id, first.up_to
          from (select u.id, 1 + coalesce(cardinality(u.more), 0) as events,
                       sum(1 + coalesce(cardinality(u.more), 0)) over (order by u.id) as up_to
                  from (select id, more from storehook.events_unplaced order by id limit most) u) first
         where first.up_to - first.events < most
    ), taken as (
        delete from storehook.events_unplaced u using next where u.id = next.id
        returning next.up_to, u.id, u.more, u.told_at
    ), placed as (
        insert into storehook.event_places (position, id, more, told_at)
        select base + up_to, id, more, told_at from taken
        returning position
    )
    select max(position) into last from placed;
    if last is null then
        return 0;
    end if;
    update storehook.event_feed set last_position = last;
    return last - base;
end
$$;

create or replace function storehook.delete_event_positions(day date, kept_days integer, most integer) returns integer
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    opens   constant timestamptz := day::timestamp at time zone 'UTC';
    closes  constant timestamptz := (day + 1)::timestamp at time zone 'UTC';
    deleted integer;
begin
    if kept_days not between 7 and 36500 then
        raise exception 'kept_days must be between 7 and 36500' using errcode = 'invalid_parameter_value';
    end if;
    if most not between 1 and 1000000 then
        raise exception 'most must be between 1 and 1000000' using errcode = 'invalid_parameter_value';
    end if;
    if day >= (now() at time zone 'UTC')::date - kept_days
       or exists (select from storehook.events_unplaced u where u.told_at >= opens and u.told_at < closes)
    then
        return 0;
    end if;
    delete from storehook.event_places p
     using (select position from storehook.event_places
             where told_at >= opens and told_at < closes order by position limit most) old
     where p.position = old.position;
    get diagnostics deleted = row_count;
    return deleted;
end
$$;

create or replace function storehook.drop_event_day(day date, kept_days integer) returns boolean
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
    delete from storehook.event_places p where p.told_at >= opens and p.told_at < closes;
    -- No cascade: it takes nothing along but its own day.
    execute format('drop table storehook.%I', name);
    return true;
end
$$;

-- Only programs write events, and each kind is one that they know: to match its letters took a tenth of what inserting an event does.
alter table storehook.events drop constraint events_kind_check;
