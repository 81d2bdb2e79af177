-- compatible-from: 10
-- Who the staff is: members with a role, of all apps or of some, and the tokens with which they call the admin API.

create table storehook.staff_members (
    id         bigint      generated always as identity primary key,
    mail       text        not null check (length(mail) <= 254 and mail ~ '^[^[:space:]@]+@[^[:space:]@]+$'),
    role       text        not null check (role in ('viewer', 'support', 'admin')),
    apps       text[]      check (cardinality(apps) between 1 and 100),
    added_at   timestamptz not null default now(),
    added_by   text        not null check (length(added_by) between 1 and 200),
    changed_at timestamptz,
    changed_by text        check (length(changed_by) between 1 and 200),
    removed_at timestamptz,
    removed_by text        check (length(removed_by) between 1 and 200),
    check ((changed_at is null) = (changed_by is null)),
    check ((removed_at is null) = (removed_by is null))
);
comment on table storehook.staff_members is 'who may ask the admin API; those who were removed stay, as what the audit calls staff: and a number';
comment on column storehook.staff_members.apps is 'bundle ids; null for all apps';
create unique index staff_members_by_mail on storehook.staff_members (lower(mail)) where removed_at is null;

create table storehook.staff_tokens (
    id           bigint      generated always as identity primary key,
    member_id    bigint      not null references storehook.staff_members,
    digest       bytea       not null unique check (octet_length(digest) = 32),
    created_at   timestamptz not null default now(),
    created_by   text        not null check (length(created_by) between 1 and 200),
    expires_at   timestamptz not null,
    revoked_at   timestamptz,
    revoked_by   text        check (length(revoked_by) between 1 and 200),
    check ((revoked_at is null) = (revoked_by is null)),
    check (expires_at > created_at)
);
comment on table storehook.staff_tokens is 'tokens for the admin API, by their digests';
create index staff_tokens_by_member on storehook.staff_tokens (member_id);

create function storehook.audit_staff_member() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case
        when tg_op = 'INSERT' then new.added_by when new.removed_at is null then new.changed_by else new.removed_by end);
    draft.role := 'admin';
    draft.act := case
        when tg_op = 'INSERT' then 'add_staff' when new.removed_at is null then 'change_staff' else 'remove_staff' end;
    draft.subject_kind := 'staff';
    draft.subject := new.id::text;
    if tg_op = 'UPDATE' then draft.before := jsonb_build_object('role', old.role, 'apps', old.apps)::text; end if;
    draft.after := case
        when new.removed_at is null then jsonb_build_object('role', new.role, 'apps', new.apps)
        else '{"removed": true}' end::text;
    draft.body := storehook.audit_text(jsonb_build_object('mail', new.mail));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_staff_member() from public;
create trigger staff_members_audit after insert or update on storehook.staff_members
    for each row execute function storehook.audit_staff_member();

create function storehook.audit_staff_token() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    -- That a removal ends the tokens is in the row of the removal.
    if tg_op = 'UPDATE' and exists (
        select from storehook.staff_members m where m.id = new.member_id and m.removed_at is not null) then
        return null;
    end if;
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.created_by else new.revoked_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'add_staff_token' else 'revoke_staff_token' end;
    draft.subject_kind := 'staff';
    draft.subject := new.member_id::text;
    if tg_op = 'UPDATE' then draft.before := jsonb_build_object('token', new.id, 'expires_at', old.expires_at)::text; end if;
    draft.after := jsonb_build_object(
        'token', new.id, 'expires_at', case when new.revoked_at is null then new.expires_at end)::text;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_staff_token() from public;
create trigger staff_tokens_audit after insert or update on storehook.staff_tokens
    for each row execute function storehook.audit_staff_token();

-- `sql/roles.sql` grants the same; here it is granted so that operators can begin between the upgrade and the next run of that file.
do $$
declare
    writer name;
begin
    for writer in
        select r.rolname
          from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'storehook.staff_acts'::regclass and a.privilege_type = 'INSERT' and a.grantee <> c.relowner
    loop
        execute format('grant select, insert on storehook.staff_members, storehook.staff_tokens to %I', writer);
        execute format(
            'grant update (role, apps, changed_at, changed_by, removed_at, removed_by) on storehook.staff_members to %I', writer);
        execute format('grant update (revoked_at, revoked_by) on storehook.staff_tokens to %I', writer);
    end loop;
end
$$;
