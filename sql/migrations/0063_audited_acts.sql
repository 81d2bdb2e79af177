-- compatible-from: 10
-- Takes what staff did before into the audit, in the order in which it was done, and from then on each act as it commits. The database does
-- so itself: acts of programs of earlier releases, and of people with a program's rights, are on record as well.

-- Appends acts that the audit does not have yet, by the numbers of their rows: those behind the given ones.
create function storehook.take_into_audit(
    after_act bigint, after_binding bigint, after_consent bigint, with_erasures boolean
) returns void
    language plpgsql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    known record;
    tail storehook.audit_tail;
    draft storehook.audit_drafts;
    act storehook.staff_acts;
    bound storehook.purchase_bindings;
    consent storehook.consumption_consents;
    erased storehook.accounts;
begin
    select * into strict tail from storehook.audit_tail for update;
    for known in
        select 1 as source, a.id, null::uuid as token, a.at from storehook.staff_acts a
         where a.id > after_act
           and not exists (select from storehook.audit k where k.record = 'staff_acts:' || a.id)
        union all
        select 2, b.id, null, b.at from storehook.purchase_bindings b
         where b.id > after_binding and b.kind = 'staff'
           and not exists (select from storehook.audit k where k.record = 'purchase_bindings:' || b.id)
        union all
        select 3, c.id, null, c.recorded_at from storehook.consumption_consents c
         where c.id > after_consent and storehook.is_by_staff(c)
           and not exists (select from storehook.audit k where k.record = 'consumption_consents:' || c.id)
        union all
        select 4, null, a.token, a.erased_at from storehook.accounts a where with_erasures and a.erased_at is not null
         order by 4, 1, 2, 3
    loop
        if known.source = 1 then
            select * into strict act from storehook.staff_acts a where a.id = known.id;
            draft := storehook.audit_draft(act);
        elsif known.source = 2 then
            select * into strict bound from storehook.purchase_bindings b where b.id = known.id;
            draft := storehook.audit_draft(bound);
        elsif known.source = 3 then
            select * into consent from storehook.consumption_consents c where c.id = known.id;
            -- It was superseded, or its account erased, while this ran.
            continue when not found;
            draft := storehook.audit_draft(consent);
        else
            select * into strict erased from storehook.accounts a where a.token = known.token;
            draft := storehook.audit_draft(erased);
        end if;
        draft.at := known.at;
        draft.login := '-';
        draft.accounts := coalesce(draft.accounts, '{}');
        tail := storehook.append_audit(draft, tail);
    end loop;
    update storehook.audit_tail set place = tail.place, at = tail.at, hash = tail.hash;
end
$$;
revoke all on function storehook.take_into_audit(bigint, bigint, bigint, boolean) from public;

-- Most of it before anything is locked: nobody waits meanwhile.
select set_config('storehook.last_act', (select coalesce(max(id), 0)::text from storehook.staff_acts), true),
       set_config('storehook.last_binding', (select coalesce(max(id), 0)::text from storehook.purchase_bindings), true),
       set_config('storehook.last_consent', (select coalesce(max(id), 0)::text from storehook.consumption_consents), true);
select storehook.take_into_audit(0, 0, 0, true);

-- Moves what a trigger's function drafted on its way to the audit.
create function storehook.add_audit_draft(draft storehook.audit_drafts) returns void
    language sql
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
    insert into storehook.audit_drafts (
           actor, role, act, environment, app, subject_kind, subject, before, after, record, accounts, body)
    values (draft.actor, draft.role, draft.act, draft.environment, draft.app, draft.subject_kind, draft.subject, draft.before,
            draft.after, draft.record, coalesce(draft.accounts, '{}'), draft.body)
$$;
revoke all on function storehook.add_audit_draft(storehook.audit_drafts) from public;

create function storehook.audit_staff_act() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;
revoke all on function storehook.audit_staff_act() from public;
create trigger staff_acts_audit after insert on storehook.staff_acts
    for each row execute function storehook.audit_staff_act();

create function storehook.audit_move() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;
revoke all on function storehook.audit_move() from public;
create trigger purchase_bindings_audit after insert on storehook.purchase_bindings
    for each row when (new.kind = 'staff') execute function storehook.audit_move();

create function storehook.audit_consent() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if storehook.is_by_staff(new) then perform storehook.add_audit_draft(storehook.audit_draft(new)); end if;
    return null;
end
$$;
revoke all on function storehook.audit_consent() from public;
create trigger consumption_consents_audit after insert on storehook.consumption_consents
    for each row execute function storehook.audit_consent();

