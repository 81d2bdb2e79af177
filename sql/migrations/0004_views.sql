-- What operators and monitors read.

create view storehook.queue_depth as
with queued as (
    select case when due_at <= now() then 'ready' when lease_token is null then 'scheduled' else 'leased' end as state,
           received_at
      from storehook.outbox_queue
    union all
    select 'dead', received_at from storehook.dead_letters where resolution = 'open'
)
select s.state,
       count(q.received_at) as count,
       coalesce(extract(epoch from now() - min(q.received_at)), 0)::double precision as oldest_age_seconds
  from (values ('ready', 1), ('scheduled', 2), ('leased', 3), ('dead', 4)) as s (state, place)
  left join queued q using (state)
 group by s.state, s.place
 order by s.place;
comment on view storehook.queue_depth is
    'ready: due now, expired leases included; scheduled: waiting for its time; leased: a worker has it; dead: open letters';

-- Every stored notification, and the one place it is in. Counted from the rows themselves: a notification that is nowhere
-- counts as missing and one that is in two places as doubled, so neither can hide behind the other.
create view storehook.conservation as
with place as (
    select id as outbox_id, 'pending' as place from storehook.outbox_queue
    union all
    select outbox_id, outcome from storehook.notifications
    union all
    select outbox_id, 'duplicate' from storehook.duplicates
    union all
    select outbox_id, case resolution when 'open' then 'dead' else 'discarded' end
      from storehook.dead_letters where resolution <> 'replayed'
), located as (
    select o.id, count(p.place) as places, min(p.place) as place
      from storehook.outbox o left join place p on p.outbox_id = o.id
     group by o.id
)
select count(*)                                        as received,
       count(*) filter (where place = 'pending')       as pending,
       count(*) filter (where place = 'applied')       as applied,
       count(*) filter (where place = 'duplicate')     as duplicate,
       count(*) filter (where place = 'parked')        as parked,
       count(*) filter (where place = 'dead')          as dead,
       count(*) filter (where place = 'discarded')     as discarded,
       count(*) filter (where places = 0)              as missing,
       count(*) filter (where places > 1)              as doubled
  from located;

create view storehook.dead_letters_open as
select id, notification_uuid, type, category, reason, message, attempts, received_at, dead_at
  from storehook.dead_letters
 where resolution = 'open';
