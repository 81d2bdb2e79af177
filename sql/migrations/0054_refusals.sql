-- compatible-from: 10
-- What PostgreSQL refuses to have settled. By it all workers distinguish the fault of a notification from a fault of the database, such as
-- a trigger, a constraint or a missing right. A worker writes here only where a notification that it tried alone was refused.

-- Adding it changes the catalog alone. No statement of a drain reads or writes it.
alter table storehook.outbox_queue add column refused_at timestamptz;
comment on column storehook.outbox_queue.refused_at is
    'when PostgreSQL first refused to have it settled, tried alone; null where it never did';

-- A row for each kind of refusal: as many as there are constraints and triggers that refuse. Workers keep the latest 200, each for a
-- week at most.
create table storehook.refusals (
    reason          text        not null check (length(reason) <= 100),
    table_name      text        not null default '' check (length(table_name) <= 200),
    constraint_name text        not null default '' check (length(constraint_name) <= 100),
    message         text        not null check (length(message) <= 1000),
    last_at         timestamptz not null default clock_timestamp(),
    last_id         bigint      not null,
    other_at        timestamptz,
    other_id        bigint,
    primary key (reason, table_name, constraint_name),
    check ((other_at is null) = (other_id is null))
) with (fillfactor = 50);
comment on table storehook.refusals is
    'why PostgreSQL refused to have notifications settled that were tried alone, by the code, and the table and the constraint that it named';
comment on column storehook.refusals.reason is 'as in outbox_queue.last_reason';
comment on column storehook.refusals.message is 'what PostgreSQL said, without values';
comment on column storehook.refusals.last_id is 'outbox.id of the notification that met it last';
comment on column storehook.refusals.other_id is 'of another one that met it before, the latest';

-- Scans the queue only while something was refused lately.
create view storehook.queue_refused as
select w.reason, w.count, w.since, extract(epoch from now() - w.since)::double precision as oldest_age_seconds,
       r.table_name, r.constraint_name, r.message, r.last_at
  from (select q.last_reason as reason, count(*) as count, min(q.refused_at) as since
          from storehook.outbox_queue q
         where q.refused_at is not null and exists (select from storehook.refusals)
         group by 1) w
 cross join lateral (select r.table_name, r.constraint_name, r.message, r.last_at
                       from storehook.refusals r
                      where r.reason = w.reason
                      order by r.last_at desc
                      limit 1) r;
comment on view storehook.queue_refused is
    'notifications that wait because PostgreSQL refuses them, by its code, with what it named last; not those that wait for a lock';
