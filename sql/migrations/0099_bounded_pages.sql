-- compatible-from: 10
-- Pages of the console cost the same however many rows there are: what they ask has an index, or a count that somebody keeps.

-- Requests for refunds in one state, the latest or the oldest first: most are settled.
create index staff_refund_requests_by_state on storehook.staff_refund_requests (state, id);

-- Who logged in to the pages when: sessions are deleted when they end. In the database, so that no program can leave it out.
create table storehook.staff_logins (
    member_id bigint      primary key references storehook.staff_members,
    at        timestamptz not null
);
comment on table storehook.staff_logins is 'when each member of the staff logged in to the pages of the console last';
insert into storehook.staff_logins (member_id, at)
select s.member_id, max(s.begun_at) from storehook.console_sessions s group by s.member_id;

create function storehook.note_staff_login() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    insert into storehook.staff_logins as known (member_id, at) values (new.member_id, new.begun_at)
        on conflict (member_id) do update set at = greatest(known.at, excluded.at);
    return null;
end
$$;
revoke all on function storehook.note_staff_login() from public;
create trigger console_sessions_login after insert on storehook.console_sessions
    for each row execute function storehook.note_staff_login();

-- Deliveries that a person has sent again, one or many: called in the transaction that puts them back, with a row for each endpoint and event. On
-- record it is an act for each endpoint: on the delivery, where it was one, and on the endpoint otherwise.
drop function storehook.note_resent(text, bigint, bigint, bigint, timestamptz);
create function storehook.note_resent(
    resent_by text, delivery bigint, endpoints bigint[], events bigint[], written timestamptz[]
) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    done record;
    draft storehook.audit_drafts;
begin
    for done in
        select r.endpoint, count(*) as deliveries, (array_agg('evt_' || r.event order by r.event))[1:1000] as first_events,
               case when count(e.environment) = count(*) and min(e.environment) = max(e.environment)
                    then min(e.environment) end as environment,
               case when count(a.app) = count(*) and min(a.app) = max(a.app) then min(a.app) end as app
          from unnest(endpoints, events, written) r (endpoint, event, told_at)
          join storehook.endpoints n on n.id = r.endpoint
          left join storehook.events e on e.told_at = r.told_at and e.id = r.event
         cross join lateral (select coalesce(e.bundle_id, n.bundle_id) as app) a
         group by r.endpoint order by r.endpoint
    loop
        draft.actor := storehook.audit_actor(resent_by);
        draft.role := 'admin';
        draft.environment := done.environment;
        draft.app := done.app;
        draft.act := 'resend_delivery';
        draft.subject_kind := case when delivery is null then 'endpoint' else 'delivery' end;
        draft.subject := coalesce(delivery, done.endpoint)::text;
        draft.after := jsonb_build_object(
            'endpoint', done.endpoint, 'deliveries', done.deliveries, 'first_events', to_jsonb(done.first_events))::text;
        perform storehook.add_audit_draft(draft);
    end loop;
end
$$;
revoke all on function storehook.note_resent(text, bigint, bigint[], bigint[], timestamptz[]) from public;

-- The same as delivery_status, by reads whose cost has a bound: for pages and checks. What is watched over time is counted whole.
create view storehook.delivery_glance as
select e.id as endpoint_id,
       case when e.state = 'enabled' and h.paused_at is not null then 'paused' else e.state end as state,
       e.reason, h.failures, h.last_failure, w.lanes, greatest(newest.position - c.position, 0) as behind, d.count as dead,
       coalesce(extract(epoch from now() - least(w.oldest, n.told_at)), 0)::double precision as oldest_age_seconds
  from storehook.endpoints e
  join storehook.endpoint_cursors c on c.endpoint_id = e.id
  join storehook.endpoint_health h on h.endpoint_id = e.id
 cross join (select coalesce(max(p.position), 0) as position from storehook.event_places p) newest
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
        where p.position > c.position order by p.position limit 1) n on true
 where e.state <> 'removed';
comment on view storehook.delivery_glance is
    'each endpoint: how it fares and what waits for it, by reads whose cost has a bound; 10,001 is more than 10,000';

-- `sql/roles.sql` grants the same; here it is granted so that operators and the console go on between the upgrade and the next run of that
-- file. See 0093 and 0095.
do $$
declare
    held name;
begin
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.server_keys'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.staff_logins to %I', held);
        execute format('grant execute on function storehook.note_resent(text, bigint, bigint[], bigint[], timestamptz[]) to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_proc f cross join lateral aclexplode(f.proacl) a join pg_roles r on r.oid = a.grantee
         where f.oid = 'storehook.record_forbidden_tries()'::regprocedure and a.grantee <> f.proowner
    loop
        execute format('grant select on storehook.staff_logins to %I', held);
        execute format('grant execute on function storehook.note_resent(text, bigint, bigint[], bigint[], timestamptz[]) to %I', held);
    end loop;
    for held in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.delivery_status'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner
    loop
        execute format('grant select on storehook.delivery_glance to %I', held);
    end loop;
end
$$;
