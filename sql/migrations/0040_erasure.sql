-- compatible-from: 10
-- Erasing an account takes out all that names the person: what it used, what it agreed to, and what people wrote about it.

-- What staff wrote about an act for an account, or about moving a purchase: who did it, and why. Erasing the account empties the row;
-- the act stays, and so does what it changed.
create table storehook.staff_texts (
    what        text        collate "C" not null check (what in ('act', 'binding')),
    id          bigint      not null,
    recorded_by text        check (length(recorded_by) between 1 and 200),
    why         text        check (length(why) between 1 and 1000),
    erased_at   timestamptz,
    primary key (what, id),
    check (erased_at is null or (recorded_by is null and why is null))
);
comment on table storehook.staff_texts is
    'what staff wrote about their acts (staff_acts) and about purchases that they moved (purchase_bindings)';
comment on column storehook.staff_texts.id is 'of the act, or of the binding';
comment on column storehook.staff_texts.recorded_by is 'who did it; null where the account was erased';
comment on column storehook.staff_texts.erased_at is 'when the text was taken out, because the account was erased';

-- The database itself keeps the text apart, so that programs of every release do. In the row of the act is left what its columns
-- require; those columns go once no program reads them.
-- SECURITY DEFINER: who records an act need not be allowed to write here otherwise.
create function storehook.keep_staff_text() returns trigger
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    if new.recorded_by is null or new.why is null then
        raise exception 'an act of staff says who did it and why' using errcode = 'not_null_violation';
    end if;
    insert into storehook.staff_texts (what, id, recorded_by, why) values (tg_argv[0], new.id, new.recorded_by, new.why);
    new.recorded_by := '-';
    new.why := '-';
    return new;
end
$$;
revoke all on function storehook.keep_staff_text() from public;
create trigger staff_acts_keep_text before insert on storehook.staff_acts
    for each row execute function storehook.keep_staff_text('act');
create trigger purchase_bindings_keep_text before insert on storehook.purchase_bindings
    for each row when (new.kind = 'staff') execute function storehook.keep_staff_text('binding');
comment on column storehook.staff_acts.recorded_by is 'stands in staff_texts';
comment on column storehook.staff_acts.why is 'stands in staff_texts';
comment on column storehook.purchase_bindings.recorded_by is 'who erased the account; of a purchase that staff moved it stands in staff_texts';
comment on column storehook.purchase_bindings.why is 'stands in staff_texts';

-- A consent under which Apple was told something stays, as the reason why that was allowed, and says no longer whose it was.
alter table storehook.consumption_consents alter column account drop not null;
alter table storehook.consumption_consents alter column app_account_token drop not null;
comment on column storehook.consumption_consents.account is
    'what the app''s own tokens call the customer; null where the customer was erased';
comment on column storehook.consumption_consents.app_account_token is
    'null where the customer was erased: then it is nobody''s consent any more';
create index consumption_answers_by_consent on storehook.consumption_answers (consent_id) where consent_id is not null;

-- Takes out what an account agreed to. The caller holds the row of its token in consumption_tokens: nobody is about to tell Apple.
-- SECURITY DEFINER: nobody else changes or deletes a consent.
create function storehook.erase_consents(in_token uuid, out deleted bigint, out kept bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO'
as $$
begin
    update storehook.consumption_consents c
       set account = null, app_account_token = null, text = case when c.granted then '-' end, recorded_by = '-'
     where c.app_account_token = in_token
       and exists (select from storehook.consumption_answers a where a.consent_id = c.id);
    get diagnostics kept = row_count;
    delete from storehook.consumption_consents c where c.app_account_token = in_token;
    get diagnostics deleted = row_count;
end
$$;
revoke all on function storehook.erase_consents(uuid) from public;
comment on function storehook.erase_consents(uuid) is
    'forgets what an account agreed to; consents under which Apple was told something are kept without a name';
