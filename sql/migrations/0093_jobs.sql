-- compatible-from: 10
-- Acts on all dead letters that match a filter, as stored jobs that workers carry out; and what became of each attempt at a piece of evidence.

-- Whose a letter is, as it says itself, and the job that settled it.
alter table storehook.dead_letters add column bundle_id text collate "C", add column job_id bigint;
alter table storehook.dead_letters add constraint dead_letters_bundle_id_check check (length(bundle_id) <= 255) not valid;
comment on column storehook.dead_letters.bundle_id is
    'the app, as the letter itself says: for an unverified one nobody vouches for it; null also where an earlier release wrote the letter';
comment on column storehook.dead_letters.job_id is 'the job that replayed or discarded it; null where a person did so letter by letter';
create or replace view storehook.dead_letters_open as
select id, notification_uuid, type, category, reason, message, attempts, received_at, dead_at, kind, source, bundle_id, subtype
  from storehook.dead_letters
 where resolution = 'open';

-- What is asked for, by whom and why. The letters are fixed when it is made: job_items has them.
create table storehook.jobs (
    id          bigint      generated always as identity primary key,
    act         text        not null check (act in ('rehearse', 'replay', 'discard')),
    filter      json        not null,
    apps        text[]      check (cardinality(apps) between 1 and 100),
    up_to       bigint      not null,
    per_second  integer     check (per_second between 1 and 1000),
    total       integer     not null check (total between 1 and 100000),
    done        integer     not null default 0 check (done >= 0),
    skipped     integer     not null default 0 check (skipped >= 0),
    state       text        not null default 'waiting'
                            check (state in ('waiting', 'running', 'done', 'stopped', 'failed')),
    error       text        check (length(error) <= 1000),
    report      json,
    actor       text        not null check (length(actor) between 1 and 210),
    why         text        check (length(why) between 1 and 1000),
    created_at  timestamptz not null default now(),
    begun_at    timestamptz,
    ended_at    timestamptz,
    stopped_at  timestamptz,
    stopped_by  text        check (length(stopped_by) between 1 and 200),
    stopped_why text        check (length(stopped_why) between 1 and 1000),
    check (done + skipped <= total),
    check ((ended_at is not null) = (state in ('done', 'stopped', 'failed'))),
    check ((stopped_at is null) = (stopped_by is null)),
    check (state <> 'stopped' or stopped_at is not null),
    check ((error is not null) = (state = 'failed')),
    check (act <> 'discard' or why is not null)
) with (fillfactor = 70);
comment on table storehook.jobs is 'acts on all dead letters that matched a filter when it was confirmed; workers carry them out';
comment on column storehook.jobs.act is 'rehearse changes nothing, and its report says what a replay would do';
comment on column storehook.jobs.apps is 'of the staff who asked for it; null for staff of all apps';
comment on column storehook.jobs.up_to is 'the newest letter when it was confirmed; those that came later are not in it';
comment on column storehook.jobs.skipped is 'letters that somebody had settled before their turn came';
comment on column storehook.jobs.actor is 'as the audit names the person who asked for it';
comment on column storehook.jobs.stopped_at is 'when somebody stopped it; the worker that carries it out notices with its next step';
create index jobs_ended on storehook.jobs (ended_at) where ended_at is not null;
create index jobs_open on storehook.jobs (id) where ended_at is null;

create table storehook.job_items (
    job_id    bigint not null references storehook.jobs on delete cascade,
    letter_id bigint not null,
    outcome   text   check (outcome in ('done', 'skipped')),
    ended_at  timestamptz,
    primary key (job_id, letter_id),
    check ((outcome is null) = (ended_at is null))
);
comment on table storehook.job_items is 'the dead letters of each job, and what became of them';
create index job_items_waiting on storehook.job_items (job_id, letter_id) where outcome is null;

-- The queue of jobs: see QueueTable.
create table storehook.job_queue (
    id           bigint      primary key references storehook.jobs on delete cascade,
    received_at  timestamptz not null,
    due_at       timestamptz not null,
    attempts     smallint    not null default 0 check (attempts >= 0),
    lapses       smallint    not null default 0 check (lapses >= 0),
    lease_owner  text        check (length(lease_owner) <= 200),
    lease_token  uuid,
    last_reason  text        check (length(last_reason) <= 100),
    check ((lease_owner is null) = (lease_token is null))
) with (fillfactor = 70);
comment on table storehook.job_queue is 'jobs that are still to be carried out';
create index job_queue_due on storehook.job_queue (due_at, id);

