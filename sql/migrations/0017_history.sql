-- compatible-from: 10
-- Reconciliation: what is stored is held against Apple's notification history, window by window, and what is missing is
-- fetched; purchases that our records do not explain are asked for.

-- Spans of time that Apple is asked about, for each app and environment: days behind, hours of today. They follow upon each
-- other without gaps, as far as Apple's list reaches; plan_history makes them.
create table storehook.history_windows (
    id             bigint      primary key generated always as identity,
    environment    text        collate "C" not null check (length(environment) <= 50),
    bundle_id      text        collate "C" not null check (length(bundle_id) <= 255),
    starts_at      timestamptz not null,
    ends_at        timestamptz not null,
    -- The last asking that came to its end.
    askings        smallint    not null default 0,
    first_asked_at timestamptz,
    asked_at       timestamptz,
    listed         bigint      not null default 0,
    refused        bigint      not null default 0,
    refused_reason text        check (refused_reason ~ '^[a-z0-9_]{1,60}$'),
    proven_at      timestamptz,
    -- Over all askings.
    recovered      bigint      not null default 0,
    planned_at     timestamptz not null default now(),
    -- The asking under way, to be gone on with by whoever holds the lease.
    walk_token     text        check (length(walk_token) <= 10000),
    walk_pages     bigint      not null default 0,
    walk_listed    bigint      not null default 0,
    walk_refused   bigint      not null default 0,
    walk_reason    text        check (walk_reason ~ '^[a-z0-9_]{1,60}$'),
    unique (bundle_id, environment, starts_at),
    check (starts_at < ends_at),
    check ((askings = 0) = (asked_at is null)),
    check ((first_asked_at is null) = (asked_at is null)),
    check (proven_at is null or refused = 0),
    check ((refused > 0) = (refused_reason is not null))
);
comment on table storehook.history_windows is
    'spans of Apple''s notification history, what it listed and what of that was missing here';
comment on column storehook.history_windows.ends_at is 'where the next one begins: an instant belongs to the later one';
comment on column storehook.history_windows.listed is 'Apple''s count when it was last asked';
comment on column storehook.history_windows.refused is
    'listed when it was last asked, and not Apple''s: nobody has seen them, and the window is not proven';
comment on column storehook.history_windows.recovered is 'listed and in no place here: fetched';
comment on column storehook.history_windows.proven_at is 'since when everything that it lists is held';
comment on column storehook.history_windows.walk_token is 'Apple''s token for the next page; null: the first';

