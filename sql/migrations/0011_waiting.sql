-- compatible-from: 10
-- Why something waits and until when, for whoever looks at the queue.

-- Claims that ended with their lease running out. Counted apart from the other attempts: what is put off may be tried for
-- a night, and what ends its workers not.
alter table storehook.outbox_queue
    add column lapses smallint not null default 0 check (lapses >= 0);
comment on column storehook.outbox_queue.lapses is 'claims whose lease ran out: the worker died, hung, or was ended by the row';
comment on column storehook.outbox_queue.last_reason is 'why it was put off the last time, or why its dead letter was replayed';

-- As before, and for each state the reason that most rows in it were last put off for, and when the first of them falls due.
create or replace view storehook.queue_depth as
with queued as (
    select case when due_at <= now() then 'ready' when lease_token is null then 'scheduled' else 'leased' end as state,
           received_at, due_at, last_reason
      from storehook.outbox_queue
    union all
    select 'dead', received_at, null, reason from storehook.dead_letters where resolution = 'open'
), counted as (
    -- By reason first, of which there are few: sorting a million rows for the most frequent one would take a second.
    select state, last_reason, count(*) as rows, min(received_at) as oldest,
           min(due_at) filter (where due_at > now()) as next_due_at
      from queued
     group by state, last_reason
)
select s.state,
       coalesce(sum(c.rows), 0)::bigint as count,
       coalesce(extract(epoch from now() - min(c.oldest)), 0)::double precision as oldest_age_seconds,
       (array_agg(c.last_reason order by c.rows desc, c.last_reason)
            filter (where c.last_reason is not null))[1] as reason,
       min(c.next_due_at) as next_due_at
  from (values ('ready', 1), ('scheduled', 2), ('leased', 3), ('dead', 4)) as s (state, place)
  left join counted c using (state)
 group by s.state, s.place
 order by s.place;
comment on column storehook.queue_depth.reason is
    'what most of them were put off or buried for; null where none was put off yet';
comment on column storehook.queue_depth.next_due_at is 'when the first of them falls due; null for what is due or dead';

-- What waits for its time, by why.
create view storehook.queue_waiting as
select coalesce(last_reason, 'replayed') as reason,
       count(*) as count,
       extract(epoch from now() - min(received_at))::double precision as oldest_age_seconds,
       min(due_at) as next_due_at,
       max(due_at) as last_due_at
  from storehook.outbox_queue
 where due_at > now() and lease_token is null
 group by 1;
comment on view storehook.queue_waiting is
    'notifications that were put off, by reason (the runbook has an entry for each), and when the first and the last of them fall due';