-- Who asked for it is the one whom the audit would name, fixed when it is made: the worker that carries it out can name nobody.
create function storehook.name_job_actor() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    new.actor := storehook.audit_actor(new.actor);
    return new;
end
$$;
revoke all on function storehook.name_job_actor() from public;
create trigger jobs_actor before insert on storehook.jobs for each row execute function storehook.name_job_actor();

-- A job is one act, when it is asked for, and another where somebody stops it. What was looked for may be a person's, and stands with the reason.
create function storehook.audit_job() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.role := 'admin';
    draft.app := case when cardinality(new.apps) = 1 then new.apps[1] end;
    draft.subject_kind := 'job';
    draft.subject := new.id::text;
    draft.record := 'jobs:' || new.id;
    if tg_op = 'INSERT' then
        draft.actor := new.actor;
        draft.act := case new.act when 'replay' then 'replay_dead_letters' else 'discard_dead_letters' end;
        draft.after := jsonb_strip_nulls(jsonb_build_object(
            'letters', new.total, 'up_to', new.up_to, 'filter', new.filter::jsonb - 'text'))::text;
        draft.body := storehook.audit_text(jsonb_build_object('why', new.why, 'text', new.filter ->> 'text'));
    else
        draft.actor := storehook.audit_actor(new.stopped_by);
        draft.act := 'stop_job';
        draft.before := jsonb_build_object('state', old.state)::text;
        draft.after := jsonb_build_object('letters', new.total, 'done', new.done, 'skipped', new.skipped)::text;
        draft.body := storehook.audit_text(jsonb_build_object('why', new.stopped_why));
    end if;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_job() from public;
create trigger jobs_audit after insert on storehook.jobs
    for each row when (new.act <> 'rehearse') execute function storehook.audit_job();
create trigger jobs_audit_stop after update of stopped_at on storehook.jobs
    for each row when (new.act <> 'rehearse' and old.stopped_at is null and new.stopped_at is not null)
    execute function storehook.audit_job();

-- See 0063. What a job does is on record with the job, if it is that job's to do.
create or replace function storehook.audit_dead_letters() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    done record;
    draft storehook.audit_drafts;
begin
    for done in
        select n.resolution, n.resolved_by, n.resolved_why, count(*) as letters, (array_agg(n.id order by n.id))[1:1000] as ids,
               case when count(n.bundle_id) = count(*) and min(n.bundle_id) = max(n.bundle_id) then min(n.bundle_id) end as app
          from settled_before o join settled_after n using (id)
         where o.resolution = 'open' and n.resolution <> 'open'
           and not exists (
               select from storehook.job_items i join storehook.jobs j on j.id = i.job_id
                where i.job_id = n.job_id and i.letter_id = n.id
                  and j.act = case n.resolution when 'replayed' then 'replay' else 'discard' end)
         group by 1, 2, 3
    loop
        draft.actor := storehook.audit_actor(done.resolved_by);
        draft.role := 'admin';
        draft.app := done.app;
        draft.act := case done.resolution when 'replayed' then 'replay_dead_letters' else 'discard_dead_letters' end;
        draft.subject_kind := 'dead_letter';
        draft.subject := done.ids[1] || case when done.letters > 1 then ' and ' || done.letters - 1 || ' more' else '' end;
        draft.before := '{"resolution": "open"}';
        draft.after := jsonb_build_object(
            'resolution', done.resolution, 'letters', done.letters, 'first_ids', to_jsonb(done.ids))::text;
        draft.body := storehook.audit_text(jsonb_build_object('why', done.resolved_why));
        perform storehook.add_audit_draft(draft);
    end loop;
    return null;
end
$$;

