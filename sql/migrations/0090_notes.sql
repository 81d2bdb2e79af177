-- compatible-from: 10
-- Notes that staff write about customers. They are never changed and never deleted: an erasure empties them.
create table storehook.staff_notes (
    id          bigint      generated always as identity primary key,
    token       uuid        not null,
    at          timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
    recorded_by text        not null check (length(recorded_by) between 1 and 200),
    body        text        check (length(body) between 1 and 1000),
    erased_at   timestamptz,
    check ((body is null) = (erased_at is not null))
);
comment on table storehook.staff_notes is 'what staff wrote about customers; erasing the account empties it';
comment on column storehook.staff_notes.token is 'the account''s appAccountToken';
comment on column storehook.staff_notes.recorded_by is 'the actor, whom the audit names too';
create index staff_notes_by_account on storehook.staff_notes (token, id);

-- Locks what an erasure changes first: the erasure either finds the note, or is over before the note is recorded.
-- SECURITY DEFINER, like all that adds to the audit; who writes a note need not be allowed to change accounts or their names.
create function storehook.audit_staff_note() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    perform from storehook.accounts a where a.token = new.token for share;
    perform from storehook.account_names n where n.token = new.token for share;
    draft.actor := storehook.audit_actor(new.recorded_by);
    draft.role := 'admin';
    draft.act := 'add_note';
    draft.subject_kind := 'account';
    draft.subject := new.token::text;
    draft.after := jsonb_build_object('note', new.id)::text;
    draft.record := 'staff_notes:' || new.id;
    draft.accounts := array[new.token];
    draft.body := storehook.audit_text(jsonb_build_object(
        'account', coalesce(
            (select a.account from storehook.accounts a where a.token = new.token),
            (select n.account from storehook.account_names n where n.token = new.token)),
        'note', new.body));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_staff_note() from public;
create trigger staff_notes_audit after insert on storehook.staff_notes
    for each row execute function storehook.audit_staff_note();

-- The database itself empties the notes about a person that is erased, so that programs of every release do. Before the row changes, since
-- the audit is emptied after that: the note that this waits for has its row in the audit by then.
create function storehook.erase_staff_notes() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    perform from storehook.account_names n where n.token = new.token for update;
    update storehook.staff_notes t set body = null, erased_at = clock_timestamp()
     where t.token = new.token and t.erased_at is null;
    return new;
end
$$;
revoke all on function storehook.erase_staff_notes() from public;
create trigger accounts_erase_notes before update of erased_at on storehook.accounts
    for each row when (new.erased_at is not null) execute function storehook.erase_staff_notes();

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
        execute format('grant select, insert on storehook.staff_notes to %I', writer);
    end loop;
end
$$;
