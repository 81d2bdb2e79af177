-- compatible-from: 10
-- The console's pages: passwords of members of the staff, who is logged in, and people whom a proxy in front of the console has logged in.

create table storehook.staff_passwords (
    member_id bigint      primary key references storehook.staff_members,
    hash      text        not null
              check (hash ~ '^[$]scrypt[$]ln=[0-9]{1,2},r=[0-9]{1,2},p=[0-9]{1,2}[$][A-Za-z0-9+/]{22}[$][A-Za-z0-9+/]{43}$'),
    set_at    timestamptz not null default now(),
    set_by    text        not null check (length(set_by) between 1 and 200)
);
comment on table storehook.staff_passwords is 'passwords for the pages of the console, by their hashes';
comment on column storehook.staff_passwords.hash is 'scrypt (RFC 7914) as PHC strings have it: parameters, salt, key';

create table storehook.console_sessions (
    digest    bytea       primary key check (octet_length(digest) = 32),
    member_id bigint      not null references storehook.staff_members,
    begun_at  timestamptz not null default now(),
    seen_at   timestamptz not null default now(),
    check (seen_at >= begun_at)
);
comment on table storehook.console_sessions is 'who is logged in to the pages of the console: sessions by the digests of their secrets';
create index console_sessions_by_member on storehook.console_sessions (member_id);

create function storehook.audit_staff_password() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.set_by);
    draft.role := 'admin';
    draft.act := 'set_staff_password';
    draft.subject_kind := 'staff';
    draft.subject := new.member_id::text;
    if tg_op = 'UPDATE' then draft.before := jsonb_build_object('set_at', old.set_at)::text; end if;
    draft.after := jsonb_build_object('set_at', new.set_at)::text;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_staff_password() from public;
create trigger staff_passwords_audit after insert or update on storehook.staff_passwords
    for each row execute function storehook.audit_staff_password();

-- Another password ends the sessions that the one before began. In the database, so that no program can leave it out.
create function storehook.end_console_sessions() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    delete from storehook.console_sessions s where s.member_id = new.member_id;
    return null;
end
$$;
revoke all on function storehook.end_console_sessions() from public;
create trigger staff_passwords_sessions after insert or update on storehook.staff_passwords
    for each row execute function storehook.end_console_sessions();

-- Who is no longer staff leaves neither a password nor a session.
create function storehook.forget_staff_login() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    delete from storehook.staff_passwords p where p.member_id = new.id;
    delete from storehook.console_sessions s where s.member_id = new.id;
    return null;
end
$$;
revoke all on function storehook.forget_staff_login() from public;
create trigger staff_members_login after update of removed_at on storehook.staff_members
    for each row when (new.removed_at is not null) execute function storehook.forget_staff_login();

-- People whom a proxy has logged in (STOREHOOK_CONSOLE_AUTH), with the role and the apps that their groups last gave them: the audit takes the
-- role from here, as it does for members.
create table storehook.proxied_staff (
    name       text        primary key check (length(name) between 1 and 190),
    role       text        not null check (role in ('viewer', 'support', 'admin')),
    apps       text[]      check (cardinality(apps) >= 1),
    known_at   timestamptz not null default now(),
    changed_at timestamptz not null default now()
);
comment on table storehook.proxied_staff is 'people whom a proxy in front of the console has logged in, by the name that it gave';

-- SECURITY DEFINER, like the next: the console notes who comes, and can take nobody out.
create function storehook.note_proxied_staff(proxied text, with_role text, of_apps text[]) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.proxied_staff as known (name, role, apps) values (proxied, with_role, of_apps)
        on conflict (name) do update set role = excluded.role, apps = excluded.apps, changed_at = clock_timestamp()
            where (known.role, known.apps) is distinct from (excluded.role, excluded.apps)
$$;
revoke all on function storehook.note_proxied_staff(text, text, text[]) from public;