-- One bounded step of a job: settles the next letters, and puts those that are replayed back on the queue. SECURITY DEFINER: a worker settles
-- letters of a job that somebody asked for, and no others. It does nothing where the job was stopped or has ended.
create function storehook.work_job(worked bigint, portion integer, out settled integer, out passed integer)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    asked storehook.jobs;
begin
    if portion not between 1 and 10000 then
        raise exception 'portion must be between 1 and 10000' using errcode = 'invalid_parameter_value';
    end if;
    select * into strict asked from storehook.jobs j where j.id = worked for update;
    settled := 0;
    passed := 0;
    if asked.state not in ('waiting', 'running') or asked.stopped_at is not null or asked.act = 'rehearse' then
        return;
    end if;
    with next as materialized (
        select i.letter_id from storehook.job_items i
         where i.job_id = worked and i.outcome is null order by i.letter_id limit portion for update
    ), held as materialized (
        -- In one order, so that two jobs with the same letters wait for each other and not both.
        select d.id from storehook.dead_letters d
         where d.id in (select n.letter_id from next n) and d.resolution = 'open' order by d.id for update
    ), closed as (
        update storehook.dead_letters d
           set resolution = case asked.act when 'replay' then 'replayed' else 'discarded' end, resolved_at = now(),
               resolved_by = left(asked.actor, 200), resolved_why = asked.why, job_id = worked
          from held h
         where d.id = h.id and d.resolution = 'open'
        returning d.id, d.outbox_id, d.received_at, d.reason
    ), queued as (
        insert into storehook.outbox_queue (id, received_at, due_at, last_reason)
        select c.outbox_id, c.received_at, now(), c.reason from closed c where asked.act = 'replay'
    ), marked as (
        update storehook.job_items i
           set outcome = case when c.id is null then 'skipped' else 'done' end, ended_at = now()
          from next n left join closed c on c.id = n.letter_id
         where i.job_id = worked and i.letter_id = n.letter_id
        returning i.outcome
    )
    select count(*) filter (where m.outcome = 'done'), count(*) filter (where m.outcome = 'skipped')
      into settled, passed from marked m;
    update storehook.jobs j
       set done = j.done + settled, skipped = j.skipped + passed, state = 'running', begun_at = coalesce(j.begun_at, now())
     where j.id = worked;
end
$$;
revoke all on function storehook.work_job(bigint, integer) from public;

-- Attempts that ended otherwise than well: evidence that is applied at once leaves no row.
create table storehook.outbox_attempts (
    id        bigint      generated always as identity primary key,
    outbox_id bigint      not null,
    attempt   smallint    not null check (attempt > 0),
    worker    text        check (length(worker) <= 200),
    began_at  timestamptz,
    ended_at  timestamptz not null default clock_timestamp(),
    reason    text        not null check (length(reason) between 1 and 100),
    message   text        check (length(message) <= 1000)
);
comment on table storehook.outbox_attempts is
    'attempts at evidence that was put off or buried, or whose worker vanished; kept as long as histories';
comment on column storehook.outbox_attempts.attempt is 'counted anew where a dead letter is replayed';
comment on column storehook.outbox_attempts.began_at is 'when it was claimed; null where its worker vanished';
create index outbox_attempts_of_evidence on storehook.outbox_attempts (outbox_id, id);
create index outbox_attempts_ended on storehook.outbox_attempts (ended_at);

-- What a dead letter says, as outbox_bodies has it: so that who looks at letters need not read all that Apple sent.
create function storehook.dead_letter_body(letter bigint) returns bytea
    language sql stable security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select b.stored
      from storehook.dead_letters d
     cross join lateral storehook.outbox_bodies(array[d.outbox_id], array[d.received_at]) b
     where d.id = dead_letter_body.letter
$$;
revoke all on function storehook.dead_letter_body(bigint) from public;

-- `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and the next run of that file. A role that writes
-- dead letters carries out jobs, and one that records what staff tried asks for them.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.dead_letters'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.dead_letters, storehook.job_items to %I', held);
        execute format('grant execute on function storehook.work_job(bigint, integer) to %I', held);
        execute format('grant select, delete on storehook.jobs to %I', held);
        execute format('grant update (state, error, report, begun_at, ended_at) on storehook.jobs to %I', held);
        execute format('grant select, update, delete on storehook.job_queue to %I', held);
        execute format('grant select, insert, delete on storehook.outbox_attempts to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant select on storehook.dead_letters, storehook.outbox_attempts, storehook.signature_headers to %I', held);
        execute format(
            'grant update (resolution, resolved_at, resolved_by, resolved_why) on storehook.dead_letters to %I', held);
        execute format(
            'grant select (id, due_at, attempts, lapses, lease_owner, last_reason), insert on storehook.outbox_queue to %I', held);
        execute format('grant execute on function storehook.dead_letter_body(bigint) to %I', held);
        execute format('grant select, insert on storehook.jobs, storehook.job_items to %I', held);
        execute format('grant update (stopped_at, stopped_by, stopped_why) on storehook.jobs to %I', held);
        execute format('grant insert on storehook.job_queue to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.staff_acts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant execute on function storehook.dead_letter_body(bigint) to %I', held);
    end loop;
end
$$;
