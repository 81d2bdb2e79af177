-- compatible-from: 10
-- The canary: test notifications that Apple was asked for at an interval of the operator's, and how each came through.

create table storehook.canaries (
    id                bigint      primary key generated always as identity,
    environment       text        collate "C" not null check (length(environment) <= 50),
    bundle_id         text        collate "C" not null check (length(bundle_id) <= 255),
    planned_at        timestamptz not null default now(),
    asked_at          timestamptz,
    test_token        text        check (length(test_token) <= 10000),
    notification_uuid uuid,
    posted_at         timestamptz,
    post_result       text        check (length(post_result) <= 100),
    stored_at         timestamptz,
    applied_at        timestamptz,
    settled_at        timestamptz,
    outcome           text        check (outcome ~ '^[a-z0-9_]{1,100}$'),
    check ((settled_at is null) = (outcome is null)),
    check (test_token is null or asked_at is not null)
);
comment on table storehook.canaries is 'test notifications that Apple was asked for, and how each came through';
comment on column storehook.canaries.asked_at is 'right before Apple was asked';
comment on column storehook.canaries.posted_at is 'Apple''s first attempt to post it, by Apple''s clock';
comment on column storehook.canaries.post_result is 'what Apple says of its last attempt: SUCCESS, or why not';
comment on column storehook.canaries.outcome is
    'applied; or dead_letter, recovered (lost, and fetched from Apple''s history), overdue, or the code of why Apple posted none';
-- One at a time for each app and environment, however many plan.
create unique index canaries_under_way on storehook.canaries (bundle_id, environment) where outcome is null;
create index canaries_by_app on storehook.canaries (bundle_id, environment, planned_at desc);

-- Which of them are to be looked after, when, and by whom: see the queue's own comments at outbox_queue.
create table storehook.canary_queue (
    id           bigint      primary key references storehook.canaries on delete cascade,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lapses       smallint    not null default 0 check (lapses >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (fillfactor = 70);
create index canary_queue_due on storehook.canary_queue (due_at, id);

-- Of each app and environment: the last that came through, and since when one is missing. Those that Apple did not take count
-- for nothing: nothing was posted.
create view storehook.canary_status as
with last as (
    select distinct on (bundle_id, environment) bundle_id, environment, asked_at, posted_at, stored_at, applied_at
      from storehook.canaries
     where outcome = 'applied'
     order by bundle_id, environment, planned_at desc
)
select scope.environment,
       scope.bundle_id,
       last.asked_at,
       last.posted_at,
       last.stored_at,
       last.applied_at,
       missing.since                                            as missing_since,
       latest.outcome                                           as latest_outcome,
       latest.post_result                                       as latest_post_result
  from (select distinct bundle_id, environment from storehook.canaries) scope
  left join last using (bundle_id, environment)
 cross join lateral (
        select min(c.asked_at) as since
          from storehook.canaries c
         where c.bundle_id = scope.bundle_id and c.environment = scope.environment and c.test_token is not null
           and (c.outcome is null or c.outcome in ('dead_letter', 'recovered', 'overdue'))
           and c.asked_at > coalesce(last.asked_at, '-infinity')
       ) missing
  left join lateral (
        select c.outcome, c.post_result
          from storehook.canaries c
         where c.bundle_id = scope.bundle_id and c.environment = scope.environment and c.outcome is not null
         order by c.planned_at desc
         limit 1
       ) latest on true;
comment on view storehook.canary_status is
    'of each app and environment: the test notification that came through last, and since when one is missing';
