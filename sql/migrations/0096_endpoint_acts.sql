-- compatible-from: 10
-- What members of the staff do to endpoints and deliveries without the right to read a secret: another secret, a test, a delivery sent again.

-- The secret of an endpoint, replaced by one that is encrypted already. The former one signs as well for a while; by 0 seconds it ends at once, and
-- so does every earlier one. False where there is no such endpoint, or where five former ones sign already.
create function storehook.rotate_endpoint(
    endpoint bigint, sealed bytea, overlap_seconds double precision, rotated_by text
) returns boolean
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    keeps boolean := overlap_seconds > 0;
begin
    update storehook.endpoints e
       set earlier_secrets = case when keeps then nullif(array(
               select f.secret
                 from unnest(array_append(e.earlier_secrets, e.former_secret), array_append(e.earlier_ends_at, e.former_ends_at))
                      with ordinality f (secret, ends_at, place)
                where e.former_secret is not null and f.ends_at > now() order by f.place), '{}') end,
           earlier_ends_at = case when keeps then nullif(array(
               select f.ends_at
                 from unnest(array_append(e.earlier_ends_at, e.former_ends_at)) with ordinality f (ends_at, place)
                where e.former_secret is not null and f.ends_at > now() order by f.place), '{}') end,
           former_secret = case when keeps then e.secret end,
           former_ends_at = case when keeps then now() + make_interval(secs => overlap_seconds) end,
           secret = sealed, changed_at = now(), changed_by = left(rotated_by, 200)
     where e.id = endpoint and e.state <> 'removed'
       and (not keeps or (
               select count(*)
                 from unnest(array_append(e.earlier_ends_at, e.former_ends_at)) f (ends_at)
                where e.former_secret is not null and f.ends_at > now()) < 5);
    return found;
end
$$;
revoke all on function storehook.rotate_endpoint(bigint, bytea, double precision, text) from public;

-- A worker posts the event: it has the key of the secrets, and calls endpoints anyway. A row is kept for a day.
create table storehook.endpoint_trials (
    id           bigint      primary key generated always as identity,
    endpoint_id  bigint      not null references storehook.endpoints on delete cascade,
    event_id     bigint,
    asked_by     text        not null check (length(asked_by) between 1 and 210),
    asked_at     timestamptz not null default now(),
    begun_at     timestamptz,
    ended_at     timestamptz,
    webhook_id   text        check (length(webhook_id) between 1 and 100),
    is_delivered boolean,
    outcome      text        check (length(outcome) between 1 and 60),
    status       smallint,
    milliseconds integer     check (milliseconds >= 0),
    message      text        check (length(message) <= 300),
    check (ended_at is null or (begun_at is not null and is_delivered is not null and outcome is not null))
);
comment on table storehook.endpoint_trials is 'test events that the staff has posted to an endpoint, and what came back';
comment on column storehook.endpoint_trials.event_id is 'the past event that is posted; null for a test event';
create index endpoint_trials_asked on storehook.endpoint_trials (asked_at);
create index endpoint_trials_waiting on storehook.endpoint_trials (id) where begun_at is null;
create index endpoint_trials_of_endpoint on storehook.endpoint_trials (endpoint_id);

create function storehook.audit_endpoint_trial() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.asked_by);
    draft.role := 'admin';
    draft.act := 'test_endpoint';
    select e.environment, e.bundle_id into draft.environment, draft.app from storehook.endpoints e where e.id = new.endpoint_id;
    draft.subject_kind := 'endpoint';
    draft.subject := new.endpoint_id::text;
    draft.after := jsonb_strip_nulls(jsonb_build_object('event', 'evt_' || new.event_id))::text;
    draft.record := 'endpoint_trials:' || new.id;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_endpoint_trial() from public;
create trigger endpoint_trials_audit after insert on storehook.endpoint_trials
    for each row execute function storehook.audit_endpoint_trial();

-- A delivery that a member of the staff has sent again: called in the transaction that puts it back.
create function storehook.note_resent(
    resent_by text, endpoint bigint, delivery bigint, event bigint, event_told_at timestamptz
) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(resent_by);
    draft.role := 'admin';
    draft.act := 'resend_delivery';
    select e.environment, coalesce(e.bundle_id, n.bundle_id) into draft.environment, draft.app
      from storehook.endpoints n left join storehook.events e on e.told_at = event_told_at and e.id = event
     where n.id = endpoint;
    draft.subject_kind := 'delivery';
    draft.subject := delivery::text;
    draft.after := jsonb_build_object('endpoint', endpoint, 'event', 'evt_' || event)::text;
    perform storehook.add_audit_draft(draft);
end
$$;
revoke all on function storehook.note_resent(text, bigint, bigint, bigint, timestamptz) from public;

-- `sql/roles.sql` grants the same; here it is granted so that programs go on between the upgrade and the next run of that file. A role that deletes
-- endpoints is a worker's or an operator's, and one that records what staff tried is the console's.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.endpoints'::regclass and a.privilege_type = 'DELETE' and a.grantee <> c.relowner
    loop
        execute format('grant select, update, delete on storehook.endpoint_trials to %I', held);
        execute format('grant execute on function storehook.rotate_endpoint(bigint, bytea, double precision, text) to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant execute on function storehook.rotate_endpoint(bigint, bytea, double precision, text) to %I', held);
        execute format('grant execute on function storehook.note_resent(text, bigint, bigint, bigint, timestamptz) to %I', held);
        execute format('grant select, insert on storehook.endpoint_trials to %I', held);
        execute format('grant select (endpoint_id, position), update (has_resends) on storehook.endpoint_cursors to %I', held);
        execute format('grant insert, update (last_sequence) on storehook.delivery_lanes to %I', held);
        execute format('grant insert on storehook.deliveries_pending to %I', held);
        execute format('grant update (resent_at) on storehook.deliveries to %I', held);
    end loop;
end
$$;