-- An erasure also empties what the audit has of the person: about the account, and about purchases that were or are its own. The rows
-- stay, and so do the digests, which without their salts say nothing.
create function storehook.audit_erasure() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    perform from storehook.audit_texts t
      where t.erased_at is null
        and t.place in (
            select k.place from storehook.audit_texts k where k.accounts && array[new.token]
             union all
            select a.place from storehook.account_lines l
              join storehook.audit a
                   on a.subject_kind = 'purchase' and a.subject = l.original_transaction_id and a.app = l.bundle_id
                  and a.environment = l.environment
             where l.token = new.token)
      order by t.place for update;
    update storehook.audit_texts t set salt = null, body = null, erased_at = clock_timestamp()
     where t.erased_at is null
       and t.place in (
            select k.place from storehook.audit_texts k where k.accounts && array[new.token]
             union all
            select a.place from storehook.account_lines l
              join storehook.audit a
                   on a.subject_kind = 'purchase' and a.subject = l.original_transaction_id and a.app = l.bundle_id
                  and a.environment = l.environment
             where l.token = new.token);
    perform storehook.add_audit_draft(storehook.audit_draft(new));
    return null;
end
$$;
revoke all on function storehook.audit_erasure() from public;
create trigger accounts_audit after update of erased_at on storehook.accounts
    for each row when (new.erased_at is distinct from old.erased_at and new.erased_at is not null)
    execute function storehook.audit_erasure();

-- Of a replay or a discard of many, one row, which has the first numbers of the letters.
create function storehook.audit_dead_letters() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    done record;
    draft storehook.audit_drafts;
begin
    for done in
        select n.resolution, n.resolved_by, n.resolved_why, count(*) as letters, (array_agg(n.id order by n.id))[1:1000] as ids
          from settled_before o join settled_after n using (id)
         where o.resolution = 'open' and n.resolution <> 'open'
         group by 1, 2, 3
    loop
        draft.actor := storehook.audit_actor(done.resolved_by);
        draft.role := 'admin';
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
revoke all on function storehook.audit_dead_letters() from public;
create trigger dead_letters_audit after update on storehook.dead_letters
    referencing old table as settled_before new table as settled_after
    for each statement execute function storehook.audit_dead_letters();

-- What workers do to endpoints that fail is no act of staff.
create function storehook.audit_endpoint() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.changed_by);
    draft.role := 'admin';
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := 'endpoint';
    draft.subject := new.id::text;
    draft.after := jsonb_build_object('state', new.state, 'rate', new.rate)::text;
    if tg_op = 'INSERT' then
        draft.act := 'add_endpoint';
    else
        draft.before := jsonb_build_object('state', old.state, 'rate', old.rate)::text;
        draft.act := case
            when new.state = 'removed' then 'remove_endpoint'
            when new.secret is distinct from old.secret then 'rotate_endpoint'
            when new.state = 'disabled' then 'disable_endpoint'
            else 'enable_endpoint' end;
    end if;
    draft.body := storehook.audit_text(jsonb_build_object('why', case when new.state = 'disabled' then new.reason end));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_endpoint() from public;
create trigger endpoints_audit after insert on storehook.endpoints
    for each row execute function storehook.audit_endpoint();
create trigger endpoints_audit_change after update on storehook.endpoints
    for each row when (new.changed_at is distinct from old.changed_at and new.changed_by <> 'storehook')
    execute function storehook.audit_endpoint();

create function storehook.audit_catalog() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.applied_by);
    draft.role := 'admin';
    draft.act := 'apply_catalog';
    draft.subject_kind := 'catalog';
    draft.subject := new.version::text;
    draft.before := jsonb_build_object('version', (
        select max(c.version) from storehook.catalogs c where c.current_from is not null and c.version < new.version))::text;
    draft.after := jsonb_build_object(
        'version', new.version, 'digest', encode(sha256(convert_to(new.source, 'UTF8')), 'hex'))::text;
    draft.record := 'catalogs:' || new.version;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_catalog() from public;
create trigger catalogs_audit after update of current_from on storehook.catalogs
    for each row when (old.current_from is null and new.current_from is not null)
    execute function storehook.audit_catalog();

create function storehook.audit_server_key() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.created_by else new.revoked_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'add_server_key' else 'revoke_server_key' end;
    draft.subject_kind := 'server_key';
    draft.subject := new.id::text;
    draft.before := case when tg_op = 'UPDATE' then '{"valid": true}' end;
    draft.after := jsonb_build_object('valid', new.revoked_at is null)::text;
    -- What a key is for may name a colleague.
    draft.body := storehook.audit_text(jsonb_build_object('name', new.name));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_server_key() from public;