-- What they tried and may not do, as forbidden_tries has it of members.
create table storehook.proxied_tries (
    name   text        not null references storehook.proxied_staff,
    route  text        collate "C" not null check (length(route) between 1 and 200),
    minute timestamptz not null,
    tries  bigint      not null default 1 check (tries > 0),
    primary key (name, route, minute)
);
comment on table storehook.proxied_tries is 'what people whom a proxy has logged in tried and may not do, until the minute is over and a row of the audit has it';

create function storehook.note_proxied_try(proxied text, tried text) returns void
    language sql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.proxied_tries as known (name, route, minute)
    values (proxied, tried, date_trunc('minute', clock_timestamp()))
        on conflict (name, route, minute) do update set tries = known.tries + 1
$$;
revoke all on function storehook.note_proxied_try(text, text) from public;

-- As before, and of people whom a proxy has logged in.
create or replace function storehook.record_forbidden_tries() returns bigint
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
            returning 'staff:' || member_id as actor, route, minute, tries
        ), proxied as (
            delete from storehook.proxied_tries
             where minute < date_trunc('minute', clock_timestamp() - interval '5 seconds')
            returning 'proxy:' || name as actor, route, minute, tries
        )
        select actor, route, minute, tries from taken
         union all
        select actor, route, minute, tries from proxied
         order by minute, actor, route
    loop
        draft.actor := storehook.audit_actor(done.actor);
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

-- As before. The console also writes proxy: and the name that a proxy has given, where it has noted that name first.
create or replace function storehook.audit_actor(recorded_by text) returns text
    language sql stable parallel safe
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    select case
        when recorded_by like 'cli:%' then left(recorded_by, 210)
        when recorded_by ~ '^staff:[1-9][0-9]{0,17}$' and storehook.may_name_staff()
             and exists (select from storehook.staff_members m where m.id = substr(recorded_by, 7)::bigint) then recorded_by
        when recorded_by like 'proxy:%' and storehook.may_name_staff()
             and exists (select from storehook.proxied_staff p where p.name = substr(recorded_by, 7)) then recorded_by
        else 'cli:' || left(coalesce(recorded_by, '-'), 206) end
$$;

create or replace function storehook.add_audit_draft(draft storehook.audit_drafts) returns void
    language sql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.audit_drafts (
           actor, role, act, environment, app, subject_kind, subject, before, after, record, accounts, body)
    values (draft.actor,
            coalesce((select m.role from storehook.staff_members m
                       where m.id = case when draft.actor ~ '^staff:[1-9][0-9]{0,17}$' then substr(draft.actor, 7)::bigint end),
                     (select p.role from storehook.proxied_staff p
                       where draft.actor like 'proxy:%' and p.name = substr(draft.actor, 7)),
                     draft.role),
            draft.act, draft.environment, draft.app, draft.subject_kind, draft.subject, draft.before, draft.after, draft.record,
            coalesce(draft.accounts, '{}'),
            storehook.audit_text(
                jsonb_build_object('why', nullif(left(current_setting('storehook.why', true), 1000), ''))
                || coalesce(draft.body::jsonb, '{}')))
$$;

-- `sql/roles.sql` grants the same; here it is granted so that operators and the console can begin between the upgrade and the next run of
-- that file. Operators are known by the keys of servers, which they alone make, and the console by its role.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.server_keys'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.staff_passwords to %I', writer);
        execute format('grant update (hash, set_at, set_by) on storehook.staff_passwords to %I', writer);
    end loop;
    if to_regrole('storehook_console') is not null then
        grant select on storehook.staff_passwords to storehook_console;
        grant select, insert, delete on storehook.console_sessions to storehook_console;
        grant update (seen_at) on storehook.console_sessions to storehook_console;
        grant execute on function storehook.note_proxied_staff(text, text, text[]), storehook.note_proxied_try(text, text)
            to storehook_console;
    end if;
end
$$;
