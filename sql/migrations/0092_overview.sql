-- compatible-from: 10
-- The overview: what the pipeline is doing, as rows of a ring that workers write. A console reads the latest row and counts nothing.

-- What workers have done since the last row of the ring. Each adds to it every few seconds; its lock puts them in order, and the one that holds
-- it when a row is due writes that row.
create table storehook.overview_state (
    only_row         boolean     primary key default true check (only_row),
    recorded         bigint      not null default 0 check (recorded >= 0),
    duplicates       bigint      not null default 0 check (duplicates >= 0),
    buried           bigint      not null default 0 check (buried >= 0),
    apple_count      bigint      not null default 0 check (apple_count >= 0),
    apple_ms         bigint      not null default 0 check (apple_ms >= 0),
    apple_longest_ms bigint      not null default 0 check (apple_longest_ms >= 0),
    own_count        bigint      not null default 0 check (own_count >= 0),
    own_ms           bigint      not null default 0 check (own_ms >= 0),
    own_longest_ms   bigint      not null default 0 check (own_longest_ms >= 0),
    slot             smallint,
    sampled_at       timestamptz,
    detail           json,
    detail_at        timestamptz,
    check ((slot is null) = (sampled_at is null)),
    check ((detail is null) = (detail_at is null))
) with (fillfactor = 50);
comment on table storehook.overview_state is
    'what workers have done since the last row of overview_ring, and which row that is';
comment on column storehook.overview_state.recorded is 'evidence that was applied or parked';
comment on column storehook.overview_state.apple_ms is
    'of apple_count notifications: from Apple''s signature to their receipt, in all; an overview shows the mean';
comment on column storehook.overview_state.own_ms is 'of own_count pieces of evidence: from their receipt to the commit that applied them';
comment on column storehook.overview_state.slot is 'of the latest row of five seconds';
comment on column storehook.overview_state.detail is
    'what changes more slowly, read every half minute: up to when each app is proven, canaries, leases past their end';
insert into storehook.overview_state default values;
-- A table of one row: see 0080.
analyze storehook.overview_state;

-- A row each five seconds of the last hour, and one each five minutes of the last day. A slot is written over an hour or a day later, so that
-- there are never more than 1,008 rows.
create table storehook.overview_ring (
    seconds          smallint    not null check (seconds in (5, 300)),
    slot             smallint    not null check (slot >= 0 and slot < case seconds when 5 then 720 else 288 end),
    at               timestamptz not null,
    span_ms          integer     not null check (span_ms > 0),
    received         bigint      not null,
    recorded         bigint      not null,
    duplicates       bigint      not null,
    buried           bigint      not null,
    apple_count      bigint      not null,
    apple_ms         bigint      not null,
    apple_longest_ms bigint      not null,
    own_count        bigint      not null,
    own_ms           bigint      not null,
    own_longest_ms   bigint      not null,
    ready            bigint      not null,
    scheduled        bigint      not null,
    leased           bigint      not null,
    dead             bigint      not null,
    ready_age_ms     bigint      not null,
    scheduled_age_ms bigint      not null,
    leased_age_ms    bigint      not null,
    dead_age_ms      bigint      not null,
    unplaced         bigint      not null,
    event_age_ms     bigint      not null,
    endpoints        bigint      not null,
    paused           bigint      not null,
    disabled         bigint      not null,
    behind           bigint      not null,
    lanes            bigint      not null,
    undelivered      bigint      not null,
    delivery_age_ms  bigint      not null,
    primary key (seconds, slot)
) with (fillfactor = 50);
comment on table storehook.overview_ring is
    'what the pipeline did and how it stood: a row each five seconds of the last hour, and one each five minutes of the last day';
comment on column storehook.overview_ring.seconds is 'the length of a slot; a row of 300 has sums of what was done, and the highest of what stood';
comment on column storehook.overview_ring.at is 'when it was written; what was done is that of span_ms up to a second before';
comment on column storehook.overview_ring.received is 'evidence that was stored; 20,001 is more than 20,000 in a row of 5';
comment on column storehook.overview_ring.ready is
    'evidence that is due, which nobody holds; 10,001 is more than 10,000, here and in scheduled, leased, dead, unplaced, lanes and undelivered';
comment on column storehook.overview_ring.ready_age_ms is
    'since the oldest of those that were counted was received; 0 where there is none';