create trigger server_keys_audit after insert on storehook.server_keys
    for each row execute function storehook.audit_server_key();
create trigger server_keys_audit_revocation after update of revoked_at on storehook.server_keys
    for each row when (old.revoked_at is null and new.revoked_at is not null)
    execute function storehook.audit_server_key();

create function storehook.audit_extension() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(case when tg_op = 'INSERT' then new.requested_by else new.closed_by end);
    draft.role := 'admin';
    draft.act := case when tg_op = 'INSERT' then 'request_extension' else 'close_extension' end;
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := case when new.original_transaction_id is null then 'product' else 'purchase' end;
    draft.subject := coalesce(new.original_transaction_id, new.product_id);
    draft.before := case when tg_op = 'UPDATE' then jsonb_build_object('state', old.state)::text end;
    draft.after := jsonb_build_object('state', new.state, 'days', new.days, 'reason_code', new.reason_code)::text;
    draft.record := 'extensions:' || new.id;
    draft.body := storehook.audit_text(jsonb_build_object(
        'why', case when tg_op = 'INSERT' then new.why else new.closed_why end));
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_extension() from public;
create trigger extensions_audit after insert on storehook.extensions
    for each row execute function storehook.audit_extension();
create trigger extensions_audit_closure after update of state on storehook.extensions
    for each row when (new.state = 'closed' and old.state <> 'closed')
    execute function storehook.audit_extension();

-- A program that names the rule by its setting is no person: name_account_ids writes the database user then.
create function storehook.audit_account_ids() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.named_by);
    draft.role := 'admin';
    draft.act := 'change_account_ids';
    draft.subject_kind := 'account_ids';
    draft.subject := 'rule';
    draft.before := jsonb_build_object('rule', old.rule)::text;
    draft.after := jsonb_build_object('rule', new.rule)::text;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_account_ids() from public;
create trigger account_ids_audit after update of named_by on storehook.account_ids
    for each row when (new.named_at is distinct from old.named_at and new.named_by is distinct from left(session_user, 200))
    execute function storehook.audit_account_ids();

-- What a person has Apple told about a customer's use.
create function storehook.audit_consumption() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(new.sent_by);
    draft.role := 'admin';
    draft.act := 'answer_consumption';
    draft.environment := new.environment;
    draft.app := new.bundle_id;
    draft.subject_kind := 'transaction';
    draft.subject := coalesce(new.transaction_id, new.notification_uuid::text);
    draft.after := new.answer::text;
    draft.record := 'consumption_answers:' || new.id;
    perform storehook.add_audit_draft(draft);
    return null;
end
$$;
revoke all on function storehook.audit_consumption() from public;
create trigger consumption_answers_audit after update of sent_by on storehook.consumption_answers
    for each row when (new.sent_by is not null and new.began_at is distinct from old.began_at)
    execute function storehook.audit_consumption();

-- Personal texts that somebody opened. What a program's role may add to the audit by itself is this alone.
create function storehook.note_opened_texts(opened_by text, why text, opened bigint, is_export boolean) returns void
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
declare
    draft storehook.audit_drafts;
begin
    draft.actor := storehook.audit_actor(opened_by);
    draft.role := 'admin';
    draft.act := case when is_export then 'export_personal_text' else 'open_personal_text' end;
    draft.subject_kind := 'audit';
    draft.subject := 'texts';
    draft.after := jsonb_build_object('opened', opened)::text;
    draft.body := storehook.audit_text(jsonb_build_object('why', left(why, 1000)));
    perform storehook.add_audit_draft(draft);
end
$$;
revoke all on function storehook.note_opened_texts(text, text, bigint, boolean) from public;

-- What committed while the first part ran. Numbers are dealt out before commits: hence those of transactions that were still open, too.
select storehook.take_into_audit(
    current_setting('storehook.last_act')::bigint - 10000, current_setting('storehook.last_binding')::bigint - 10000,
    current_setting('storehook.last_consent')::bigint - 10000, false);
drop function storehook.take_into_audit(bigint, bigint, bigint, boolean);

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
        execute format('grant select on storehook.audit, storehook.audit_texts, storehook.audit_tail to %I', writer);
        execute format(
            'grant execute on function storehook.note_opened_texts(text, text, bigint, boolean) to %I', writer);
    end loop;
end
$$;
