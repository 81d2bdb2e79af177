-- compatible-from: 10
-- Nobody looks for a purchase's events but by the account that it is of: what no account owns stands in the order of all.
drop index storehook.events_by_purchase;

-- What is being done for the first time, the oldest first: how far the workers have come is asked about once a second by each of
-- them, however much is put off.
create index outbox_queue_leased on storehook.outbox_queue (received_at) where lease_token is not null and attempts <= 1;

-- Deletes so many positions of a day that is over for so many days, all of whose events are placed: a large day goes in
-- portions, and then drop_event_day takes the rest.
create function storehook.delete_event_positions(day date, kept_days integer, most integer) returns integer
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
    delete from storehook.event_positions p
     using (select position from storehook.event_positions
             where told_at >= opens and told_at < closes order by position limit most) old
     where p.position = old.position;
    get diagnostics deleted = row_count;
    return deleted;
end
$$;
revoke all on function storehook.delete_event_positions(date, integer, integer) from public;

-- What a transaction tells is noted as unplaced in one row, whatever its number: a row for each cost a tenth of the event itself,
-- and left a dead one behind. Accounts' events keep their order: who writes the next one of an account waits for this transaction.
alter table storehook.events_unplaced add column more bigint[];
comment on table storehook.events_unplaced is 'events without a position so far: a row for those of a transaction';
comment on column storehook.events_unplaced.more is 'the numbers of the same transaction after the first one, in order';

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
    -- Whole transactions: the last one may go beyond.
    with next as (
        select first.id
          from (select u.id, sum(1 + coalesce(cardinality(u.more), 0)) over (order by u.id)
                             - 1 - coalesce(cardinality(u.more), 0) as before
                  from (select id, more from storehook.events_unplaced order by id limit most) u) first
         where first.before < most
    ), taken as (
        delete from storehook.events_unplaced u using next where u.id = next.id returning u.id, u.more, u.told_at
    )
    insert into storehook.event_positions (position, id, told_at)
    select base + row_number() over (order by t.id, e.n), e.id, t.told_at
      from taken t cross join lateral unnest(t.id || t.more) with ordinality as e (id, n);
    get diagnostics placed = row_count;
    if placed > 0 then
        update storehook.event_feed set last_position = base + placed;
    end if;
    return placed;
end
$$;

create or replace view storehook.telling_status as
    select (select coalesce(sum(1 + coalesce(cardinality(more), 0)), 0)::bigint from storehook.events_unplaced) as unplaced,
           greatest(extract(epoch from clock_timestamp() - (
               select min(due_at) from (
                   select min(due_at) as due_at from storehook.purchase_tellings where due_at is not null
                    union all
                   select min(due_at) from storehook.access_tellings where due_at is not null) due)), 0)::float8 as due_seconds,
           (select last_position from storehook.event_feed) as last_position;