-- Which of them are to be asked, when, and by whom: see the queue's own comments at outbox_queue.
create table storehook.history_queue (
    id           bigint      primary key references storehook.history_windows on delete cascade,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lapses       smallint    not null default 0 check (lapses >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (fillfactor = 70);
create index history_queue_due on storehook.history_queue (due_at, id);

-- Notifications that are held, or were, and may stand nowhere else by their UUID: fetched ones that are still to be done, and
-- dead letters that retention has dropped. Kept as long as Apple's list may name them.
create table storehook.history_letters (
    notification_uuid uuid        primary key,
    window_id         bigint,
    outbox_id         bigint,
    noted_at          timestamptz not null default now(),
    check (outbox_id is null or window_id is not null)
);
comment on column storehook.history_letters.window_id is 'the window that listed what was fetched; null for a dead letter';
create unique index history_letters_by_outbox on storehook.history_letters (outbox_id) where outbox_id is not null;
create index history_letters_by_noted_at on storehook.history_letters using brin (noted_at);

create index dead_letters_by_uuid on storehook.dead_letters (notification_uuid) where notification_uuid is not null;

-- What somebody gave up is not to be fetched again once its letter is gone. What did not verify is: such a letter says itself
-- which notification it is, and anybody may have posted it to keep the real one from being missed.
-- SECURITY DEFINER: who drops a day need not be allowed to write here.
create function storehook.remember_dead_letters() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    insert into storehook.history_letters (notification_uuid)
    select distinct notification_uuid from gone
     where notification_uuid is not null and reason <> all (storehook.unverifiable())
        on conflict do nothing;
    return null;
end
$$;
revoke all on function storehook.remember_dead_letters() from public;
create trigger dead_letters_remembered after delete on storehook.dead_letters
    referencing old table as gone for each statement execute function storehook.remember_dead_letters();

-- How far back Apple's list goes. (App Store Server API, "Get Notification History")
create function storehook.history_reach(environment text) returns interval
    language sql immutable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select make_interval(days => case history_reach.environment when 'Production' then 180 else 30 end)
$$;
revoke all on function storehook.history_reach(text) from public;

-- Makes the windows that are missing, up to `behind` before now, and takes those away that Apple's list has left. Days where
-- a whole day fits, else hours; where `partial` is set the last one may be shorter. Answers how many it made. Safe to run from
-- many machines at once: one plans at a time.
create function storehook.plan_history(
    bundle_ids text[], environments text[], behind interval, partial boolean
) returns integer
    language plpgsql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    upto   constant timestamptz := date_trunc('milliseconds', now() - plan_history.behind);
    app    record;
    opens  timestamptz;
    closes timestamptz;
    made   integer := 0;
begin
    -- One at a time; a lock that only those can take who may write here.
    lock table storehook.history_windows in share row exclusive mode;
    for app in
        select a.bundle_id, a.environment, now() - storehook.history_reach(a.environment) as oldest
          from unnest(plan_history.bundle_ids, plan_history.environments) as a (bundle_id, environment)
         order by a.bundle_id, a.environment
    loop
        delete from storehook.history_windows w
         where w.bundle_id = app.bundle_id and w.environment = app.environment and w.ends_at < app.oldest;
        select max(w.ends_at) into opens from storehook.history_windows w
         where w.bundle_id = app.bundle_id and w.environment = app.environment;
        opens := greatest(opens, date_trunc('hour', app.oldest) + interval '1 hour');
        loop
            closes := opens + interval '1 day';
            if date_trunc('day', opens) < opens or closes > upto then
                closes := date_trunc('hour', opens) + interval '1 hour';
            end if;
            if closes > upto and plan_history.partial then
                closes := upto;
            end if;
            exit when closes > upto or closes <= opens;
            with made as (
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at)
                values (app.environment, app.bundle_id, opens, closes)
                returning id
            )
            insert into storehook.history_queue (id, received_at, due_at) select made.id, now(), now() from made;
            made := made + 1;
            opens := closes;
        end loop;
    end loop;
    -- By then Apple's list names them no more.
    if made > 0 then
        delete from storehook.history_letters l where l.noted_at < now() - storehook.history_reach('Production');
    end if;
    return made;
end
$$;
revoke all on function storehook.plan_history(text[], text[], interval, boolean) from public;

-- Up to when everything that Apple's notification history lists is proven to be held: the end of the last window before which
-- no window is unproven and no gap. Null where already the first one is not.
--
-- Without the apps that nobody serves any more: while others say each hour that they serve theirs, nobody has named these for a
-- day.
create view storehook.proven_until as
with served as (
    select bundle_id, environment, last_served >= max(last_served) over () - interval '1 day' as is_served
      from storehook.served_apps
), followed as (
    select w.*, lag(w.ends_at) over (partition by w.bundle_id, w.environment order by w.starts_at) as ended_before
      from storehook.history_windows w
      left join served s using (bundle_id, environment)
     where coalesce(s.is_served, true)
), chained as (
    select f.*, f.askings > 0 or f.walk_pages > 0 as is_answered,
           bool_and(f.proven_at is not null and coalesce(f.ended_before = f.starts_at, true))
               over (partition by f.bundle_id, f.environment order by f.starts_at) as is_proven
      from followed f
)
select environment,
       bundle_id,
       min(starts_at) filter (where is_proven)        as proven_from,
       max(ends_at) filter (where is_proven)          as proven_until,
       min(starts_at)                                 as asked_from,
       max(ends_at)                                   as asked_until,
       min(planned_at)                                as planned_at,
       count(*)                                       as windows,
       count(*) filter (where proven_at is null)      as unproven_windows,
       count(*) filter (where refused > 0)            as refused_windows,
       sum(listed)::bigint                            as listed,
       sum(greatest(listed - recovered - refused, 0))::bigint as held_before,
       sum(recovered)::bigint                         as recovered,
       sum(refused)::bigint                           as refused,
       q.last_reason,
       -- The App Store knows no app that was never released, and refuses its tokens; Sandbox takes them. Nothing can have been
       -- posted there.
       environment = 'Production' and not bool_or(is_answered) and coalesce(q.is_unauthorized, false)
           and exists (select from chained sandbox
                        where sandbox.bundle_id = chained.bundle_id and sandbox.environment = 'Sandbox'
                          and sandbox.is_answered)    as is_unreleased
  from chained
  left join (select w.bundle_id, w.environment, max(q.last_reason) as last_reason,
                    bool_and(q.last_reason = 'unauthorized') as is_unauthorized
               from storehook.history_queue q join storehook.history_windows w using (id)
              where w.proven_at is null
              group by w.bundle_id, w.environment) q using (bundle_id, environment)
 group by environment, bundle_id, q.last_reason, q.is_unauthorized;
comment on column storehook.proven_until.planned_at is 'since when Apple is asked about it';
comment on column storehook.proven_until.is_unreleased is
    'Production takes the key of no app that was never released, and Sandbox takes it: there is nothing to prove yet';

-- Which purchases to ask about is looked up each minute, and most anomalies are of no such kind.
create index anomalies_contradictions on storehook.anomalies (bundle_id, environment)
    where kind in ('status_contradicted', 'period_missing', 'upgrade_missing');

-- Purchases to ask Apple about, and when they were. One row a purchase: it is not asked for again for a while.
create table storehook.refreshes (
    id                      bigint      primary key generated always as identity,
    environment             text        collate "C" not null,
    bundle_id               text        collate "C" not null,
    original_transaction_id text        collate "C" not null,
    noted_at                timestamptz not null default now(),
    asked_at                timestamptz,
    again_at                timestamptz,
    rounds                  smallint    not null default 0,
    stored                  bigint      not null default 0,
    outcome                 text        check (length(outcome) <= 100),
    unique (original_transaction_id, bundle_id, environment),
    check ((asked_at is null) = (outcome is null))
);
comment on table storehook.refreshes is
    'purchases that records do not explain, and what came of asking Apple about them';
comment on column storehook.refreshes.again_at is 'not to be asked for again before';
comment on column storehook.refreshes.stored is 'signed records that were stored, over all rounds';
comment on column storehook.refreshes.outcome is 'refreshed, or the code of why Apple gave nothing';

create table storehook.refresh_queue (
    id           bigint      primary key references storehook.refreshes on delete cascade,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lapses       smallint    not null default 0 check (lapses >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (fillfactor = 70);
create index refresh_queue_due on storehook.refresh_queue (due_at, id);