comment on column storehook.overview_ring.unplaced is 'events that have no place in the feed yet';
comment on column storehook.overview_ring.event_age_ms is 'since an event that only time causes was due; 0 where none is late';
comment on column storehook.overview_ring.behind is 'the most events that an endpoint has not been dealt yet';
comment on column storehook.overview_ring.lanes is 'accounts and purchases for which an endpoint has something waiting';
comment on column storehook.overview_ring.undelivered is 'deliveries that were given up and not sent again';

-- How it stands, by reads whose cost has a bound: nothing is counted beyond 10,000. By its owner's rights, so that a worker can read it.
create view storehook.overview_now as
with ready as (
    select count(*) as count, min(q.received_at) as oldest
      from (select received_at from storehook.outbox_queue where due_at <= now() order by due_at, id limit 10001) q
), later as (
    select count(*) filter (where q.is_leased) as leased, min(q.received_at) filter (where q.is_leased) as oldest_leased,
           count(*) filter (where not q.is_leased) as scheduled,
           min(q.received_at) filter (where not q.is_leased) as oldest_scheduled
      from (select received_at, lease_token is not null as is_leased
              from storehook.outbox_queue where due_at > now() order by due_at, id limit 10001) q
), dead as (
    select count(*) as count
      from (select outbox_id from storehook.dead_letters where resolution = 'open' order by outbox_id limit 10001) d
), unplaced as (
    select coalesce(sum(1 + coalesce(cardinality(u.more), 0)), 0)::bigint as count
      from (select more from storehook.events_unplaced order by id limit 10001) u
), delivering as (
    select count(*) as endpoints,
           count(*) filter (where e.state = 'enabled' and h.paused_at is not null) as paused,
           count(*) filter (where e.state = 'disabled') as disabled,
           coalesce(max(greatest(last.position - c.position, 0)), 0) as behind,
           least(coalesce(sum(w.lanes), 0), 10001)::bigint as lanes,
           least(coalesce(sum(d.count), 0), 10001)::bigint as undelivered,
           min(least(w.oldest, n.told_at)) as oldest
      from storehook.endpoints e
      join storehook.endpoint_cursors c on c.endpoint_id = e.id
      join storehook.endpoint_health h on h.endpoint_id = e.id
     cross join (select coalesce(max(p.position), 0) as position from storehook.event_places p) last
     cross join lateral (
           select count(*) as lanes, min(q.received_at) as oldest
             from (select received_at from storehook.delivery_queue
                    where endpoint_id = e.id order by due_at, id limit 10001) q) w
     cross join lateral (
           select count(*) as count
             from (select id from storehook.deliveries
                    where endpoint_id = e.id and outcome = 'dead' and resent_at is null order by id limit 10001) g) d
      left join lateral (
           select p.told_at from storehook.event_places p
            where p.position > c.position order by p.position limit 1) n on e.state = 'enabled'
     where e.state <> 'removed'
)
select ready.count as ready, later.scheduled, later.leased, dead.count as dead,
       ready.oldest as oldest_ready, later.oldest_scheduled, later.oldest_leased,
       (select received_at from storehook.dead_letters where resolution = 'open' order by outbox_id limit 1) as oldest_dead,
       unplaced.count as unplaced,
       least((select min(due_at) from storehook.purchase_tellings where due_at is not null),
             (select min(due_at) from storehook.access_tellings where due_at is not null)) as event_due_at,
       delivering.endpoints, delivering.paused, delivering.disabled, delivering.behind, delivering.lanes,
       delivering.undelivered, delivering.oldest as oldest_delivery
  from ready, later, dead, unplaced, delivering;
comment on view storehook.overview_now is
    'how the pipeline stands, by reads whose cost has a bound: 10,001 is more than 10,000; workers write it into overview_ring';

-- `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and the next run of that file. A role that
-- counts accounts writes the overview, and a role that reads the counts reads it.
do $$
declare
    held record;
begin
    for held in
        select r.rolname, a.privilege_type as privilege
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.account_count_state'::regclass and a.privilege_type in ('SELECT', 'UPDATE')
           and a.grantee <> c.relowner
    loop
        if held.privilege = 'SELECT' then
            execute format('grant select on storehook.overview_state, storehook.overview_ring to %I', held.rolname);
        else
            execute format('grant select on storehook.overview_now to %I', held.rolname);
            execute format('grant update on storehook.overview_state to %I', held.rolname);
            execute format('grant insert, update on storehook.overview_ring to %I', held.rolname);
        end if;
    end loop;
end
$$;
