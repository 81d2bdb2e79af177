-- compatible-from: 10
-- The console: staff whose tokens it has checked act through it, and the audit names them. What they tried and may not do is on record as well.

-- Whether this session's user may say which member of the staff acts: the console has checked that. The owner could write the audit itself.
create function storehook.may_name_staff() returns boolean
    language sql stable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select pg_has_role(session_user, (select c.relowner from pg_class c where c.oid = 'storehook.audit'::regclass), 'usage')
        or exists (select from pg_roles r where r.rolname = 'storehook_console' and pg_has_role(session_user, r.oid, 'usage'))
$$;
revoke all on function storehook.may_name_staff() from public;

-- Commands write cli: before the name, earlier releases did not, and the console writes staff: and the member's number. From any other
-- program's user that is a name like others.
create or replace function storehook.audit_actor(recorded_by text) returns text
    language sql stable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select case
        when recorded_by like 'cli:%' then left(recorded_by, 210)
        when recorded_by ~ '^staff:[1-9][0-9]{0,17}$' and storehook.may_name_staff()
             and exists (select from storehook.staff_members m where m.id = substr(recorded_by, 7)::bigint) then recorded_by
        else 'cli:' || left(coalesce(recorded_by, '-'), 206) end
$$;

-- Moves what a trigger's function drafted on its way to the audit: with the role that a member of the staff has, and with the reason where
-- the table that records the act has no place for one (storehook.why, which lasts for a transaction).
create or replace function storehook.add_audit_draft(draft storehook.audit_drafts) returns void
    language sql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.audit_drafts (
           actor, role, act, environment, app, subject_kind, subject, before, after, record, accounts, body)
    values (draft.actor,
            coalesce((select m.role from storehook.staff_members m
                       where m.id = case when draft.actor ~ '^staff:[1-9][0-9]{0,17}$' then substr(draft.actor, 7)::bigint end),
                     draft.role),
            draft.act, draft.environment, draft.app, draft.subject_kind, draft.subject, draft.before, draft.after, draft.record,
            coalesce(draft.accounts, '{}'),
            storehook.audit_text(
                jsonb_build_object('why', nullif(left(current_setting('storehook.why', true), 1000), ''))
                || coalesce(draft.body::jsonb, '{}')))
$$;

-- What members of the staff tried and may not do. One row of the audit, for a member, a route and a minute, says how often; until the minute is
-- over the count stands here.
create table storehook.forbidden_tries (
    member_id bigint      not null references storehook.staff_members,
    route     text        collate "C" not null check (length(route) between 1 and 200),
    minute    timestamptz not null,
    tries     bigint      not null default 1 check (tries > 0),
    primary key (member_id, route, minute)
);
comment on table storehook.forbidden_tries is 'what staff tried and may not do, until the minute is over and a row of the audit has it';

-- SECURITY DEFINER, like the next: the console may add a try and can take none back.
create function storehook.note_forbidden_try(member bigint, tried text) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.forbidden_tries as known (member_id, route, minute)
    values (member, tried, date_trunc('minute', clock_timestamp()))
        on conflict (member_id, route, minute) do update set tries = known.tries + 1
$$;
revoke all on function storehook.note_forbidden_try(bigint, text) from public;

-- Takes the minutes that are over into the audit. A try is noted within a moment: five seconds later no further one comes to its minute.
create function storehook.record_forbidden_tries() returns bigint
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    done record;
    draft storehook.audit_drafts;
    recorded bigint := 0;
begin
    for done in
        with taken as (
            delete from storehook.forbidden_tries
             where minute < date_trunc('minute', clock_timestamp() - interval '5 seconds')
            returning *
        )
        select * from taken order by minute, member_id, route
    loop
        draft.actor := storehook.audit_actor('staff:' || done.member_id);
        draft.role := 'viewer';
        draft.act := 'forbidden';
        draft.subject_kind := 'route';
        draft.subject := done.route;
        draft.after := jsonb_build_object('minute', done.minute, 'tries', done.tries)::text;
        perform storehook.add_audit_draft(draft);
        recorded := recorded + 1;
    end loop;
    return recorded;
end
$$;
revoke all on function storehook.record_forbidden_tries() from public;

-- Personal texts that somebody opened, now with what they belong to. What a program's role may add to the audit by itself is this, and what staff tried.
drop function storehook.note_opened_texts(text, text, bigint, boolean);
create function storehook.note_opened_texts(
    opened_by text, why text, opened bigint, is_export boolean, opened_kind text, opened_of text
) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(opened_by);
    draft.role := 'admin';
    draft.act := case when is_export then 'export_personal_text' else 'open_personal_text' end;
    draft.subject_kind := opened_kind;
    draft.subject := opened_of;
    draft.after := jsonb_build_object('opened', opened)::text;
    -- The reason goes with the account.
    if opened_kind = 'account' then draft.accounts := array[opened_of::uuid]; end if;
    draft.body := storehook.audit_text(jsonb_build_object('why', left(why, 1000)));
    perform storehook.add_audit_draft(draft);
end
$$;
revoke all on function storehook.note_opened_texts(text, text, bigint, boolean, text, text) from public;

-- `sql/roles.sql` grants the same; here it is granted so that operators go on between the upgrade and the next run of that file.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.staff_acts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format(
            'grant execute on function storehook.note_opened_texts(text, text, bigint, boolean, text, text) to %I', writer);
    end loop;
end
$$;
